import type { Delivery } from "../domain/delivery.ts"
import type { DriverEvent, TurnEnd } from "../domain/driver.ts"
import { errorText } from "../domain/failure.ts"
import { ASK_NOTE, headingOf, quoteLines } from "../domain/framing.ts"
import { askOf, type Pair } from "../domain/pair.ts"
import { because, workedOnBy } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Team } from "../domain/team.ts"
import type { Turn } from "../domain/turn.ts"
import { type Clock, pause } from "../lib/clock.ts"
import { makeMutex } from "../lib/mutex.ts"
import { conclude, move } from "../lib/transitions.ts"
import type { AnswerStream } from "./change-signal.ts"
import type { Use } from "./pool.ts"

export interface AskTurnDeps {
  store: Store
  clock: Clock
  stream: AnswerStream
  /** The same redaction as for captured turns. */
  redact(text: string, projectDir: string): string
  /** Pids are reused: the start time tells processes apart. */
  processStart(pid: number): string | undefined
  onChanged(id: string): void
  onTrouble(error: unknown, what: string): void
}

export interface AskTurn {
  delivery: Delivery
  pair: Pair
  team: Team
  use: Use
  isCancelled(): boolean
}

/** Runs one question, from its delivery to its answer, and records each step. */
export async function runTurn(
  deps: AskTurnDeps,
  { delivery, pair, team, use, isCancelled }: AskTurn,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, stream, redact, processStart, onChanged, onTrouble } = deps
  const { key: id, seq, leaseOwner } = delivery
  const { session, isContextNew, preface } = use
  const attemptAtMs = clock.nowMs()
  // Recorded before the prompt is sent: after a crash, recovery settles it by the agent's own records.
  const isOurs = await store.transaction(async (tx) => {
    if (!(await tx.deliveries.startAttempt(seq, leaseOwner!, attemptAtMs))) return false
    await tx.pairs.count(pair.id, attemptAtMs)
    return true
  })
  if (!isOurs) return
  if (isCancelled()) {
    await store.transaction((tx) => conclude(tx, delivery, "cancelled", clock.nowMs(), because("cancelled")))
    return
  }

  const inOrder = makeMutex()
  /** Relaxed: what a crash undoes is recovered from the agent's records. */
  const write = (work: (tx: Store) => Promise<unknown>) =>
    inOrder(() =>
      store
        .transaction(work, { durability: "relaxed" })
        .then(() => onChanged(id))
        .catch((error: unknown) => onTrouble(error, id)),
    )
  const run = (tx: Store) =>
    move(tx, delivery, ["delivered"], "running", clock.nowMs(), null, workedOn(session.pid, processStart))
  let isHeard = false
  stream.begin(id)
  const onEvent = (event: DriverEvent) => {
    if (!isHeard) void write(run)
    isHeard = true
    stream.hear(id, event)
  }
  const ending = session.prompt({ id, text: promptOf(delivery, preface) }, { onEvent }).catch(refused)
  void write((tx) => conclude(tx, delivery, "delivered", clock.nowMs(), null, workedOn(session.pid, processStart)))
  const end = await ending
  await inOrder(async () => {})
  const isTaken = isHeard || end.status === "done"
  if (isTaken) use.prefaced()
  await persist(signal, onTrouble, id, () =>
    store.transaction(async (tx) => {
      const nowMs = clock.nowMs()
      if (isTaken) await tx.pairs.update(pair.id, { isMade: true, madeAtMs: madeAtMs(pair, use, attemptAtMs) })
      const isSettled = await conclude(
        tx,
        delivery,
        end.status,
        nowMs,
        end.error === null ? null : because("agent_said", end.error),
      )
      if (isSettled && end.status === "done")
        await tx.pairs.answer({
          ...{ messageId: id, pairId: pair.id, nativeId: session.nativeId, isContextNew },
          text: redact(end.text, team.projectDir),
          durationMs: end.durationMs,
          ...answerUsage(end.usage),
          atMs: nowMs,
        })
    }),
  )
  stream.end(id)
}

/** The heading identifies it in the agent's own records. Only the owner's text is not quoted. */
function promptOf(delivery: Delivery, preface: string | null): string {
  const { text, isOwners } = askOf(delivery)
  const asked = `${headingOf(delivery)}\n${isOwners ? text : `${quoteLines(text)}\n\n${ASK_NOTE}`}`
  return preface === null ? asked : `${preface}\n${asked}`
}

const madeAtMs = (pair: Pair, { isStarted }: Use, nowMs: number) =>
  isStarted && !pair.isMade ? nowMs : (pair.madeAtMs ?? nowMs)

const refused = (error: unknown): TurnEnd => ({
  status: "failed",
  text: "",
  error: errorText(error),
  durationMs: 0,
  usage: null,
})

export const answerUsage = (usage: Turn["usage"] | TurnEnd["usage"]) => ({
  inputTokens: usage?.inputTokens ?? 0,
  outputTokens: usage?.outputTokens ?? 0,
  costUsd: usage?.costUsd ?? null,
})

const AGAIN_MS = 1_000

/** Retries, so that no answer is lost while the disk is full. */
async function persist(
  signal: AbortSignal,
  onTrouble: AskTurnDeps["onTrouble"],
  id: string,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      onTrouble(error, id)
      if (signal.aborted) return
      await pause(AGAIN_MS, signal)
    }
  }
}

const workedOn = (pid: number, processStart: (pid: number) => string | undefined) =>
  workedOnBy(pid, processStart(pid) ?? "?")
