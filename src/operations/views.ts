import * as z from "zod"
import { withoutScope } from "../domain/ids.ts"
import type { TargetStatus } from "../domain/messages.ts"
import { isUntrusted } from "../domain/origin.ts"
import type { Run } from "../domain/run.ts"
import type { Session } from "../domain/session.ts"
import type { Thought } from "../domain/thought.ts"
import { TURN_KINDS, type Turn } from "../domain/turn.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"

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
  const { id, title, tags, domain, thoughtCount, branchCount, rootUri } = session
  return present({
    ...{ id, title, tags, domain, thoughtCount, branchCount },
    createdAt: isoTime(session.createdAtMs),
    updatedAt: isoTime(session.updatedAtMs),
    mcpRootUri: rootUri,
    pinned: session.pinnedAtMs !== null,
    archived: session.archivedAtMs !== null,
  })
}

export function viewConversation(session: Session, resumeCommand: string | undefined): ConversationView {
  const { platform, nativeId, turnCount, promptCount, model, gitBranch, projectPath, isSubagent } = session
  return {
    ...viewSession(session),
    ...{ platform, nativeId: withoutScope(nativeId), turnCount, promptCount },
    ...present({ model, gitBranch, projectPath, subagent: isSubagent || undefined, resumeCommand }),
    ...markOf(session),
  }
}

/** Absent for trusted sessions. */
export const markOf = (session: Session): { untrusted?: true } => (isUntrusted(session) ? { untrusted: true } : {})

export function viewTurn(turn: Turn): TurnView {
  const { seq, kind, text, model, toolName, toolCallId, metadata } = turn
  return present({
    ...{ id: seq, kind, text, at: isoTime(turn.atMs), model, toolName, toolCallId },
    isError: turn.isError || undefined,
    metadata,
    superseded: turn.supersededAtMs !== null || undefined,
  })
}

export function viewRun({ host, pid, pane, start, startedAtMs, seenAtMs, endedAtMs, end }: Run): RunView {
  return present({
    ...{ host, pid: pid || undefined, pane, start: start || undefined },
    ...{ startedAt: isoTime(startedAtMs), seenAt: isoTime(seenAtMs), endedAt: isoTime(endedAtMs), end },
  })
}

export function viewThought(thought: Thought): ThoughtView {
  const { number, text, totalThoughts, nextThoughtNeeded, revisesThought, branchFromThought, branchId } = thought
  return present({
    ...{ thoughtNumber: number, thought: text, totalThoughts, nextThoughtNeeded },
    isRevision: thought.isRevision || undefined,
    ...{ revisesThought, branchFromThought, branchId, renumberedFrom: thought.renumberedFrom },
    createdAt: isoTime(thought.createdAtMs),
  })
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
  return present({ fetches: true as const, sessionId, sessionFileAt: isoTime(sessionFileAtMs) })
}
