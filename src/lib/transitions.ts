import type { Delivery, DeliveryState, NewDelivery } from "../domain/delivery.ts"
import { Failure } from "../domain/failure.ts"
import type { NewJournalEntry } from "../domain/journal.ts"
import { AGENT_CHANNEL, knownAddressOf } from "../domain/message.ts"
import { teamsOfPayload } from "../domain/pair.ts"
import { because, type Reason, wordsOf } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"

// How messages, questions and notices get from state to state. Each function runs in the caller's transaction and writes
// the journal entry together with the state.

export type Settled = Exclude<DeliveryState, "queued">

/** An agent has it, and is not done. */
export const WITH_AGENT = ["delivered", "seen", "running"] as const satisfies Settled[]

export const isWithAgent = (state: DeliveryState) => WITH_AGENT.includes(state as never)

export const isFinal = (state: DeliveryState) => state !== "queued" && !isWithAgent(state)

/** Unlimited: only real tries count as attempts, and a delivery that must not be repeated is never tried twice blindly. */
export const MAX_ATTEMPTS = 1_000_000

type Stated = Pick<Delivery, "key" | "channel" | "payload"> & Partial<Pick<Delivery, "sessionId" | "route">>

/** The journal entry for a state. */
export function stateEntry(
  delivery: Stated,
  state: DeliveryState,
  atMs: number,
  reason: Reason | null = null,
): NewJournalEntry {
  const { sessionId, about } = aboutOf(delivery)
  return {
    kind: `message.${state}`,
    sessionId,
    atMs,
    data: {
      id: delivery.key,
      ...about,
      state,
      ...(delivery.route ? { rung: delivery.route } : {}),
      ...(reason === null ? {} : { reason: reason.words }),
    },
  }
}

function aboutOf(delivery: Stated): { sessionId: string | null; about: Record<string, unknown> } {
  // Expiring a row that cannot be read must not stop the others.
  if (delivery.channel === AGENT_CHANNEL) {
    const { team, sessionId = null } = knownAddressOf(delivery) ?? {}
    return { sessionId: delivery.sessionId ?? sessionId, about: team === undefined ? { sessionId } : { team } }
  }
  if (teamsOfPayload.misfit(delivery) !== undefined) return { sessionId: null, about: {} }
  const { pairId, fromTeam, toTeam } = teamsOfPayload(delivery)
  return { sessionId: null, about: { ...(pairId === undefined ? {} : { pair: pairId }), from: fromTeam, to: toTeam } }
}

/** False when its key is already known: the first one stands. */
export async function enqueue(tx: Store, delivery: NewDelivery, nowMs: number): Promise<boolean> {
  if (!(await tx.deliveries.enqueue(delivery, nowMs))) return false
  await tx.journal.append([stateEntry(delivery, "queued", nowMs)])
  return true
}

/** Settles everything on the channel whose time ran out before anybody was at it. */
export async function expire(tx: Store, channel: string, nowMs: number): Promise<void> {
  const expired = await tx.deliveries.expire(channel, nowMs)
  await tx.journal.append(expired.map((one) => stateEntry(one, "expired", nowMs, because("expired"))))
}

/** Settles a leased delivery. False when the lease has ended. */
export async function settleLeased(
  tx: Store,
  delivery: Delivery,
  state: Settled,
  nowMs: number,
  reason: Reason | null = null,
  outcome: string | null = wordsOf(reason),
): Promise<boolean> {
  if (!(await tx.deliveries.settle(delivery.seq, delivery.leaseOwner ?? "", state, outcome, nowMs))) return false
  await tx.journal.append([stateEntry(delivery, state, nowMs, reason)])
  return true
}

/** False when it is in none of these states, or queued and leased. */
export async function move(
  tx: Store,
  delivery: Stated & Pick<Delivery, "seq">,
  from: readonly DeliveryState[],
  to: Settled,
  nowMs: number,
  reason: Reason | null = null,
  outcome: string | null = wordsOf(reason),
): Promise<boolean> {
  if (!(await tx.deliveries.move(delivery.seq, from, to, outcome, nowMs))) return false
  await tx.journal.append([stateEntry(delivery, to, nowMs, reason)])
  return true
}

/** Whether it is still leased or already handed over. */
export async function conclude(
  tx: Store,
  delivery: Delivery,
  state: Settled,
  nowMs: number,
  reason: Reason | null = null,
  outcome: string | null = wordsOf(reason),
): Promise<boolean> {
  return (
    (delivery.leaseOwner !== null && (await settleLeased(tx, delivery, state, nowMs, reason, outcome))) ||
    (await move(tx, delivery, WITH_AGENT, state, nowMs, reason, outcome))
  )
}

/** From one state to the next, with an entry for each; stops where somebody else has moved it. */
export async function moveOn(
  tx: Store,
  delivery: Delivery,
  states: readonly Settled[],
  nowMs: number,
  reason: Reason | null = null,
): Promise<void> {
  let from = delivery.state
  for (const to of states) {
    if (!(await move(tx, delivery, [from], to, nowMs, reason))) return
    from = to
  }
}

const ORDER: readonly DeliveryState[] = ["delivered", "seen", "running", "done"]

/** The states between, including the last one; none when it is already past that. */
export const upTo = (last: "running" | "done", from: DeliveryState) =>
  ORDER.slice(ORDER.indexOf(from) + 1, ORDER.indexOf(last) + 1) as Settled[]

/** Refuses what can never be queued. */
export function checkText(text: string, parameter: string, maxBytes: number): void {
  if (text.trim() === "") throw new Failure("bad_input", `${parameter} is empty`, { parameter })
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes)
    throw new Failure(
      "too_large",
      `${parameter} has ${bytes.toLocaleString("en")} bytes; queue.maxMessageBytes allows ${maxBytes.toLocaleString("en")}`,
      { parameter },
    )
}
