import type { Delivery } from "../../domain/delivery.ts"
import { Failure } from "../../domain/failure.ts"
import { fingerprintOf, newMessageId } from "../../domain/ids.ts"
import { isTooLongToWake } from "../../domain/mail.ts"
import {
  type Address,
  AGENT_CHANNEL,
  laneOf,
  type MessagePayload,
  type Priority,
  targetOf,
} from "../../domain/message.ts"
import type { CancelAnswer, Messages } from "../../domain/messages.ts"
import type { Hookless } from "../../domain/presence.ts"
import { because } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import { type Clock, sleep } from "../../lib/clock.ts"
import { DAY_MS } from "../../lib/time.ts"
import { checkText, enqueue, MAX_ATTEMPTS, move } from "../../lib/transitions.ts"
import { findSession, findTarget } from "./addressing.ts"
import { makeStatus, whyWaiting } from "./status.ts"

export interface MessageSettings {
  /** The same text to the same one within this time is one message; 0 lets it through. */
  duplicateWindowSeconds: number
  maxMessageBytes: number
  expireDays: number
}

export interface MessageDeps {
  store: Store
  clock: Clock
  roster: Roster
  settings: MessageSettings
  /** Agents behind whose sessions nobody is. */
  logPlatforms?: readonly string[]
  interrupt: Messages["interrupt"]
  /** What its sender should know at once: see `RouteSelection.caveat`. */
  caveat?(to: Address, payload: MessagePayload): Promise<string | undefined>
  /** What is known of agents without hooks. */
  hookless?: Hookless
  /** A hint that there is something to do there. */
  onQueued?(to: Address): void
}

/** The dispatcher looks for a moment whether it can go now. */
const LOOKED_AT_MS = 2_000

export function makeMessages(deps: MessageDeps): Messages {
  const { store, clock, roster, settings, interrupt, onQueued } = deps
  return {
    async send(request) {
      const { text, priority, idempotencyKey, sender, isCommand = false, allowTwin = false, origin } = request
      const to = await ("target" in request
        ? findTarget(request.target, { store, roster, logPlatforms: deps.logPlatforms })
        : findSession(request.sessionId, store))
      if ("refused" in to) return { queued: false, reason: to.refused.words }
      checkText(text, "message", settings.maxMessageBytes)
      if (isCommand && sender.kind !== "owner")
        throw new Failure("bad_input", "only the owner's own words can be a command", { parameter: "isCommand" })
      const target = targetOf(to)
      const id = newMessageId(target, idempotencyKey)
      const rank = higher(priority ?? "normal", saidPriority(text))
      const more = { ...(isCommand ? { isCommand } : {}), ...(origin ? { origin } : {}) }
      const payload: MessagePayload = { ...to, text, priority: rank, sender, ...more }
      const nowMs = clock.nowMs()
      const fingerprint = allowTwin ? null : fingerprintOf(target, text)
      const windowMs = settings.duplicateWindowSeconds * 1000
      const twin = await store.transaction(async (tx) => {
        const before =
          (await tx.deliveries.byKey(id)) ??
          (windowMs > 0 && fingerprint !== null ? await tx.deliveries.twin(fingerprint, nowMs - windowMs) : undefined)
        if (before) return before
        const delivery = {
          key: id,
          lane: laneOf(to, rank, sender, isTooLongToWake({ key: id, payload })),
          channel: AGENT_CHANNEL,
          payload,
          repeatable: false,
          maxAttempts: MAX_ATTEMPTS,
          expiresAtMs: nowMs + settings.expireDays * DAY_MS,
          fingerprint,
        }
        await enqueue(tx, delivery, nowMs)
        return undefined
      })
      if (twin) return { queued: false, reason: because("duplicate").words, id: twin.key }
      onQueued?.(to)
      // It is queued already: a note that cannot be found out must not make the caller send it again.
      const note = await deps.caveat?.(to, payload).catch(() => undefined)
      return { queued: true, id, target, ...(note === undefined ? {} : { note }) }
    },

    async cancel(id) {
      for (const untilMs = clock.nowMs() + LOOKED_AT_MS; ; await sleep(50)) {
        const answer = await store.transaction((tx) => takeBack(tx, id, clock.nowMs()))
        if (answer !== "looked at") return answer
        if (clock.nowMs() >= untilMs) return { cancelled: false, reason: DELIVERING }
      }
    },

    byId: (id) => ofAgents(store, id),
    waitsFor: ({ lane }) => whyWaiting(store, [lane]),
    status: makeStatus({ store, roster, hookless: deps.hookless }),
    interrupt,
  }
}

const DELIVERING = because("in_delivery").words
const TAKEN_BACK = because("taken_back")

async function takeBack(tx: Store, id: string, nowMs: number): Promise<CancelAnswer | "looked at"> {
  const delivery = await ofAgents(tx, id)
  if (!delivery) throw new Failure("message_not_found", `there is no message ${id}`, { id })
  if (delivery.state !== "queued")
    return { cancelled: false, reason: because("state_is_already", delivery.state).words }
  if (delivery.attemptStartedAtMs !== null) return { cancelled: false, reason: DELIVERING }
  return (await move(tx, delivery, ["queued"], "cancelled", nowMs, TAKEN_BACK)) ? { cancelled: true } : "looked at"
}

async function ofAgents(store: Store, id: string): Promise<Delivery | undefined> {
  const delivery = await store.deliveries.byKey(id)
  return delivery?.channel === AGENT_CHANNEL ? delivery : undefined
}

/** In capitals, as the first word: what people write when it must not wait. */
function saidPriority(text: string): Priority {
  const word = /^\s*(URGENT|STOP)(?![\p{L}\p{N}_])/u.exec(text)?.[1]
  return word === "STOP" ? "stop" : word === "URGENT" ? "urgent" : "normal"
}

const RANK: Record<Priority, number> = { normal: 0, urgent: 1, stop: 2 }
const higher = (a: Priority, b: Priority) => (RANK[a] >= RANK[b] ? a : b)
