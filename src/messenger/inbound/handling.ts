import { admittedOf, type Channel, type Incoming } from "../../domain/channel.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { errorText } from "../../domain/failure.ts"
import type { Store } from "../../domain/store.ts"
import { makeBackoff } from "../../lib/backoff.ts"
import type { Clock } from "../../lib/clock.ts"
import { makeLaneRunner } from "../../lib/lane-runner.ts"
import { makeLeases } from "../../lib/leases.ts"
import { inChannel } from "./admit.ts"

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
  /** Host and data directory. Leases held under it by an earlier daemon are dead. */
  home: string
  /** Twice it must lead to the same. */
  handle(incoming: Incoming, delivery: Delivery, signal: AbortSignal): Promise<Handled>
  onTrouble(error: unknown, what: string): void
  /** After the first failure; doubled from then on. */
  retryMs?: number
}

const LEASE_MS = 60_000
const RETRY_MS = 1_000
/** An update that fails so often is given up, so that those behind it get their turn. */
export const MAX_FAILURES = 5

/** Looks at what was taken in: in order for each place, side by side for different ones, until the signal. */
export function makeHandling({ store, clock, channel, host, home, handle, onTrouble, ...deps }: HandlingDeps) {
  const ownerPrefix = `intake ${host} ${home} `
  const leases = makeLeases({ store, clock, host, channel: inChannel(channel.id), ownerPrefix, leaseMs: LEASE_MS })
  const backoff = makeBackoff({})

  const dueIn = (ms: number, { lane }: Delivery) => {
    const nowMs = clock.nowMs()
    backoff.pauseFor(lane, ms, nowMs)
    return { dueAtMs: nowMs + ms }
  }

  // Where somebody else has it by now, they write the same.
  const settle = (delivery: Delivery, state: "done" | "failed", outcome: string, writes: readonly Write[] = []) =>
    leases.settle(delivery, state, outcome, async (tx) => {
      for (const write of writes) await write(tx)
      await tx.deliveries.rewrite(delivery.seq, withoutWords(delivery))
    })

  const look = async (delivery: Delivery, signal: AbortSignal) => {
    const incoming = channel.read(admittedOf(delivery).raw)
    if (!incoming) return settle(delivery, "done", "nothing for us")
    const handled = await handle(incoming, delivery, signal)
    if (handled.kind === "later") return leases.giveBack(delivery, handled.why, dueIn(handled.inMs, delivery))
    return settle(delivery, "done", handled.outcome, handled.writes)
  }

  const failed = (delivery: Delivery, error: unknown, signal: AbortSignal) => {
    // A daemon that ends has not failed at it; the next one takes it up.
    if (signal.aborted) return
    const { key, attempts } = delivery
    onTrouble(error, key)
    const why = errorText(error)
    if (attempts < MAX_FAILURES)
      return leases.retry(delivery, why, dueIn((deps.retryMs ?? RETRY_MS) * 2 ** (attempts - 1), delivery))
    const data = { key, attempts, why }
    const audit = { atMs: clock.nowMs(), who: "throughline", what: "channel.given_up", data }
    return settle(delivery, "failed", why, [(tx) => tx.audit.add(audit)])
  }

  const runner = makeLaneRunner({
    name: "telegram update handling",
    ...{ clock, leases, backoff, onTrouble },
    most: 16,
    // What hangs on a slow network is taken up by the next daemon.
    endMs: 3_000,
    handler: {
      take: (delivery) => runner.start(delivery, (signal) => look(delivery, signal)),
      failed,
    },
  })

  return {
    /** A hint that there is something to look at. */
    nudge: runner.ring,
    run: runner.run,
  }
}

/** The number alone stays: it is known by it that it was there. */
function withoutWords(delivery: Delivery): Record<string, unknown> {
  const { bot, updateId, digest } = admittedOf(delivery)
  return { bot, updateId, digest }
}
