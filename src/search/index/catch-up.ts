/** Right after a start, answers wait a moment for what agents wrote while no daemon was running. */
export interface CatchUp {
  /** Resolves once caught up, or when an incomplete answer is better than a late one. */
  wait(): Promise<void>
  isDone(): boolean
}

/** Counted from the start of the daemon: a long import delays nobody after this. */
const MOST_MS = 3_000

export function makeCatchUp(caughtUp: Promise<unknown>, mostMs = MOST_MS): CatchUp {
  let isDone = false
  const done = caughtUp.then(
    () => {
      isDone = true
    },
    // What failed is reported where it failed, and the index compares itself with the journal anyway.
    () => {
      isDone = true
    },
  )
  const limit = new Promise<void>((resolve) => setTimeout(resolve, mostMs).unref())
  const waited = Promise.race([done, limit])
  return { wait: () => waited, isDone: () => isDone }
}
