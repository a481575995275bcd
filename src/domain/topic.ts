import type { SessionId } from "./ids.ts"

/**
 * `wanted` is not made yet; `archived` was closed and renamed because its session ended; `left` was replaced when its session
 * moved to another chat, and what is written in it still reaches the session; `gone` was deleted there, and stays in the ledger
 * because nothing lists a chat's topics.
 */
export const TOPIC_STATES = ["wanted", "open", "closed", "archived", "left", "gone"] as const
export type TopicState = (typeof TOPIC_STATES)[number]

/** Whether its session is told there now. */
export const isCurrent = ({ state }: Pick<Topic, "state">) => state !== "left" && state !== "gone"

/** How much of a session is told: what needs a person, also what was said, also every tool. */
export const VERBOSITIES = ["quiet", "normal", "verbose"] as const
export type Verbosity = (typeof VERBOSITIES)[number]

/** The place in a chat where a session is. */
export interface Topic {
  id: string
  channel: string
  /** Only the daemon that created it acts on it. */
  home: string
  chatId: string
  /** Null until it is made. */
  threadId: number | null
  /** The thread that a team's sessions share instead of having one each; messages in it name their session. */
  sharedThreadId: number | null
  /** Null when the session was forgotten. */
  sessionId: SessionId | null
  name: string
  state: TopicState
  verbosity: Verbosity
  isMuted: boolean
  /** Set while it is being made: after a crash it is not known whether it was. */
  makingAtMs: number | null
  /** How often one may have been made that nobody knows the number of. */
  unconfirmed: number
  /** The message that tells which tools ran, as long as it grows. */
  progressMessage: ProgressMessage | null
  createdAtMs: number
  usedAtMs: number
}

export interface ProgressMessage {
  messageId: number
  /** Its turns, in order: their lines are rendered each time, so that forgotten ones are not in them. */
  seqs: number[]
  /** How many lines are no longer in the message, because it is full; they are in the file at the end. */
  cut: number
  /** It may be the second of its kind, and says so as long as it grows. */
  isRepeat?: boolean
}
