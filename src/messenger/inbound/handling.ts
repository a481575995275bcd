import { admittedOf, type Channel, type Incoming } from "../../domain/channel.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { errorText } from "../../domain/failure.ts"
import type { Store } from "../../domain/store.ts"
import { makeBackoff } from "../../lib/backoff.ts"
import type { Clock } from "../../lib/clock.ts"
import { makeLaneRunner } from "../../lib/lane-runner.ts"
import { makeLeases } from "../../lib/leases.ts"
import { inChannel } from "./admit.ts"

/** The result of an update. Its writes commit together with its settlement. */
export type Handled =
  | { kind: "done"; outcome: string; writes?: readonly Write[] }
  /** Not now: more of it is to come, or the messenger is unreachable. */
  | { kind: "later"; why: string; inMs: number }

export type Write = (tx: Store) => Promise<unknown>

export interface HandlingDeps {
  store: Store
  clock: Clock
  channel: Channel
  host: string
  /** Host and data directory. Leases held under it by an earlier daemon are dead. */
  home: string
  /** Must be idempotent. */
  handle(incoming: Incoming, delivery: Delivery, signal: AbortSignal): Promise<Handled>
  onTrouble(error: unknown, what: string): void
  /** After the first failure; then doubled. */
  retryMs?: number
}

const LEASE_MS = 60_000
const RETRY_MS = 1_000
/** An update that fails so often is given up, so that it does not block those behind it. */
export const MAX_FAILURES = 5

/** Handles stored updates until the signal: in order for each place, concurrently for different ones. */
export function makeHandling({ store, clock, channel, host, home, handle, onTrouble, ...deps }: HandlingDeps) {
  const ownerPrefix = `intake ${host} ${home} `
  const leases = makeLeases({ store, clock, host, channel: inChannel(channel.id), ownerPrefix, leaseMs: LEASE_MS })
  const backoff = makeBackoff({})

  const dueIn = (ms: number, { lane }: Delivery) => {
    const nowMs = clock.nowMs()
    backoff.pauseFor(lane, ms, nowMs)
    return { dueAtMs: nowMs + ms }
  }

  // Another daemon that has it now writes the same.
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
    // Not a failure: the daemon is stopping, and the next one continues.
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
    // A call on a slow network is continued by the next daemon.
    endMs: 3_000,
    handler: {
      take: (delivery) => runner.start(delivery, (signal) => look(delivery, signal)),
      failed,
    },
  })

  return {
    /** A hint that there is something to handle. */
    nudge: runner.ring,
    run: runner.run,
  }
}

/** Only the id stays, for deduplication. */
function withoutWords(delivery: Delivery): Record<string, unknown> {
  const { bot, updateId, digest } = admittedOf(delivery)
  return { bot, updateId, digest }
}
