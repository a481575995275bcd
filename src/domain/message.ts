import type { Delivery } from "./delivery.ts"

/** Something that is to be said to a team's agent: a delivery on this channel, in the team's lane. */
export const AGENT_CHANNEL = "agent"

export const PRIORITIES = ["normal", "urgent", "stop"] as const
export type Priority = (typeof PRIORITIES)[number]

/** Whose words they are. Only the owner's may reach the agent as the user's own. */
export interface Sender {
  kind: "owner" | "agent" | "client"
  name: string
}

export interface MessagePayload extends Record<string, unknown> {
  team: string
  text: string
  priority: Priority
  sender: Sender
  /** The text is meant as a command of the agent, such as /compact. */
  isCommand?: boolean
}

/**
 * By which way it went in: the agent's pane, a line that the platform itself offers, the context of a turn that is about to
 * end, a waiter that wakes an idle session, or the agent asked for it.
 */
export const RUNGS = ["pane", "line", "turn", "wake", "pull"] as const
export type Rung = (typeof RUNGS)[number]

/** What is urgent does not wait behind what is not; each lane keeps its order. */
export const laneOf = (team: string, priority: Priority) =>
  priority === "normal" ? `team:${team}` : `team:${team}!urgent`
export const lanesOf = (team: string) => [laneOf(team, "normal"), laneOf(team, "urgent")]

export const messageOf = (delivery: Delivery) => delivery.payload as MessagePayload

/** Framed mail carries its id, so that it is recognised wherever the agent repeats it. */
export const MESSAGE_ID = /\bm-[0-9a-f]{16}\b/g
