import { setTimeout as sleep } from "node:timers/promises"
import type { Delivery } from "../domain/delivery.ts"
import { askOf, type Pair } from "../domain/pair.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Turn } from "../domain/turn.ts"
import type { Clock } from "../lib/clock.ts"
import { pause } from "../lib/time.ts"
import { conclude, type Settled } from "../lib/transitions.ts"
import { isInOpenSession, type OpenSessionDelivery } from "./open-session.ts"
import { isNewContext } from "./pairs.ts"
import { workerOf } from "./turn.ts"

/** Finds out what became of a question that a daemon before this one had begun with: by what the agent has kept of it. */
export interface AskRecovery {
  settle(delivery: Delivery, isCancelled: () => boolean, signal: AbortSignal): Promise<void>
}

export interface AskRecoveryDeps {
  store: Store
  clock: Clock
  processStart(pid: number): string | undefined
  endProcess(pid: number): void
  /** Reads what the platform has kept up to now. False where nothing is captured, and so nothing can be known. */
  readRecords(platform: string): Promise<boolean>
  openSession: OpenSessionDelivery
}

type Evidence = { kind: "answered"; reply: Turn } | { kind: "taken" } | { kind: "none" }

const LOOK_MS = 250
/** A process of which only the session is known may have written a moment after it was left alone. */
const GRACE_MS = 3_000
/** As many as a long turn may have. */
const LAST_TURNS = 2_000

export function makeRecovery({
  store,
  clock,
  processStart,
  endProcess,
  readRecords,
  openSession,
}: AskRecoveryDeps): AskRecovery {
  const evidenceOf = async (delivery: Delivery, pair: Pair): Promise<Evidence> => {
    const session = pair.nativeId === null ? undefined : await store.sessions.byNative(pair.platform, pair.nativeId)
    const turns = session ? await store.turns.ofSession(session.id, { limit: LAST_TURNS }) : []
    const at = turns.findLastIndex(({ kind, text }) => kind === "prompt" && text.includes(delivery.key))
    if (at < 0) return { kind: "none" }
    const rest = turns.slice(at + 1)
    const next = rest.findIndex(({ kind }) => kind === "prompt")
    const last = (next < 0 ? rest : rest.slice(0, next)).at(-1)
    return last?.kind === "reply" ? { kind: "answered", reply: last } : { kind: "taken" }
  }

  const settle = (delivery: Delivery, state: Settled, reason: Reason) =>
    store.transaction((tx) => conclude(tx, delivery, state, clock.nowMs(), reason))

  const notTaken = async (delivery: Delivery): Promise<void> => {
    const { seq, leaseOwner, dueAtMs } = delivery
    if (delivery.state === "queued")
      await store.deliveries.retry(seq, leaseOwner ?? "", dueAtMs, because("not_arrived").words)
    else await settle(delivery, "failed", because("ended_untaken"))
  }

  const answered = (delivery: Delivery, pair: Pair, { text, atMs, usage }: Turn) =>
    store.transaction(async (tx) => {
      if (!(await conclude(tx, delivery, "done", clock.nowMs(), FOUND))) return
      const begun = (await tx.pairs.sessions(pair.id)).find(({ nativeId }) => nativeId === pair.nativeId)
      const isContextNew = !pair.isMade && isNewContext(begun?.why)
      await tx.pairs.update(pair.id, { isMade: true, madeAtMs: pair.madeAtMs ?? atMs })
      await tx.pairs.answer({
        ...{ messageId: delivery.key, pairId: pair.id, nativeId: pair.nativeId, text, isContextNew },
        durationMs: Math.max(0, atMs - (delivery.attemptStartedAtMs ?? atMs)),
        inputTokens: usage?.inputTokens ?? 0,
        outputTokens: usage?.outputTokens ?? 0,
        costUsd: usage?.costUsd ?? null,
        atMs: clock.nowMs(),
      })
    })

  return {
    async settle(delivery, isCancelled, signal) {
      const pair = await store.pairs.byId(askOf(delivery).pairId)
      if (!pair) return void (await settle(delivery, "failed", because("pair_unknown")))
      // It is with a person's session, which knows nothing of us.
      if (isInOpenSession(askOf(delivery))) {
        if ((await openSession.deliver(delivery, pair, isCancelled, signal)) === "closed") await notTaken(delivery)
        return
      }
      const worker = workerOf(delivery)
      const isAtWork = () => worker !== undefined && processStart(worker.pid) === worker.start
      if (!worker) await pause(GRACE_MS, signal)
      // It goes on by itself: whoever asked is told when it has ended.
      while (isAtWork() && !signal.aborted) {
        if (isCancelled()) endProcess(worker!.pid)
        await sleep(LOOK_MS)
      }
      if (signal.aborted) return
      let isKnown = await readRecords(pair.platform)
      let evidence = await evidenceOf(delivery, pair)
      // Its last words may reach its file, and the file our archive, a moment after it is gone.
      for (let leftMs = GRACE_MS; evidence.kind !== "answered" && isKnown && leftMs > 0; leftMs -= LOOK_MS) {
        await pause(LOOK_MS, signal)
        if (signal.aborted) return
        isKnown = await readRecords(pair.platform)
        evidence = await evidenceOf(delivery, pair)
      }
      if (evidence.kind === "answered") await answered(delivery, pair, evidence.reply)
      else if (isCancelled()) await settle(delivery, "cancelled", because("cancelled"))
      else if (evidence.kind === "taken") await settle(delivery, "failed", UNFINISHED)
      else if (!isKnown) await settle(delivery, "uncertain", because("nothing_captured"))
      else await notTaken(delivery)
    },
  }
}

const FOUND = because("found_in_records")
const UNFINISHED = because("ended_unfinished")
