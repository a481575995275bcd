import * as z from "zod"
import { withoutScope } from "../domain/ids.ts"
import type { TargetStatus } from "../domain/messages.ts"
import { isUntrusted } from "../domain/origin.ts"
import type { Run } from "../domain/run.ts"
import type { Session } from "../domain/session.ts"
import type { Thought } from "../domain/thought.ts"
import { TURN_KINDS, type Turn } from "../domain/turn.ts"

/** Public views of sessions and thoughts. Absent means no or none, which keeps answers short. */
export const SessionView = z.object({
  id: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  domain: z.string().optional(),
  thoughtCount: z.number(),
  branchCount: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  mcpRootUri: z.string().optional(),
  pinned: z.boolean(),
  archived: z.boolean(),
})
export type SessionView = z.output<typeof SessionView>

/** A session of any agent, with the facts of its conversation. */
export const ConversationView = SessionView.extend({
  platform: z.string(),
  nativeId: z.string(),
  turnCount: z.number(),
  promptCount: z.number(),
  model: z.string().optional(),
  gitBranch: z.string().optional(),
  projectPath: z.string().optional(),
  subagent: z.boolean().optional(),
  resumeCommand: z.string().optional(),
  /** From an untrusted file in a repository. */
  untrusted: z.literal(true).optional(),
})
export type ConversationView = z.output<typeof ConversationView>

export const TurnView = z.object({
  id: z.number(),
  kind: z.enum(TURN_KINDS),
  text: z.string(),
  at: z.string(),
  model: z.string().optional(),
  toolName: z.string().optional(),
  /** Shared by a call and its result. */
  toolCallId: z.string().optional(),
  isError: z.boolean().optional(),
  /** The agent's metadata of the exchange: tags, a topic. */
  metadata: z.record(z.string(), z.unknown()).optional(),
  superseded: z.boolean().optional(),
})
export type TurnView = z.output<typeof TurnView>

/** A run of the agent's process on the session, as reported by hooks. */
export const RunView = z.object({
  host: z.string(),
  pid: z.number().optional(),
  pane: z.string().optional(),
  start: z.string().optional(),
  startedAt: z.string(),
  seenAt: z.string(),
  endedAt: z.string().optional(),
  end: z.string().optional(),
})
export type RunView = z.output<typeof RunView>

/** A session that this one continues, or that continues it. */
export const RelativeView = z.object({
  kind: z.string(),
  isParent: z.boolean(),
  at: z.string(),
  sessionId: z.string(),
  title: z.string(),
  platform: z.string(),
})

export const ThoughtView = z.object({
  thoughtNumber: z.number(),
  thought: z.string(),
  totalThoughts: z.number(),
  nextThoughtNeeded: z.boolean(),
  isRevision: z.boolean().optional(),
  revisesThought: z.number().optional(),
  branchFromThought: z.number().optional(),
  branchId: z.string().optional(),
  renumberedFrom: z.number().optional(),
  createdAt: z.string(),
})
export type ThoughtView = z.output<typeof ThoughtView>

export function viewSession(session: Session): SessionView {
  return {
    id: session.id,
    title: session.title,
    tags: session.tags,
    ...(session.domain === null ? {} : { domain: session.domain }),
    thoughtCount: session.thoughtCount,
    branchCount: session.branchCount,
    createdAt: iso(session.createdAtMs),
    updatedAt: iso(session.updatedAtMs),
    ...(session.rootUri === null ? {} : { mcpRootUri: session.rootUri }),
    pinned: session.pinnedAtMs !== null,
    archived: session.archivedAtMs !== null,
  }
}

export function viewConversation(session: Session, resumeCommand: string | undefined): ConversationView {
  return {
    ...viewSession(session),
    platform: session.platform,
    nativeId: withoutScope(session.nativeId),
    turnCount: session.turnCount,
    promptCount: session.promptCount,
    ...(session.model === null ? {} : { model: session.model }),
    ...(session.gitBranch === null ? {} : { gitBranch: session.gitBranch }),
    ...(session.projectPath === null ? {} : { projectPath: session.projectPath }),
    ...(session.isSubagent ? { subagent: true } : {}),
    ...(resumeCommand === undefined ? {} : { resumeCommand }),
    ...markOf(session),
  }
}

/** Absent for trusted sessions. */
export const markOf = (session: Session): { untrusted?: true } => (isUntrusted(session) ? { untrusted: true } : {})

export function viewTurn(turn: Turn): TurnView {
  return {
    id: turn.seq,
    kind: turn.kind,
    text: turn.text,
    at: iso(turn.atMs),
    ...(turn.model === null ? {} : { model: turn.model }),
    ...(turn.toolName === null ? {} : { toolName: turn.toolName }),
    ...(turn.toolCallId === null ? {} : { toolCallId: turn.toolCallId }),
    ...(turn.isError ? { isError: true } : {}),
    ...(turn.metadata === undefined ? {} : { metadata: turn.metadata }),
    ...(turn.supersededAtMs === null ? {} : { superseded: true }),
  }
}

export function viewRun(run: Run): RunView {
  return {
    host: run.host,
    ...(run.pid === 0 ? {} : { pid: run.pid }),
    ...(run.pane === null ? {} : { pane: run.pane }),
    ...(run.start === "" ? {} : { start: run.start }),
    startedAt: iso(run.startedAtMs),
    seenAt: iso(run.seenAtMs),
    ...(run.endedAtMs === null ? {} : { endedAt: iso(run.endedAtMs) }),
    ...(run.end === null ? {} : { end: run.end }),
  }
}

export function viewThought(thought: Thought): ThoughtView {
  return {
    thoughtNumber: thought.number,
    thought: thought.text,
    totalThoughts: thought.totalThoughts,
    nextThoughtNeeded: thought.nextThoughtNeeded,
    ...(thought.isRevision ? { isRevision: true } : {}),
    ...(thought.revisesThought === null ? {} : { revisesThought: thought.revisesThought }),
    ...(thought.branchFromThought === null ? {} : { branchFromThought: thought.branchFromThought }),
    ...(thought.branchId === null ? {} : { branchId: thought.branchId }),
    ...(thought.renumberedFrom === null ? {} : { renumberedFrom: thought.renumberedFrom }),
    createdAt: iso(thought.createdAtMs),
  }
}

/** The main line and each branch, sorted by number. */
export function viewThoughts(thoughts: Thought[]): {
  thoughts: ThoughtView[]
  branches: Record<string, ThoughtView[]>
} {
  const sorted = thoughts.toSorted((a, b) => a.number - b.number)
  const branches = Map.groupBy(
    sorted.filter((thought) => thought.branchId !== null),
    (thought) => thought.branchId!,
  )
  return {
    thoughts: sorted.filter((thought) => thought.branchId === null).map(viewThought),
    branches: Object.fromEntries([...branches].map(([id, members]) => [id, members.map(viewThought)])),
  }
}

const iso = (ms: number) => new Date(ms).toISOString()

/** For a team whose agent has no hooks. */
export const HOOKLESS_VIEW = {
  /** From its session file, with the file's time. */
  sessionId: z.string().optional(),
  sessionFileAt: z.string().optional(),
  /** It gets messages only through pull_updates. */
  fetches: z.literal(true).optional(),
}

export function hooklessView(status: TargetStatus | undefined) {
  if (!status?.isFetched) return {}
  const { sessionId, sessionFileAtMs } = status
  return {
    fetches: true as const,
    ...(sessionId === null ? {} : { sessionId }),
    ...(sessionFileAtMs === null ? {} : { sessionFileAt: iso(sessionFileAtMs) }),
  }
}
