import type { Delivery } from "../domain/delivery.ts"
import { askOf, type Pair } from "../domain/pair.ts"
import { because, type Reason, workerIn } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Turn } from "../domain/turn.ts"
import { type Clock, pause as realPause } from "../lib/clock.ts"
import { conclude, type Settled } from "../lib/transitions.ts"
import { isInOpenSession, type OpenSessionDelivery } from "./open-session.ts"
import { isNewContext } from "./pairs.ts"
import { answerUsage } from "./turn.ts"

/** Settles a question that an earlier daemon had started, by the agent's own records. */
export interface AskRecovery {
  settle(delivery: Delivery, isCancelled: () => boolean, signal: AbortSignal): Promise<void>
}

export interface AskRecoveryDeps {
  store: Store
  clock: Clock
  processStart(pid: number): string | undefined
  endProcess(pid: number): void
  /** Captures the agent's records up to now. False where nothing is captured, so that nothing can be proved. */
  readRecords(platform: string): Promise<boolean>
  openSession: OpenSessionDelivery
  pause?: typeof realPause
}

type Evidence = { kind: "answered"; reply: Turn } | { kind: "taken" } | { kind: "none" }

const LOOK_MS = 250
/** An unknown process may still write its last records for a moment. */
const GRACE_MS = 3_000
/** As many as a long turn has. */
const LAST_TURNS = 2_000

export function makeRecovery(deps: AskRecoveryDeps): AskRecovery {
  const { store, clock, processStart, endProcess, readRecords, openSession, pause = realPause } = deps
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
        ...answerUsage(usage),
        atMs: clock.nowMs(),
      })
    })

  return {
    async settle(delivery, isCancelled, signal) {
      const pair = await store.pairs.byId(askOf(delivery).pairId)
      if (!pair) return void (await settle(delivery, "failed", because("pair_unknown")))
      // A person's session has it: the records of the pair's own process say nothing about it.
      if (isInOpenSession(askOf(delivery))) {
        if ((await openSession.deliver(delivery, pair, isCancelled, signal)) === "closed") await notTaken(delivery)
        return
      }
      const worker = workerIn(delivery.outcome)
      const isAtWork = () => worker !== undefined && processStart(worker.pid) === worker.start
      if (!worker) await pause(GRACE_MS, signal)
      // The process outlived its daemon and continues the turn: its records are complete once it has ended.
      while (isAtWork() && !signal.aborted) {
        if (isCancelled()) endProcess(worker!.pid)
        await pause(LOOK_MS, signal)
      }
      if (signal.aborted) return
      let isKnown = await readRecords(pair.platform)
      let evidence = await evidenceOf(delivery, pair)
      // The last reply may reach the agent's file, and our store, a moment after the process has ended.
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
