import type { Load } from "../domain/analytics.ts"
import { Failure } from "../domain/failure.ts"
import type { NewJournalEntry } from "../domain/journal.ts"
import { PAIR_CHANNEL, type Pair, type PairStatus } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import { type Clock, nextTurn } from "../lib/clock.ts"
import { superviseLoop } from "../lib/supervised-loop.ts"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/time.ts"
import { WITH_AGENT } from "../lib/transitions.ts"

/**
 * Keeps pairs usable: compacts long sessions, continues in a new one near the limit, archives unused pairs.
 * Drops old permissions and deliveries.
 */
export interface Maintenance {
  sweep(signal?: AbortSignal): Promise<void>
  run(signal: AbortSignal): Promise<void>
}

/** Operations on one pair's session. `busy` while its agent is working: then nothing was done. */
export interface PairKeeper {
  /** With the agent's own command; `unable` if it has none. */
  compact(pair: Pair): Promise<"done" | "busy" | "unable">
  /**
   * The next question starts a session with a brief of this one; the pair keeps both in its lineage. Ends the process, and
   * marks the pair while no question is sent to it.
   */
  renew(pair: Pair, mark: () => Promise<void>): Promise<"done" | "busy" | "unable">
  /** Ends its process, if any. */
  rest(pair: Pair): Promise<"done" | "busy">
}

/** 0 turns each off. */
export interface MaintenanceSettings {
  compactAfterTokens: number
  compactAfterMessages: number
  continueAfterTokens: number
  archiveAfterDays: number
  /** Decided permissions are dropped after this; the audit keeps who decided. */
  keepPermissionsDays: number
  /** Finished deliveries are dropped after this. By then, no caller may look them up by key. */
  keepDeliveriesMs: number
}

export interface MaintenanceDeps {
  store: Store
  clock: Clock
  settings: MaintenanceSettings
  keeper: PairKeeper
  onTrouble(error: unknown, what: string): void
}

const SWEEP_MS = MINUTE_MS
/**
 * Minimum time between two steps on one session. It must also have been used in between: only then is its
 * size known.
 */
const REST_MS = 10 * MINUTE_MS
/** An agent may take minutes to compact one session, and there may be many. */
const STALLS_AFTER_MS = 6 * HOUR_MS
/** Yields to other work between two batches; the next sweep continues. */
const BATCH = 500
const MOST_BATCHES = 40

export function makeMaintenance({ store, clock, settings, keeper, onTrouble }: MaintenanceDeps): Maintenance {
  /** When a pair was last worked on. */
  const doneAtMs = new Map<string, number>()

  /** Journals each step, in the transaction that changes the pair. */
  const note = (pair: Pair, kind: string, status: PairStatus | undefined, more: Record<string, unknown> = {}) =>
    store.transaction(async (tx) => {
      if (status !== undefined) await tx.pairs.update(pair.id, { status })
      const { id, fromTeam: from, toTeam: to, threadId: thread, nativeId: native } = pair
      const data = { id, from, to, thread, native, ...more }
      const entry: NewJournalEntry = { kind: `pair.${kind}`, atMs: clock.nowMs(), data }
      await tx.journal.append([entry])
    })

  const archive = async (pair: Pair): Promise<void> => {
    if ((await keeper.rest(pair)) === "busy") return
    await note(pair, "archived", "archived", { lastUsedAtMs: pair.lastUsedAtMs })
  }

  /** False if the agent cannot do it and something else should be tried. */
  const renew = async (pair: Pair, load: Load): Promise<boolean> => {
    try {
      const mark = () => note(pair, "continue_pending", "continue_pending", { tokens: load.tokens })
      const how = await keeper.renew(pair, mark)
      if (how !== "done") return how === "busy"
    } catch (error) {
      await note(pair, "continue_failed", undefined, { reason: Failure.from(error).message })
      onTrouble(error, `${pair.id}: its session could not be continued in a new one`)
    }
    doneAtMs.set(pair.id, clock.nowMs())
    return true
  }

  const compact = async (pair: Pair, { tokens, prompts }: Load): Promise<void> => {
    if (pair.status !== "compact_pending") await note(pair, "compact_pending", "compact_pending", { tokens, prompts })
    try {
      const how = await keeper.compact(pair)
      // It stays marked and is retried once its agent idles.
      if (how === "busy") return
      doneAtMs.set(pair.id, clock.nowMs())
      await note(pair, how === "done" ? "compacted" : "compact_unable", "active", { tokens, prompts })
    } catch (error) {
      doneAtMs.set(pair.id, clock.nowMs())
      await note(pair, "compact_failed", "active", { reason: Failure.from(error).message })
      onTrouble(error, `${pair.id}: its session could not be compacted`)
    }
  }

  const loadOf = async ({ platform, nativeId, isMade }: Pair): Promise<Load | undefined> => {
    const session = nativeId === null || !isMade ? undefined : await store.sessions.byNative(platform, nativeId)
    return session && store.analytics.load(session.id)
  }

  const look = async (pair: Pair): Promise<void> => {
    const { compactAfterTokens, compactAfterMessages, continueAfterTokens, archiveAfterDays } = settings
    const nowMs = clock.nowMs()
    if (archiveAfterDays > 0 && nowMs - pair.lastUsedAtMs >= archiveAfterDays * DAY_MS) return archive(pair)
    if (pair.status === "continue_pending") return
    const lastMs = doneAtMs.get(pair.id)
    if (lastMs !== undefined && (nowMs - lastMs < REST_MS || pair.lastUsedAtMs <= lastMs)) return
    const load = await loadOf(pair)
    if (!load) return
    const reaches = (count: number | null, limit: number) => limit > 0 && count !== null && count >= limit
    if (reaches(load.tokens, continueAfterTokens) && (await renew(pair, load))) return
    if (reaches(load.tokens, compactAfterTokens) || reaches(load.prompts, compactAfterMessages))
      return compact(pair, load)
    // It was compacted elsewhere meanwhile.
    if (pair.status === "compact_pending") await note(pair, "compact_over", "active")
  }

  const dropDeliveries = async (signal?: AbortSignal) => {
    // Open questions still need the messages that were delivered for them.
    const open = await store.deliveries.ofChannel(PAIR_CHANNEL, ["queued", ...WITH_AGENT])
    const beforeMs = Math.min(clock.nowMs() - settings.keepDeliveriesMs, ...open.map((ask) => ask.createdAtMs))
    for (let batch = 0; batch < MOST_BATCHES && !signal?.aborted; batch++) {
      if ((await store.deliveries.drop({ beforeMs, limit: BATCH })) < BATCH) return
      await nextTurn()
    }
  }

  const sweep = async (signal?: AbortSignal) => {
    const { keepPermissionsDays } = settings
    if (keepPermissionsDays > 0) await store.permissions.dropDecided(clock.nowMs() - keepPermissionsDays * DAY_MS)
    if (settings.keepDeliveriesMs > 0)
      await dropDeliveries(signal).catch((error: unknown) => onTrouble(error, "old deliveries could not be dropped"))
    for (const { id } of await store.pairs.list()) {
      if (signal?.aborted) return
      // Read again: the pairs before it took their time.
      const pair = await store.pairs.byId(id)
      if (!pair || pair.status === "archived" || pair.status === "missing") continue
      await look(pair).catch((error: unknown) => onTrouble(error, `${id}: maintenance failed`))
    }
  }

  return {
    sweep,
    async run(signal) {
      await superviseLoop({
        name: "pair maintenance",
        signal,
        everyMs: SWEEP_MS,
        stallsAfterMs: STALLS_AFTER_MS,
        round: () => sweep(signal),
        onTrouble,
      })
    },
  }
}
