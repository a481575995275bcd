import { after } from "../../lib/clock.ts"
import type { Log } from "./log.ts"

export interface ShutdownStep {
  name: string
  run(): Promise<void> | void
}

const STEP_MS = 5_000

/** Runs every step in order, even after a failure; a hanging step is abandoned. */
export async function shutdown(steps: ShutdownStep[], log: Log): Promise<void> {
  for (const { name, run } of steps) {
    const late = Promise.withResolvers<never>()
    const cancel = after(STEP_MS, () => late.reject(new Error(`not done within ${STEP_MS} ms`)))
    try {
      await Promise.race([Promise.resolve().then(run), late.promise])
    } catch (error) {
      log.error({ step: name, err: error }, "a step of the shutdown failed; continuing")
    } finally {
      cancel()
    }
  }
}
