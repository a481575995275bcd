/** Right after a start, answers wait a moment for what agents wrote while the daemon was down. */
import { within } from "../../lib/clock.ts"
export interface CatchUp {
  /** Resolves once caught up, or when an incomplete answer is better than a late one. */
  wait(): Promise<void>
  isDone(): boolean
}

/** From the daemon's start: a long import delays no answer after this. */
const MOST_MS = 3_000

export function makeCatchUp(caughtUp: Promise<unknown>, mostMs = MOST_MS): CatchUp {
  let isDone = false
  // A failure is reported where it happens, and the index catches up with the journal anyway.
  const done = caughtUp
    .catch(() => {})
    .then(() => {
      isDone = true
    })
  const waited = within(mostMs, done)
  return { wait: () => waited, isDone: () => isDone }
}
