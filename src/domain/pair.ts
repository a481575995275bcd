import * as z from "zod"
import { payloadReader } from "./delivery.ts"
import type { SessionId } from "./ids.ts"

/** (from, to, thread) → one session of the team that is asked: the one conversation that two teams have. */
export interface Pair {
  id: string
  /** Null for somebody who is no team: a person, or an agent outside of the roster. */
  fromTeam: string | null
  toTeam: string
  threadId: string
  platform: string
  /** The platform's own id of the session; chosen before the first message where the platform lets us. */
  nativeId: string | null
  /** Whether the platform has the session: until the first message is taken there is nothing to resume. */
  isMade: boolean
  madeAtMs: number | null
  status: PairStatus
  messageCount: number
  createdAtMs: number
  lastUsedAtMs: number
}

/**
 * `missing`: the platform's files no longer have its session; the next message begins a new one and says so.
 * `continue_pending`: its session is too long; the next message begins a new one with a brief of it.
 */
export const PAIR_STATUSES = ["active", "compact_pending", "continue_pending", "archived", "missing"] as const
export type PairStatus = (typeof PAIR_STATUSES)[number]

/** A session that a pair had: they follow each other when one is lost, reset or too long. */
export interface PairSession {
  pairId: string
  nativeId: string
  sinceMs: number
  /** Why it began: first, reset, lost, continued, fork, adopted. */
  why: string
}

/** What is asked of a team is a delivery on this channel, in the pair's lane. */
export const PAIR_CHANNEL = "pair"
export const pairLane = (pairId: string) => `pair:${pairId}`

export const MAIN_THREAD = "main"

/** What is asked. */
export interface AskPayload extends Record<string, unknown> {
  pairId: string
  text: string
  /** Whose words they are, for the agent that reads them. */
  sender: string
  fromTeam: string | null
  toTeam: string
  threadId: string
  /** The teams that wait for the answer, the one that asked first before others. */
  chain: string[]
  /** The person at this machine asks, for no team. */
  isOwners: boolean
  /** When a person has the pair's session open: wait until it is closed, go on in a copy of it, or say it there. */
  ifOpen: IfOpen
  /** The open session it was delivered to; null when that was cancelled. */
  handed?: { sessionId: SessionId | null; times: number }
}

export const IF_OPEN = ["wait", "fork", "deliver"] as const
export type IfOpen = (typeof IF_OPEN)[number]

/** What can be done to one pair: to its turn, its process, its session. */
export const CONTROLS = ["cancel", "wake", "sleep", "compact", "fork", "archive", "reset"] as const
export type Control = (typeof CONTROLS)[number]

const teams = { fromTeam: z.string().nullable(), toTeam: z.string() }
export const askOf = payloadReader<AskPayload>(
  z.looseObject({ ...teams, pairId: z.string(), text: z.string(), sender: z.string(), threadId: z.string() }),
)

/** Who asks or tells whom: what questions and notices have in common. */
export const teamsOfPayload = payloadReader<Pick<AskPayload, "fromTeam" | "toTeam"> & { pairId?: string }>(
  z.looseObject({ ...teams, pairId: z.string().exactOptional() }),
)

/** Replaces a payload that cannot be read, so that whatever lists the question still works. */
export const unreadableAsk = ({ lane }: { lane: string }): AskPayload => ({
  ...{ pairId: lane.slice(pairLane("").length), text: "", sender: "unknown", fromTeam: null, toTeam: "unknown" },
  ...{ threadId: MAIN_THREAD, chain: [], isOwners: false, ifOpen: "wait" },
})

/** Who asks whom, in words: what its agent asks of a person carries this name. */
export function askerOf({
  fromTeam,
  sender,
  toTeam,
  threadId,
}: Pick<AskPayload, "fromTeam" | "sender" | "toTeam" | "threadId">) {
  const thread = (threadId ?? MAIN_THREAD) === MAIN_THREAD ? "" : ` (${threadId})`
  return `${fromTeam ?? sender} → ${toTeam}${thread}`
}

/** What a team is told without being asked: kept until a session of it has read it. */
export const NOTICE_CHANNEL = "notice"
export const noticeLane = (team: string) => `notice:${team}`

const noticePayload = z.looseObject({ ...teams, text: z.string(), sender: z.string() })
export type NoticePayload = z.infer<typeof noticePayload>
export const noticeOf = payloadReader<NoticePayload>(noticePayload)

/** The answer to a question. The archive has its text too; here it waits for the caller. */
export interface Answer {
  messageId: string
  pairId: string
  nativeId: string | null
  text: string
  isContextNew: boolean
  durationMs: number
  inputTokens: number
  outputTokens: number
  costUsd: number | null
  atMs: number
}
