import type { Delivery } from "./delivery.ts"
import type { SessionId } from "./ids.ts"
import type { MessageOrigin } from "./outgoing.ts"

/** Something that is to be said to an agent: a delivery on this channel, in the lane of whom it is for. */
export const AGENT_CHANNEL = "agent"

export const PRIORITIES = ["normal", "urgent", "stop"] as const
export type Priority = (typeof PRIORITIES)[number]

/** Whose words they are. Only the owner's may reach the agent as the user's own. */
export interface Sender {
  kind: "owner" | "agent" | "client"
  name: string
}

/** Whom it is for: whoever is at a team's post, or one session and none that comes after it. */
export type Address = { team: string; sessionId?: undefined } | { sessionId: SessionId; team?: undefined }

export type MessagePayload = Address & {
  text: string
  priority: Priority
  sender: Sender
  /** The text is meant as a command of the agent, such as /compact. */
  isCommand?: boolean
  /** Where a person wrote it: what comes of it is shown there, and it is not told there again. */
  origin?: MessageOrigin
}

/**
 * By which way it went in: the agent's pane, a line that the platform itself offers, the context of a turn that is about to
 * end, a waiter that wakes an idle session, or the agent asked for it.
 */
export const RUNGS = ["pane", "line", "turn", "wake", "pull"] as const
export type Rung = (typeof RUNGS)[number]

/** As people and programs name it: a team by its name, a session with this in front of its id. */
export const SESSION_TARGET = "session:"
export const targetOf = ({ team, sessionId }: Address) => team ?? `${SESSION_TARGET}${sessionId}`

/** How the name of a lane ends that the urgent ones are in. */
export const URGENT_LANE = "!urgent"

/** What is urgent does not wait behind what is not; each lane keeps its order. */
export const laneOf = (to: Address, priority: Priority) =>
  `${to.team === undefined ? targetOf(to) : `team:${to.team}`}${priority === "normal" ? "" : URGENT_LANE}`
export const lanesOf = (to: Address) => [laneOf(to, "normal"), laneOf(to, "urgent")]

/** Undefined where the lane is a team's. */
export function sessionOfLane(lane: string): SessionId | undefined {
  if (!lane.startsWith(SESSION_TARGET)) return undefined
  return lane.slice(SESSION_TARGET.length, lane.endsWith(URGENT_LANE) ? -URGENT_LANE.length : undefined) as SessionId
}

export const messageOf = (delivery: Pick<Delivery, "payload">) => delivery.payload as MessagePayload

export function addressOf(delivery: Pick<Delivery, "payload">): Address {
  const { team, sessionId } = messageOf(delivery)
  return team === undefined ? { sessionId } : { team }
}

/** Framed mail carries its id, so that it is recognised wherever the agent repeats it. */
export const MESSAGE_ID = /\bm-[0-9a-f]{16}\b/g
