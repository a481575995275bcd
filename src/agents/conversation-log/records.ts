import { basename, join } from "node:path"
import type { Capture } from "../../domain/capture.ts"
import { exchangeKey } from "../../domain/ids.ts"
import { boundedMetadata } from "../../domain/metadata.ts"
import type { LinesReader, Platform } from "../../domain/platform.ts"
import { OVER_LIMIT } from "../../domain/source.ts"
import { type MakeTurn, sessionOf, titled, turnsAt } from "../shared/records/captures.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { asString, skipped } from "../shared/records/jsonl.ts"
import { timeOf } from "../shared/records/text.ts"

/**
 * The file contract for agents without readable files: JSON lines in the project's own folder, written by the agent or by
 * `log_conversation_exchange`. The folder's README describes the format, version 1.
 */
export const conversationLog: Platform = {
  id: "conversation-log",
  label: "Conversation log",
  verified: "1",
  can: { hooks: false, resume: false, times: true, logs: true },
  places: ({ homeDir }) => [{ dir: join(homeDir, ".throughline", "conversations"), depth: 0 }],
  projectPlaces: (projectDir) => FOLDERS.map((folder) => ({ dir: join(projectDir, folder), depth: 0 })),
  claim: ({ path }) => (path.endsWith(".jsonl") ? { key: path, reader } : undefined),
}

const FOLDERS = [".throughline/conversations", ".praxis-os/.conversations"]

const reader: LinesReader = {
  mode: "lines",
  begin: (path) => ({ fileName: basename(path, ".jsonl"), projectPath: projectOf(path) }),
  line(line, state) {
    const record = JSON.parse(line.toString("utf8")) as LogRecord | null
    if (typeof record !== "object" || record === null) throw new Error("not an object")
    const sessionId = text(record.session_id) ?? String(state.fileName).replace(/^session-/, "")
    const turn = turnsAt(sessionId, timeOf(record.timestamp))
    const projectPath = asString(state.projectPath)
    switch (record.type) {
      case "exchange":
        return exchange(record, sessionId, projectPath, turn)
      case "context_reset": {
        const nativeId = `reset:${record.timestamp ?? ""}`
        return [
          sessionOf(sessionId, { projectPath }),
          turn({ nativeId, kind: "reset", text: text(record.reason) ?? "" }),
        ]
      }
      case "session_resume": {
        const [from, to] = [text(record.previous_session), text(record.new_session)]
        if (from === undefined || to === undefined) throw new Error("a session is not named")
        return [sessionOf(to, { projectPath, parent: { sessionId: from, kind: "resume" } })]
      }
      default:
        return [skipped(String(record.type), true)]
    }
  },
}

interface LogRecord {
  type?: unknown
  timestamp?: string
  user?: unknown
  ai?: unknown
  session_id?: unknown
  reason?: unknown
  metadata?: unknown
  previous_session?: unknown
  new_session?: unknown
}

function exchange(record: LogRecord, sessionId: string, projectPath: string | undefined, turn: MakeTurn): Capture[] {
  const [user, ai] = [text(record.user), text(record.ai)]
  if (user === undefined || ai === undefined) throw new Error("user or ai is missing")
  const key = exchangeKey(user, ai)
  const said = withoutInjected(user)
  const given = boundedMetadata(record.metadata)
  const metadata = given && Object.keys(given).length > 0 ? given : undefined
  const reply = { nativeId: `${key}:ai`, kind: "reply", text: ai } as const
  return [
    sessionOf(sessionId, { projectPath, title: titled({ prompt: said }) }),
    ...(record.metadata === undefined || given ? [] : [skipped(OVER_LIMIT.metadata)]),
    said === "" ? skipped("context") : turn({ nativeId: `${key}:user`, kind: "prompt", text: said, metadata }),
    turn(said === "" ? { ...reply, metadata } : reply),
  ]
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)

function projectOf(path: string): string | null {
  for (const folder of FOLDERS) {
    const at = path.indexOf(`/${folder}/`)
    if (at > 0) return path.slice(0, at)
  }
  return null
}
