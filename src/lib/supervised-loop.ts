import { errorText } from "../domain/failure.ts"
import { nextTurn, pause } from "./clock.ts"

/** Everything that runs for as long as the daemon does: it is called round by round, and a round that fails is retried. */
export interface LoopOptions {
  /** As `doctor` shows it. Loops that share a name are reported as one. */
  name: string
  signal: AbortSignal
  /**
   * One round, including whatever it waits for. A round that returns marks the loop as healthy; one that may take
   * minutes calls `alive` as soon as it works again.
   */
  round(signal: AbortSignal, alive: () => void): Promise<unknown> | unknown
  /** Pause after a round that succeeded. */
  everyMs?: number
  /** Told the cause once, not at every retry. */
  onTrouble(error: unknown, what: string): void
  firstRetryMs?: number
  mostRetryMs?: number
  /** How long whatever failed wants to be left alone. */
  atLeastMs?(error: unknown): number
  /** A round that takes longer is reported as stalled; Infinity where it may wait for ever. */
  stallsAfterMs?: number
}

export interface LoopState {
  name: string
  state: "running" | "restarting" | "stalled"
  /** How often a round failed since the program started. */
  restarts: number
  /** Since when it fails, or since when its round has not come back. */
  sinceMs?: number
  error?: string
}

interface Loop {
  name: string
  stallsAfterMs: number
  restarts: number
  /** Undefined while it rests between two rounds. */
  roundSinceMs: number | undefined
  failing?: { sinceMs: number; error: string }
}

const FIRST_RETRY_MS = 500
const MOST_RETRY_MS = 10_000
const STALLS_AFTER_MS = 10 * 60_000

/** One program, one list: a loop cannot be started without being listed, and nobody has to pass the list around. */
const running = new Set<Loop>()
const elsewhere = new Map<string, LoopState[]>()

/** Runs until the signal, whatever the rounds do. Never rejects. */
export async function superviseLoop(options: LoopOptions): Promise<void> {
  const { name, signal, round, everyMs, onTrouble, atLeastMs } = options
  const { firstRetryMs = FIRST_RETRY_MS, mostRetryMs = MOST_RETRY_MS, stallsAfterMs = STALLS_AFTER_MS } = options
  if (signal.aborted) return
  const loop: Loop = { name, stallsAfterMs, restarts: 0, roundSinceMs: Date.now() }
  const rest = (ms: number) => {
    loop.roundSinceMs = undefined
    return pause(ms, signal)
  }
  const alive = () => {
    loop.roundSinceMs = Date.now()
    failures = 0
    if (!loop.failing) return
    delete loop.failing
    changed()
  }
  let failures = 0
  running.add(loop)
  try {
    while (!signal.aborted) {
      loop.roundSinceMs = Date.now()
      try {
        await round(signal, alive)
        alive()
        // A round that never waits must not keep everybody else from running.
        await (everyMs === undefined ? nextTurn() : rest(everyMs))
      } catch (error) {
        // Whatever is cut off by the end of the program is no failure.
        if (signal.aborted) return
        report(loop, error, onTrouble)
        const backoffMs = jittered(Math.min(mostRetryMs, firstRetryMs * 2 ** failures++))
        await rest(Math.max(backoffMs, atLeastMs?.(error) ?? 0))
      }
    }
  } finally {
    running.delete(loop)
  }
}

function report(loop: Loop, error: unknown, onTrouble: LoopOptions["onTrouble"]): void {
  const text = errorText(error)
  const isNew = loop.failing?.error !== text
  loop.restarts++
  loop.failing = { sinceMs: loop.failing?.sinceMs ?? Date.now(), error: text }
  changed()
  if (!isNew) return
  try {
    onTrouble(error, loop.name)
  } catch {
    // A log that cannot be written must not end the loop either.
  }
}

/** Loops that failed together must not all come back in the same moment. */
const jittered = (ms: number) => ms * (0.5 + Math.random() / 2)

let changed = () => {}

/** For a thread, which has to tell the program's own one. */
export function onLoopChange(listener: () => void): void {
  changed = listener
}

/** What another thread of this program reports of its loops; undefined when the thread is gone. */
export function reportElsewhere(thread: string, states: LoopState[] | undefined): void {
  if (states === undefined) elsewhere.delete(thread)
  else elsewhere.set(thread, states)
}

/** Every loop of the program, by name; of loops that share one, the worst state. */
export function loopStates(nowMs = Date.now()): LoopState[] {
  const all = [...Array.from(running, (loop) => stateOf(loop, nowMs)), ...[...elsewhere.values()].flat()]
  const byName = Map.groupBy(all, ({ name }) => name)
  return [...byName].map(([, states]) => merged(states)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function stateOf({ name, restarts, roundSinceMs, stallsAfterMs, failing }: Loop, nowMs: number): LoopState {
  if (failing) return { name, restarts, state: "restarting", ...failing }
  if (roundSinceMs !== undefined && nowMs - roundSinceMs > stallsAfterMs)
    return { name, restarts, state: "stalled", sinceMs: roundSinceMs }
  return { name, restarts, state: "running" }
}

function merged(states: LoopState[]): LoopState {
  const worst = states.find(({ state }) => state === "restarting") ?? states.find(({ state }) => state === "stalled")
  return { ...(worst ?? states[0]!), restarts: states.reduce((sum, { restarts }) => sum + restarts, 0) }
}
