import type { PermissionAnswer } from "../domain/driver.ts"
import type { Permission } from "../domain/permission.ts"
import type { Store } from "../domain/store.ts"
import { makeBell } from "../lib/bell.ts"
import { after, type Clock, sleep } from "../lib/clock.ts"
import { answerOf, lateText, type Meant } from "./permit-words.ts"

/** Questions of hooks: each comes to wait, goes, and comes again under the same id. Without an answer its agent's own dialog stays. */
export interface PendingRequests {
  /** Until there is an answer, or until it is time to come again. It is handed out until somebody has taken it. */
  waitFor(id: string, signal: AbortSignal): Promise<PendingAnswer>
  /** The answer has reached the agent; false when it was too late for that. */
  taken(id: string): Promise<boolean>
  /** Whether the one that asked is there; it may be on its way. */
  isThere(id: string): Promise<boolean>
  /** Waits until what was decided is taken to the agent; what is not is stale. */
  settleTaking(id: string): Promise<void>
  /** After a restart: what waited before it, and nobody came again for, is stale. */
  leaveBehind(): Promise<void>
  /** Sends all to the daemon that comes next. */
  close(): void
}

export type PendingAnswer =
  | { kind: "answer"; answer: PermissionAnswer }
  /** Come again. */
  | { kind: "again" }
  /** None is to come from here. */
  | { kind: "over" }

export interface PendingRequestsDeps {
  store: Store
  clock: Clock
  home: string
  /** What was meant by a decision, as far as it is not kept. */
  meantBy(id: string): Meant
  end(id: string, state: "timed_out" | "stale", reason: string): Promise<unknown>
  onTrouble(error: unknown, what: string): void
}

const WAIT_MS = 50_000
const LOOK_MS = 500
/** A hook that comes again does so at once; after a restart, within a second or two. */
const COMES_MS = 3_000
/** Nor does it take longer to say that it took the answer, unless the machine has no time for it. */
const TAKES_MS = 5_000
const STEP_MS = 50
const RESTART_MS = 15_000
export const NO_HOOK = "nobody is waiting for this any longer: answer at the terminal"
/** None of them begins with the decision: who sees the first word only must not take it for done. */
const GONE_ON = (state: string) => `too late to be ${state}, the agent had already gone on: look at its terminal`
const NOT_CONFIRMED = (state: string) =>
  `not sure to be ${state}, the daemon was restarted before the agent confirmed it: look at its terminal`

export function makePendingRequests({
  store,
  clock,
  home,
  meantBy,
  end,
  onTrouble,
}: PendingRequestsDeps): PendingRequests {
  const present = new Map<string, number>()
  /** When an answer was handed out that is not taken yet. */
  const handed = new Map<string, number>()
  const closing = new AbortController()
  let cancelSweep = () => {}

  /** It was heard of last by its connection, which was closed. */
  const leave = async (id: string) => {
    await sleep(COMES_MS, closing.signal)
    if (!present.has(id)) await end(id, "stale", "the agent asks no longer")
  }

  const withdraw = (permission: Permission, why: (state: string) => string): Promise<boolean> =>
    store.transaction(async (tx) => {
      const { id, asker, tool } = permission
      const atMs = clock.nowMs()
      const reason = why(permission.state)
      if (!(await tx.permissions.withdraw(id, reason, atMs))) return false
      const data = { id, asker, tool, reason }
      await tx.audit.add({ atMs, who: "throughline", what: "permission.stale", data })
      await tell(tx, { ...permission, state: "stale" }, atMs)
      return true
    })

  const settle = async (id: string, signal?: AbortSignal) => {
    const comesMs = performance.now() + COMES_MS
    for (; ; await sleep(STEP_MS, signal)) {
      const permission = await store.permissions.byId(id)
      const isDecided = permission?.state === "allowed" || permission?.state === "denied"
      const untilMs = Math.max(comesMs, (handed.get(id) ?? 0) + TAKES_MS)
      const isOver = !isDecided || permission.takenAtMs !== null
      if (!isOver && (performance.now() < untilMs || !(await withdraw(permission, GONE_ON)))) continue
      handed.delete(id)
      return
    }
  }

  const look = async (id: string, signal: AbortSignal, untilMs: number): Promise<PendingAnswer | undefined> => {
    const permission = await store.permissions.byId(id)
    if (permission?.state === "waiting") {
      const { expiresAtMs, askedAtMs } = permission
      if (clock.nowMs() >= expiresAtMs) {
        await end(id, "timed_out", `${lateText(expiresAtMs - askedAtMs)}; its own dialog stays`)
        return { kind: "over" }
      }
      return signal.aborted || performance.now() >= untilMs ? { kind: "again" } : undefined
    }
    const isDecided = permission?.state === "allowed" || permission?.state === "denied"
    if (!isDecided || permission.takenAtMs !== null) return { kind: "over" }
    // Nobody is there to take it, but somebody may come again.
    if (signal.aborted) return { kind: "again" }
    handed.set(id, performance.now())
    // Whoever decided may be gone: a daemon that was killed, or one of another data directory.
    settle(id, closing.signal).catch((error: unknown) => quiet(error, closing.signal, onTrouble))
    return { kind: "answer", answer: answerOf(permission, meantBy(id)) }
  }

  return {
    async waitFor(id, signal) {
      const over = AbortSignal.any([signal, closing.signal])
      const untilMs = performance.now() + WAIT_MS
      present.set(id, (present.get(id) ?? 0) + 1)
      const bell = makeBell({ store, signal: over })
      try {
        for (;;) {
          const answer = await look(id, over, untilMs)
          if (answer) return answer
          await bell.wait(LOOK_MS)
        }
      } finally {
        bell.close()
        const left = present.get(id)! - 1
        if (left > 0) present.set(id, left)
        else present.delete(id)
        if (signal.aborted && left === 0) leave(id).catch((error: unknown) => quiet(error, closing.signal, onTrouble))
      }
    },
    taken: (id) =>
      store.transaction(async (tx) => {
        const atMs = clock.nowMs()
        const permission = await tx.permissions.byId(id)
        if (!permission || !(await tx.permissions.take(id, atMs))) return false
        await tell(tx, permission, atMs)
        return true
      }),
    async isThere(id) {
      for (const untilMs = performance.now() + COMES_MS; !present.has(id); await sleep(STEP_MS))
        if (performance.now() >= untilMs) return false
      return true
    },
    settleTaking: settle,
    async leaveBehind() {
      const waiting = async () =>
        (await store.permissions.waiting()).filter((one) => one.via === "hook" && one.home === home)
      const find = async () =>
        new Set([...(await waiting()), ...(await store.permissions.untaken(home))].map(({ id }) => id))
      // What is asked and decided from now on has somebody who settles it.
      const before = find()
      await before.catch(() => {})
      const sweep = async () => {
        const ids = await before
        const isLeft = ({ id }: Permission) => ids.has(id) && !present.has(id)
        for (const { id } of (await waiting()).filter(isLeft))
          await end(id, "stale", "the request was not renewed after the daemon restarted")
        for (const permission of (await store.permissions.untaken(home)).filter(isLeft))
          if (!handed.has(permission.id)) await withdraw(permission, NOT_CONFIRMED)
      }
      const run = () => void sweep().catch((error: unknown) => quiet(error, closing.signal, onTrouble))
      cancelSweep = after(RESTART_MS, run, { ref: false })
    },
    close() {
      cancelSweep()
      closing.abort()
    },
  }
}

/** That it is over, told when it is so for the agent too. */
async function tell(tx: Store, permission: Permission, atMs: number): Promise<void> {
  const { id, team, tool, state, answeredBy: by, sessionId } = permission
  const data = { id, team, tool, state, by }
  await tx.journal.append([{ kind: "permission.decided", sessionId, atMs, data, key: `${id} decided` }])
}

function quiet(error: unknown, closing: AbortSignal, onTrouble: PendingRequestsDeps["onTrouble"]): void {
  if (!closing.aborted) onTrouble(error, "a hook that asks no longer")
}
