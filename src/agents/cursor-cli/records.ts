import { createHash } from "node:crypto"
import { basename, dirname, posix, win32 } from "node:path"
import type { Capture, SessionCapture, TurnCapture } from "../../domain/capture.ts"
import type { DatabaseReader, Platform } from "../../domain/platform.ts"
import { OVER_LIMIT } from "../../domain/source.ts"
import { turnsOfMessage } from "../shared/records/anthropic.ts"
import { firstPrompt, sessionOf, titled } from "../shared/records/captures.ts"
import { type ForeignDb, withForeignDb } from "../shared/records/foreign-sqlite.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { asNumber, asString, type Json, jsonIn, skipped } from "../shared/records/jsonl.ts"

export const cursorCli: Platform = {
  id: "cursor-cli",
  label: "Cursor CLI",
  verified: "August 2026",
  can: { hooks: false, resume: true, times: false },
  places({ os, homeDir, env }) {
    const { join } = os === "win32" ? win32 : posix
    return [{ dir: join(env.CURSOR_DATA_DIR || join(homeDir, ".cursor"), "chats"), depth: 2 }]
  },
  claim({ path, relative }) {
    return /^[^/]+\/[^/]+\/store\.db$/.test(relative) ? { key: path, reader: database } : undefined
  },
  resume: ({ nativeId, projectPath }) => ({ argv: ["cursor-agent", "--resume", nativeId], cwd: projectPath }),
}

interface Cursor {
  root: string
  /** The last message that was read: while it is part of the conversation, nothing before it has changed. */
  last: string | null
}

const database: DatabaseReader = {
  mode: "database",
  watch: (path) => [`${path}-wal`],
  async read(path, cursor) {
    const before = (cursor ?? undefined) as Cursor | undefined
    const found = withForeignDb(path, (db) => readSession(db, before))
    if (!found) return { captures: [], cursor }
    const sessionId = basename(dirname(path))
    const { meta, messages, root } = found
    const known = messages.findIndex(({ name }) => name === before?.last)
    const isRewound = before?.last != null && known < 0
    const fresh = messages.slice(known + 1)
    const captures = fresh.flatMap(({ name, message }) => messageCaptures(message, name, sessionId))
    const last = messages.at(-1)?.name ?? null
    if (messages.length === 0) return { captures: [], cursor: { root, last } }
    return {
      captures: [
        described(meta, sessionId, basename(dirname(dirname(path))), messages, captures),
        ...(isRewound ? [{ type: "rewind" as const, sessionId, fromNativeId: null }] : []),
        ...captures,
      ],
      cursor: { root, last },
    }
  },
}

interface FoundMessage {
  /** The hash of what it says, and how often it was said before. */
  name: string
  message: Json
}

/** Undefined where nothing has changed, or nothing was said yet. */
function readSession(
  db: ForeignDb,
  before: Cursor | undefined,
): { meta: Json; messages: FoundMessage[]; root: string } | undefined {
  const tables = db.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('blobs','meta')")
  if (tables.length < 2) return undefined
  const meta = metaOf(db.all("SELECT value FROM meta WHERE key = '0'")[0]?.value)
  const root = asString(meta.latestRootBlobId)
  if (!root || root === before?.root) return undefined
  const messages: FoundMessage[] = []
  const counts = new Map<string, number>()
  walk(db, root, new Set(), (id, message) => {
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    messages.push({ name: count === 1 ? id : `${id}#${count}`, message })
  })
  return { meta, messages, root }
}

/** Only what the latest root leads to is part of the conversation; the other blobs are what it was before it was changed. */
function walk(db: ForeignDb, id: string, nodes: Set<string>, found: (id: string, message: Json) => void): void {
  const data = db.all("SELECT data FROM blobs WHERE id = ?", id)[0]?.data
  if (data === undefined || data === null || nodes.has(id)) return
  const bytes = Buffer.from(data as Uint8Array | string)
  const message = jsonOf(bytes)
  if (message) {
    found(id, message)
    return
  }
  nodes.add(id)
  for (const reference of references(bytes)) walk(db, reference, nodes, found)
}

const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5]

/** Field 1 of a protobuf node, where it has the length of a hash. Whatever else there is, or is broken, is passed over. */
function references(bytes: Buffer): string[] {
  const found: string[] = []
  let at = 0
  const varint = () => {
    let [value, shift] = [0, 0]
    while (at < bytes.length && shift < 35) {
      const byte = bytes[at++]!
      value += (byte & 127) * 2 ** shift
      shift += 7
      if (byte < 128) break
    }
    return value
  }
  while (at < bytes.length) {
    const tag = varint()
    const wire = tag & 7
    if (wire === VARINT) varint()
    else if (wire === FIXED64) at += 8
    else if (wire === FIXED32) at += 4
    else if (wire === BYTES) {
      const length = varint()
      if (tag >> 3 === 1 && length === 32 && at + 32 <= bytes.length) found.push(bytes.toString("hex", at, at + 32))
      at += length
    } else break
  }
  return found
}

const jsonOf = (bytes: Buffer) => (bytes[0] === 0x7b ? jsonIn(bytes) : undefined)

/** JSON, in hex. */
function metaOf(value: unknown): Json {
  const text = typeof value === "string" ? value : Buffer.from((value as Uint8Array | undefined) ?? []).toString("utf8")
  return jsonOf(Buffer.from(text)) ?? jsonOf(Buffer.from(text, "hex")) ?? {}
}

function messageCaptures(message: Json, name: string, sessionId: string): Capture[] {
  if (message.type === OVER_LIMIT.cell) return [skipped(OVER_LIMIT.cell)]
  if (message.role === "system") return [skipped("system")]
  return turnsOfMessage(message.role, message.content).map((turn, block): Capture => {
    if (turn.type === "skipped") return turn
    const text = turn.kind === "prompt" ? askedIn(turn.text) : turn.text
    if (text === "") return skipped("context")
    return { ...turn, text, sessionId, nativeId: `${name}:${block}` } satisfies TurnCapture
  })
}

/** The prompt is in one tag; context that the program adds is in others. */
function askedIn(text: string): string {
  const asked = [...text.matchAll(/<user_query>([\s\S]*?)<\/user_query>/g)].map((match) => match[1]!.trim())
  if (asked.length > 0) return withoutInjected(asked.join("\n"))
  return withoutInjected(text, (name) => CONTEXT.has(name)).trim()
}

const CONTEXT = new Set(
  `user_info project_layout rules git_status open_and_recently_viewed_files agent_skills mcp_instructions timestamp`.split(
    " ",
  ),
)

function described(
  meta: Json,
  sessionId: string,
  folder: string,
  messages: FoundMessage[],
  captures: Capture[],
): SessionCapture {
  const named = asString(meta.name) ?? ""
  const generated = /^new (?:agent|chat)$/i.test(named) ? undefined : named
  return sessionOf(sessionId, {
    projectPath: projectOf(meta, folder, messages),
    title: titled({ generated, prompt: firstPrompt(captures) }),
    model: asString(meta.lastUsedModel),
    startedAtMs: asNumber(meta.createdAt),
  })
}

/** The folder is named by the hash of the project's path, so that a path told elsewhere can be proved. */
function projectOf(meta: Json, folder: string, messages: FoundMessage[]): string | undefined {
  const told = [meta.cwd, meta.workspacePath, meta.workspaceRoot].flatMap((path) => asString(path) ?? [])
  if (told[0] !== undefined) return told[0]
  for (const { message } of messages.slice(0, 3)) {
    const path = /Workspace Path: (.+?)(?:\\n|\n|"|$)/.exec(JSON.stringify(message.content ?? ""))?.[1]
    if (path && createHash("md5").update(path).digest("hex") === folder) return path
  }
  return undefined
}
