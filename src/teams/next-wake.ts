import type { Store } from "../domain/store.ts"

/** Listens before anything is read, so that what happens meanwhile is not slept through. */
export function nextWake(store: Store, signal: AbortSignal, mostMs: number) {
  let drop = () => {}
  const promise = new Promise<void>((resolve) => {
    const forget = store.onWake(() => drop())
    const timer = setTimeout(() => drop(), mostMs)
    const onAbort = () => drop()
    signal.addEventListener("abort", onAbort, { once: true })
    drop = () => {
      forget()
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      resolve()
    }
  })
  return { promise, drop: () => drop() }
}
