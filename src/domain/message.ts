import * as z from "zod"
import type { Client } from "./caller.ts"
import type { Delivery } from "./delivery.ts"
import { payloadReader } from "./delivery.ts"
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
  /** What the program through which it came calls itself. */
  client?: Client
}

/** The target: a team's current session, or one session and none that comes after it. */
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
 * end, a background hook that wakes an idle session, or the agent asked for it.
 */
export const DELIVERY_ROUTES = ["pane", "line", "turn", "wake", "pull"] as const
export type DeliveryRoute = (typeof DELIVERY_ROUTES)[number]

/** Said of a team whose agent has no hooks, wherever its mail is spoken of. */
export const FETCHES = "fetches its messages with pull_updates"

/** As people and programs name it: a team by its name, a session with this in front of its id. */
export const SESSION_TARGET = "session:"
export const targetOf = ({ team, sessionId }: Address) => team ?? `${SESSION_TARGET}${sessionId}`

/** The most urgent first. */
const BY_URGENCY = PRIORITIES.toReversed()
const PRIORITY_SUFFIX: Record<Priority, string> = { stop: "!stop", urgent: "!urgent", normal: "" }
/** The owner's words can only be typed: in lanes of their own they do not block mail, which has other ways in. */
const TYPED_SUFFIX = "!typed"
/** Mail that only a terminal can take, or its own agent fetch: it does not block what a hook can hand over. */
const LONG_SUFFIX = "!long"

/** Every way a lane's name can end, the most urgent first. */
export const LANE_SUFFIXES = BY_URGENCY.flatMap((priority) => [
  `${PRIORITY_SUFFIX[priority]}${TYPED_SUFFIX}`,
  PRIORITY_SUFFIX[priority],
  `${PRIORITY_SUFFIX[priority]}${LONG_SUFFIX}`,
])

const baseOf = (to: Address) => (to.team === undefined ? targetOf(to) : `team:${to.team}`)

/** Each lane keeps its order; `comesBefore` orders the lanes of one agent among each other. */
export const laneOf = (to: Address, priority: Priority, sender?: Pick<Sender, "kind">, isLong = false) =>
  `${baseOf(to)}${PRIORITY_SUFFIX[priority]}${sender?.kind === "owner" ? TYPED_SUFFIX : isLong ? LONG_SUFFIX : ""}`

/** Whether it has the owner's own words. */
export const isTyped = (lane: string) => lane.endsWith(TYPED_SUFFIX)

/** The most urgent first. */
export const lanesOf = (to: Address) => LANE_SUFFIXES.map((suffix) => `${baseOf(to)}${suffix}`)

/** Undefined for a lane of something else than messages to agents. */
export function addressOfLane(lane: string): Address | undefined {
  const [, kind, name = ""] = /^(team|session):([^!]+)/.exec(lane) ?? []
  if (kind === undefined) return undefined
  return kind === "team" ? { team: name } : { sessionId: name as SessionId }
}

/** Stop before urgent before normal; within each, in the order they were sent. */
export function comesBefore(one: Delivery, other: Delivery): boolean {
  const [first, second] = [one, other].map((delivery) => BY_URGENCY.indexOf(messageOf(delivery).priority))
  return first === second ? one.seq < other.seq : first! < second!
}

const content = {
  text: z.string(),
  priority: z.enum(PRIORITIES),
  sender: z.looseObject({ kind: z.enum(["owner", "agent", "client"]), name: z.string() }),
  isCommand: z.boolean().exactOptional(),
  origin: z.looseObject({ channel: z.string(), chatId: z.string(), messageId: z.number() }).exactOptional(),
}
export const messageOf = payloadReader<MessagePayload>(
  z.union([z.looseObject({ team: z.string(), ...content }), z.looseObject({ sessionId: z.string(), ...content })]),
)

/** The text of a message, a question or a notice. */
export const wordsIn = payloadReader<{ text: string }>(z.looseObject({ text: z.string() }))

/** Replaces a payload that cannot be read, so that whatever lists the message still works. */
export const unreadableMessage = ({ lane, payload: { text } }: Pick<Delivery, "lane" | "payload">): MessagePayload => ({
  ...(addressOfLane(lane) ?? { team: lane }),
  ...{ text: typeof text === "string" ? text : "", priority: "normal", sender: { kind: "client", name: "unknown" } },
})

const address = payloadReader<Address>(
  z.union([z.looseObject({ team: z.string() }), z.looseObject({ sessionId: z.string() })]),
)
/** Undefined where it cannot be read. */
export const knownAddressOf = (delivery: Pick<Delivery, "payload">): Address | undefined =>
  address.misfit(delivery) === undefined ? addressOf(delivery) : undefined

export function addressOf(delivery: Pick<Delivery, "payload">): Address {
  const { team, sessionId } = address(delivery)
  return team === undefined ? { sessionId } : { team }
}

/** Framed mail carries its id, so that it is recognised wherever the agent repeats it. */
export const MESSAGE_ID = /\bm-[0-9a-f]{16}\b/g
