import type { Delivery } from "./delivery.ts"
import type { SessionId } from "./ids.ts"
import type { DeliveryRoute, Priority, Sender } from "./message.ts"
import type { MessageOrigin } from "./outgoing.ts"
import type { ReasonWords } from "./reason.ts"

export interface TargetStatus {
  /** A team's name, or `session:` and the id of a session. */
  target: string
  /** Queued. */
  pending: number
  /** An agent has them, and is not done. */
  inProgress: number
  /** What the agent says it is doing, or the message that it is at. */
  currentTask: string | null
  /** The agent's own id of the session, or of the team's current session. */
  sessionId: string | null
  lastSeenMs: number | null
  /** Its agent has no hooks, and fetches what waits. */
  isFetched: boolean
  /** When the file was written that says the session's id; null where the session is one that was seen. */
  sessionFileAtMs: number | null
  /** Why the next one waits. */
  waitsFor: string | null
  /** Who sent what waits first, each once. */
  from: string[]
}

/** For a team or a session as somebody has named it, or for a session that is known. */
export type SendRequest = ({ target: string } | { sessionId: SessionId }) & {
  text: string
  priority?: Priority | undefined
  idempotencyKey?: string | undefined
  sender: Sender
  /** A command of the agent itself, such as /compact; only the owner's. */
  isCommand?: boolean | undefined
  /** The same words may be said twice within a moment, as people do: "yes", "yes". */
  allowTwin?: boolean | undefined
  origin?: MessageOrigin | undefined
}

export type SendAnswer =
  /** With a note when it will not go the way that the sender may expect. */
  | { queued: true; id: string; target: string; note?: string }
  | { queued: false; reason: ReasonWords; id?: string | undefined }

export interface CancelAnswer {
  cancelled: boolean
  /** Why it was not: the state that it is in, or that somebody is at it. */
  reason?: ReasonWords
}

export type InterruptAnswer = { interrupted: true; way: DeliveryRoute } | { interrupted: false; reason: ReasonWords }

/** Messages to agents: accepted once, stored until they are settled. */
export interface Messages {
  /** Stored once it answers that the message is queued. */
  send(request: SendRequest): Promise<SendAnswer>
  /** Cancels a message that no agent has yet. */
  cancel(id: string): Promise<CancelAnswer>
  byId(id: string): Promise<Delivery | undefined>
  /** Why it waits: what holds up the first of its lane holds up those behind it. Null when that is not known yet. */
  waitsFor(delivery: Delivery): Promise<string | null>
  /** Of every team, and of every session that something was sent to which is not over. */
  status(): Promise<TargetStatus[]>
  /** Ends the turn that the session is in: Escape, or what its platform has for it. */
  interrupt(sessionId: SessionId): Promise<InterruptAnswer>
}
