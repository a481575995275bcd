import { basename, join } from "node:path"
import type { Capture } from "../../domain/capture.ts"
import { exchangeKey } from "../../domain/ids.ts"
import { boundedMetadata } from "../../domain/metadata.ts"
import type { LinesReader, Platform } from "../../domain/platform.ts"
import { OVER_LIMIT } from "../../domain/source.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { skipped } from "../shared/records/jsonl.ts"
import { titleOf } from "../shared/records/text.ts"

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
    const at = Date.parse(record.timestamp ?? "")
    const time = Number.isNaN(at) ? {} : { atMs: at }
    const project = typeof state.projectPath === "string" ? { projectPath: state.projectPath } : {}
    switch (record.type) {
      case "exchange":
        return exchange(record, sessionId, time, project)
      case "context_reset":
        return [
          { type: "session", sessionId, ...project },
          {
            type: "turn",
            sessionId,
            nativeId: `reset:${record.timestamp ?? ""}`,
            kind: "reset",
            text: text(record.reason) ?? "",
            ...time,
          },
        ]
      case "session_resume": {
        const [from, to] = [text(record.previous_session), text(record.new_session)]
        if (from === undefined || to === undefined) throw new Error("a session is not named")
        return [{ type: "session", sessionId: to, ...project, parent: { sessionId: from, kind: "resume" } }]
      }
      default:
        return [{ type: "skipped", kind: String(record.type), unknown: true }]
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

function exchange(
  record: LogRecord,
  sessionId: string,
  time: { atMs?: number },
  project: { projectPath?: string },
): Capture[] {
  const [user, ai] = [text(record.user), text(record.ai)]
  if (user === undefined || ai === undefined) throw new Error("user or ai is missing")
  const key = exchangeKey(user, ai)
  const said = withoutInjected(user)
  const title = titleOf(said)
  const metadata = boundedMetadata(record.metadata)
  const described = metadata !== undefined && Object.keys(metadata).length > 0 ? { metadata } : {}
  return [
    { type: "session", sessionId, ...project, ...(title !== undefined && { title: { text: title, from: "prompt" } }) },
    ...(record.metadata === undefined || metadata ? [] : [skipped(OVER_LIMIT.metadata)]),
    ...(said === ""
      ? [skipped("context")]
      : [
          {
            ...{ type: "turn" as const, sessionId, nativeId: `${key}:user`, kind: "prompt" as const, text: said },
            ...time,
            ...described,
          },
        ]),
    {
      ...{ type: "turn", sessionId, nativeId: `${key}:ai`, kind: "reply", text: ai },
      ...time,
      ...(said === "" ? described : {}),
    },
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
