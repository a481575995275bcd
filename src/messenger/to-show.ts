import type { NewDelivery } from "../domain/delivery.ts"
import type { Outgoing } from "../domain/outgoing.ts"
import { MAX_ATTEMPTS } from "../lib/transitions.ts"

/** Something to be shown in a chat, under a key of what it tells: twice is once. */
export function toShow(key: string, lane: string, channel: string, payload: Outgoing): NewDelivery {
  return { key, lane, channel, payload: { ...payload }, repeatable: isRepeatable(payload), maxAttempts: MAX_ATTEMPTS }
}

/** Only a message that is sent can be there twice; edits, reactions and changes of a topic cannot. */
const isRepeatable = (payload: Outgoing) =>
  payload.kind === "topic" ||
  payload.kind === "decided" ||
  payload.kind === "waited" ||
  (payload.kind === "receipt" && payload.why === null)
