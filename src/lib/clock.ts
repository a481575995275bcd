import { setTimeout as delay, setImmediate } from "node:timers/promises"

export interface Clock {
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }

/** Rejects when the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { ...(signal && { signal }) })

/** That much time, or until the signal. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, signal).catch(() => {})

/** Lets other work of this thread run first. */
export const nextTurn = (): Promise<void> => setImmediate()

/** Returns the function that cancels it. Without `ref` the timer does not keep the process alive. */
export function after(ms: number, run: () => void, { ref = true } = {}): () => void {
  const timer = setTimeout(run, ms)
  if (!ref) timer.unref()
  return () => clearTimeout(timer)
}

/** Returns the function that ends it. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}

/** The result of the work, or undefined when it takes longer. Does not keep the process alive. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const cancel = after(ms, () => late.resolve(undefined), { ref: false })
  return Promise.race([work, late.promise]).finally(cancel)
}
