import { createHash } from "node:crypto"
import { dirname, posix, win32 } from "node:path"
import type { Capture, TurnCapture } from "../../domain/capture.ts"
import type { Platform, SourcePlace, WholeReader } from "../../domain/platform.ts"
import type { TurnKind } from "../../domain/turn.ts"
import { firstPrompt, sessionOf, titled, turnsAt } from "../shared/records/captures.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { skipped } from "../shared/records/jsonl.ts"
import { wholeBytes } from "../shared/records/whole.ts"

const HISTORY = ".aider.chat.history.md"

export const aider: Platform = {
  id: "aider",
  label: "Aider",
  verified: "0.90",
  can: { hooks: false, resume: false, times: false },
  places({ os, homeDir, env }) {
    const { isAbsolute, dirname, basename } = os === "win32" ? win32 : posix
    const named = env.AIDER_CHAT_HISTORY_FILE
    const place = named && isAbsolute(named) && { dir: dirname(named), depth: 0, history: basename(named) }
    return [{ dir: homeDir, depth: 0 }, ...(place ? [place as SourcePlace] : [])]
  },
  projectPlaces: (projectDir) => [{ dir: projectDir, depth: 0 }],
  claim({ path, relative, place }) {
    const name = "history" in place ? place.history : HISTORY
    return relative === name ? { key: path, reader: history } : undefined
  },
}

/** Read whole: a turn's end only shows when the next one starts. The files are small. */
const history: WholeReader = {
  mode: "whole",
  async read(path) {
    const bytes = wholeBytes(path)
    const { sessions, strayLines } = sessionsIn(bytes)
    const stray = Array.from({ length: strayLines }, () => skipped("line before any session", true))
    return [...sessions.flatMap((session) => captures(session, path)), ...stray]
  },
}

interface Block {
  kind: TurnKind
  /** In bytes from the start of the session: stable while the file grows. */
  offset: number
  lines: string[]
  closed?: true
}

interface HistorySession {
  header: string
  offset: number
  banner: string[]
  blocks: Block[]
}

const HEADER = /^# aider chat started at (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)/

function sessionsIn(bytes: Buffer): { sessions: HistorySession[]; strayLines: number } {
  // A heading in an answer looks like a prompt, except that prompt lines end with two spaces.
  const strict = /^#### .* {2}\r?$/m.test(bytes.toString("utf8"))
  const sessions: HistorySession[] = []
  let strayLines = 0
  let offset = 0
  for (const raw of linesOf(bytes)) {
    const line = raw.toString("utf8").replace(/\r?\n$/, "")
    if (HEADER.test(line)) sessions.push({ header: line.trimEnd(), offset, banner: [], blocks: [] })
    const session = sessions.at(-1)
    if (session && !HEADER.test(line)) add(session, line, offset - session.offset, strict)
    else if (!session && line.trim() !== "") strayLines++
    offset += raw.length
  }
  return { sessions, strayLines }
}

function add(session: HistorySession, line: string, offset: number, strict: boolean): void {
  const isPrompt = line.startsWith("#### ") && (!strict || line.endsWith("  "))
  const kind = isPrompt ? "prompt" : line.startsWith(">") ? "tool_result" : "reply"
  const text = kind === "prompt" ? line.slice(5) : kind === "tool_result" ? line.replace(/^> ?/, "") : line
  const open = session.blocks.at(-1)
  // An empty line ends a prompt: the next one is separate.
  if (open?.kind === "prompt" && line.trim() === "") open.closed = true
  if (!open && kind === "tool_result") session.banner.push(text.trim())
  else if (open?.kind === kind && !open.closed) open.lines.push(kind === "reply" ? text : text.trimEnd())
  else if (kind !== "reply" || text.trim() !== "")
    session.blocks.push({ kind, offset, lines: [kind === "reply" ? text : text.trimEnd()] })
}

function captures({ header, offset, banner, blocks }: HistorySession, path: string): Capture[] {
  const sessionId = createHash("sha256").update(`${path}\n${header}\n${offset}`).digest("hex").slice(0, 32)
  const startedAtMs = startOf(header)
  const model = banner.map((line) => /^(?:Main model|Model|Models): (\S+)/.exec(line)?.[1]).find(Boolean)
  const agentVersion = banner.map((line) => /^Aider v(\S+)/.exec(line)?.[1]).find(Boolean)
  const turn = turnsAt(sessionId, undefined)
  const turns = blocks.flatMap(({ kind, offset, lines }): TurnCapture[] => {
    const said = lines.join("\n").trim()
    const text = kind === "prompt" ? withoutInjected(said) : said
    if (text === "" || (kind === "prompt" && text === "<blank>")) return []
    return [turn({ nativeId: String(offset), kind, text, model: kind === "reply" ? model : undefined })]
  })
  if (!turns[0]) return [{ type: "skipped", kind: "session without turns" }]
  if (startedAtMs !== undefined) turns[0].atMs = startedAtMs
  const title = titled({ prompt: firstPrompt(turns) })
  return [sessionOf(sessionId, { projectPath: dirname(path), title, model, agentVersion, startedAtMs }), ...turns]
}

/** Aider writes local time. */
function startOf(header: string): number | undefined {
  const [year, month, day, hour, minute, second] = HEADER.exec(header)?.slice(1).map(Number) ?? []
  if (year === undefined) return undefined
  return new Date(year, month! - 1, day, hour, minute, second).getTime()
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    yield bytes.subarray(start, end + 1)
    start = end + 1
  }
  if (start < bytes.length) yield bytes.subarray(start)
}
