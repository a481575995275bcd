import { setTimeout as sleep } from "node:timers/promises"
import { makeBell } from "../../domain/bell.ts"
import type { Channel, Incoming } from "../../domain/channel.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { newKey } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { type Admitted, inChannel } from "./admit.ts"

/** What came of an update. What is written for it commits with the word that it is done. */
export type Handled =
  | { kind: "done"; outcome: string; writes?: readonly Write[] }
  /** Not now: the rest of it is to come, or the messenger is away. */
  | { kind: "later"; why: string; inMs: number }

export type Write = (tx: Store) => Promise<unknown>

export interface HandlingDeps {
  store: Store
  clock: Clock
  channel: Channel
  host: string
  /** Names the home: whoever held leases under it before is dead. */
  home: string
  /** Twice it must lead to the same. */
  handle(incoming: Incoming, delivery: Delivery, signal: AbortSignal): Promise<Handled>
  onTrouble(error: unknown, what: string): void
  /** After the first failure; doubled from then on. */
  retryMs?: number
}

const LEASE_MS = 60_000
const POLL_MS = 2_000
const RETRY_MS = 1_000
const MOST_AT_ONCE = 16
const END_MS = 3_000
/** An update that fails so often is given up, so that those behind it get their turn. */
export const MAX_FAILURES = 5

/** Looks at what was taken in: in order for each place, side by side for different ones, until the signal. */
export function makeHandling({ store, clock, channel, host, home, handle, onTrouble, ...deps }: HandlingDeps) {
  const ownerPrefix = `intake ${host} ${home} `
  const owner = ownerPrefix + newKey()
  const request = { owner, host, leaseMs: LEASE_MS, channels: [inChannel(channel.id)] }
  const inHand = new Map<number, Promise<void>>()
  const bell = makeBell()
  let nextDueMs: number | undefined

  const putOff = async ({ seq }: Delivery, inMs: number, why: string, isSpared: boolean) => {
    const dueAtMs = clock.nowMs() + inMs
    await store.deliveries.retry(seq, owner, dueAtMs, why, { isSpared })
    nextDueMs = Math.min(nextDueMs ?? dueAtMs, dueAtMs)
  }

  const settle = (delivery: Delivery, state: "done" | "failed", outcome: string, writes: readonly Write[] = []) =>
    store.transaction(async (tx) => {
      const nowMs = clock.nowMs()
      // Somebody else has it now, and writes the same.
      if (!(await tx.deliveries.settle(delivery.seq, owner, state, outcome, nowMs))) return
      for (const write of writes) await write(tx)
      await tx.deliveries.rewrite(delivery.seq, withoutWords(delivery))
    })

  const give = async (delivery: Delivery, error: unknown) => {
    onTrouble(error, delivery.key)
    const why = error instanceof Error ? error.message : String(error)
    if (delivery.attempts < MAX_FAILURES)
      return putOff(delivery, (deps.retryMs ?? RETRY_MS) * 2 ** (delivery.attempts - 1), why, false)
    const data = { key: delivery.key, attempts: delivery.attempts, why }
    const audit = { atMs: clock.nowMs(), who: "throughline", what: "channel.given_up", data }
    return settle(delivery, "failed", why, [(tx) => tx.audit.add(audit)])
  }

  const look = async (delivery: Delivery, signal: AbortSignal) => {
    const incoming = channel.read((delivery.payload as Admitted).raw)
    if (!incoming) return settle(delivery, "done", "nothing for us")
    const handled = await handle(incoming, delivery, signal)
    if (handled.kind === "later") return putOff(delivery, handled.inMs, handled.why, true)
    return settle(delivery, "done", handled.outcome, handled.writes)
  }

  const start = (delivery: Delivery, signal: AbortSignal) => {
    const done = look(delivery, signal)
      // A daemon that ends has not failed at it; the next one takes it up.
      .catch((error: unknown) => (signal.aborted ? undefined : give(delivery, error)))
      .catch((error: unknown) => onTrouble(error, delivery.key))
      .finally(() => {
        inHand.delete(delivery.seq)
        bell.ring()
      })
    inHand.set(delivery.seq, done)
  }

  const round = async (signal: AbortSignal) => {
    if (nextDueMs !== undefined && nextDueMs <= clock.nowMs()) nextDueMs = undefined
    const limit = MOST_AT_ONCE - inHand.size
    const taken = limit > 0 ? await store.deliveries.lease({ ...request, limit }, clock.nowMs()) : []
    for (const delivery of taken) start(delivery, signal)
  }

  return {
    /** A hint that there is something to look at. */
    nudge: () => bell.ring(),
    async run(signal: AbortSignal): Promise<void> {
      const ring = () => bell.ring()
      signal.addEventListener("abort", ring)
      const renewing = superviseLoop({
        name: "telegram update leases",
        signal,
        everyMs: LEASE_MS / 3,
        onTrouble,
        async round() {
          for (const seq of inHand.keys()) await store.deliveries.renew(seq, owner, LEASE_MS, clock.nowMs())
        },
      })
      let isOpen = false
      await superviseLoop({
        name: "telegram update handling",
        signal,
        onTrouble,
        async round(_, alive) {
          if (!isOpen) await store.deliveries.endLeases(ownerPrefix, owner, clock.nowMs())
          isOpen = true
          await round(signal)
          alive()
          await bell.wait(Math.max(0, Math.min(POLL_MS, (nextDueMs ?? Number.POSITIVE_INFINITY) - clock.nowMs())))
        },
      })
      await renewing
      signal.removeEventListener("abort", ring)
      // What hangs on a slow network is taken up by the next daemon.
      await Promise.race([Promise.all(inHand.values()), sleep(END_MS, undefined, { ref: false })])
    },
  }
}

/** The number alone stays: it is known by it that it was there. */
function withoutWords({ payload }: Delivery): Record<string, unknown> {
  const { bot, updateId, digest } = payload as Admitted
  return { bot, updateId, digest }
}
