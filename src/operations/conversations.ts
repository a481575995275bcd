import * as z from "zod"
import type { Caller } from "../domain/caller.ts"
import { exchangesOf } from "../domain/exchange.ts"
import { Failure } from "../domain/failure.ts"
import { withoutScope } from "../domain/ids.ts"
import { boundedMetadata, MAX_METADATA_CHARS } from "../domain/metadata.ts"
import type { Session } from "../domain/session.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import { operation, TOOL_READS, TOOL_WRITES } from "./operation.ts"
import type { Services } from "./services.ts"
import { sessionOf } from "./session-of.ts"
import { platformNamed, SourceView, sourceViews } from "./sources.ts"
import { clip, counted, mark } from "./text.ts"
import { markOf } from "./views.ts"

export const logConversationExchange = operation({
  name: "log_conversation_exchange",
  summary: "Store one exchange of this conversation. Only for agents whose files Throughline cannot read.",
  ...TOOL_WRITES,
  tool: { set: "recall", isBrief: true },
  input: z.strictObject({
    user_message: z.string().min(1).max(1_000_000).describe("What the user said"),
    ai_response: z.string().min(1).max(1_000_000).describe("What you answered"),
    session_id: z.string().min(1).max(200).describe("The same for the whole conversation"),
    timestamp: z.iso.datetime({ offset: true }).optional().describe("Default: now"),
    metadata: z
      .record(z.string(), z.unknown())
      .refine(
        (given) => boundedMetadata(given) !== undefined,
        `must be at most ${MAX_METADATA_CHARS} characters of JSON`,
      )
      .optional()
      .describe("Tags, a topic; search finds them"),
  }),
  output: z.object({
    status: z.enum(["logged", "duplicate"]),
    exchange_id: z.string(),
    log_file: z.string().optional(),
    exchange_count: z.number(),
    note: z.string().optional(),
  }),
  text: ({ status, exchange_count, note }) =>
    `${status === "logged" ? "Stored" : "Already stored"}; ${counted(exchange_count, "exchange")} in this session.${note === undefined ? "" : ` ${note}`}`,
  async run({ capture }, input, caller) {
    const { isNew, exchangeId, logFile, exchangeCount, readFrom } = await capture.push.log(caller, {
      user: input.user_message,
      ai: input.ai_response,
      sessionId: input.session_id,
      atMs: input.timestamp === undefined ? undefined : Date.parse(input.timestamp),
      metadata: input.metadata,
    })
    return {
      status: isNew ? ("logged" as const) : ("duplicate" as const),
      exchange_id: exchangeId,
      log_file: logFile,
      exchange_count: exchangeCount,
      note: readFrom === undefined ? undefined : readNote(readFrom),
    }
  },
})

export const syncConversationHistory = operation({
  name: "sync_conversation_history",
  summary: "Sync the archive with an agent's files, or report that exchanges must be logged by hand.",
  ...TOOL_WRITES,
  tool: { set: "recall", isBrief: true },
  input: z.strictObject({
    session_id: z.string().min(1).optional().describe("Report whether this one is stored"),
    mode: z
      .enum(["auto", "pull", "push"])
      .default("auto")
      .describe("pull reads the agent's files, push asks for log_conversation_exchange"),
    platform: z.string().min(1).optional().describe("Default: the calling agent"),
  }),
  output: z.object({
    status: z.enum(["synced", "push_required", "ready"]),
    message: z.string(),
    platform: z.string().optional(),
    sources: z.array(SourceView),
  }),
  text: ({ message }) => message,
  async run({ sessions, capture }, { mode, platform, session_id }, caller) {
    const named = platform === undefined ? await capture.platformOf(caller) : platformNamed(capture, platform)
    if (mode === "push") return { status: "ready" as const, message: await pushNote(capture, named), sources: [] }
    if (named !== undefined || mode === "pull") await capture.capturing.sync(named)
    const views = (await sourceViews(capture)).filter((view) =>
      named === undefined ? view.found : view.platform === named,
    )
    if (mode === "auto" && (named === undefined || !views.some((view) => view.found))) {
      const who = named === undefined ? "This agent is unknown" : `Nothing from ${named} was found on this machine`
      return {
        status: "push_required" as const,
        message: `${who}. Use log_conversation_exchange to store each exchange.`,
        platform: named,
        sources: views,
      }
    }
    const about =
      session_id === undefined
        ? ""
        : ` Session ${session_id} is ${await whereKept({ sessions, capture }, platform && named, session_id, caller)}.`
    return {
      status: "synced" as const,
      message: `${views.map((view) => `${view.label}: ${counted(view.sessions, "session")}, ${counted(view.turns, "turn")}`).join("; ")}.${about}`,
      platform: named,
      sources: views,
    }
  },
})

export const extractSessionHistory = operation({
  name: "extract_session_history",
  summary: "Return an agent's stored sessions with their exchanges, newest first.",
  ...TOOL_READS,
  tool: { set: "recall" },
  input: z.strictObject({
    platform: z.string().min(1).describe("Such as claude-code, codex, cursor"),
    workspace_id: z.string().min(1).optional().describe("Project folder or file:// URI"),
    session_id: z.string().min(1).optional().describe("The agent's own id, or ours"),
    limit: z.int().min(1).max(50).default(5).describe("How many sessions"),
  }),
  output: z.object({
    sessions: z.array(
      z.object({
        session_id: z.string(),
        native_id: z.string(),
        title: z.string(),
        project: z.string().optional(),
        updated_at: z.string(),
        exchange_count: z.number(),
        exchanges: z.array(
          z.object({
            exchange_id: z.string(),
            user: z.string(),
            ai: z.string(),
            timestamp: z.string(),
            tools: z.array(z.string()),
            metadata: z.record(z.string(), z.unknown()).optional(),
          }),
        ),
        note: z.string().optional(),
        untrusted: z.literal(true).optional(),
      }),
    ),
  }),
  text: ({ sessions }) =>
    sessions.length === 0
      ? "Nothing stored."
      : sessions
          .map((s) => `${mark(s)}${s.session_id} "${clip(s.title, 60)}" ${counted(s.exchange_count, "exchange")}`)
          .join("\n"),
  async run({ sessions, capture }, { platform: agent, workspace_id, session_id, limit }, caller) {
    const platform = platformNamed(capture, agent)
    const found =
      session_id === undefined
        ? await listed(sessions, platform, workspace_id, limit)
        : await one(sessions, capture, platform, session_id, caller)
    return { sessions: await Promise.all(found.map((session) => extracted(sessions, session))) }
  },
})

type Capture = Services["capture"]

/** Keeps the whole answer below the agents' limit for one call. */
const EXTRACT_CHARS = 40_000

async function extracted(sessions: Services["sessions"], session: Session) {
  const all = exchangesOf((await sessions.whole(session.id)).turns)
  const shown: ReturnType<typeof exchangesOf> = []
  let chars = 0
  for (const exchange of all.toReversed()) {
    chars += exchange.user.length + exchange.ai.length
    if (shown.length > 0 && chars > EXTRACT_CHARS) break
    shown.unshift(exchange)
  }
  return {
    session_id: session.id,
    native_id: withoutScope(session.nativeId),
    title: session.title,
    project: session.rootUri ?? undefined,
    updated_at: isoTime(session.updatedAtMs),
    exchange_count: all.length,
    ...markOf(session),
    exchanges: shown.map(({ id, atMs, ...rest }) => ({ exchange_id: id, ...rest, timestamp: isoTime(atMs) })),
    note:
      shown.length < all.length
        ? `The last ${shown.length} of ${all.length} exchanges; \`throughline sessions show ${session.id.slice(0, 8)}\` has all.`
        : undefined,
  }
}

async function listed(
  sessions: Services["sessions"],
  platform: string,
  workspace: string | undefined,
  limit: number,
): Promise<Session[]> {
  const found = workspace === undefined ? undefined : await sessions.projects.find(workspace)
  if (found && !found.project) return []
  return sessions.list({ platform, subagents: false, limit, ...present({ projectId: found?.project?.id }) })
}

async function one(
  sessions: Services["sessions"],
  capture: Capture,
  platform: string,
  id: string,
  caller: Caller,
): Promise<Session[]> {
  const session = (await capture.byNative(platform, id)) ?? (await sessionOf({ sessions, capture }, id, caller))
  return session.platform === platform ? [session] : []
}

/** Whether a session is stored, and belongs to the platform if one is given. */
async function whereKept(
  services: Pick<Services, "sessions" | "capture">,
  platform: string | undefined,
  id: string,
  caller: Caller,
): Promise<string> {
  const session = await sessionOf(services, id, caller).catch((error: unknown) => {
    if (Failure.from(error).code === "session_not_found") return undefined
    throw error
  })
  if (!session) return "not among them"
  if (platform === undefined || session.platform === platform) return "kept"
  return `not among them: it is one of ${labelOf(services.capture, session.platform)}`
}

async function pushNote(capture: Capture, platform: string | undefined): Promise<string> {
  const isRead = (await sourceViews(capture)).some((view) => view.platform === platform && view.found)
  return isRead ? readNote(labelOf(capture, platform!)) : "Use log_conversation_exchange to store each exchange."
}

const labelOf = ({ platforms }: Capture, platform: string) =>
  platforms.find(({ id }) => id === platform)?.label ?? platform

const readNote = (label: string) => `No logging needed: ${label} conversations are read from its own files.`
