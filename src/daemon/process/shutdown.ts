import type { Log } from "./log.ts"

export interface ShutdownStep {
  name: string
  run(): Promise<void> | void
}

const STEP_MS = 5_000

/** Runs every step in order, even after a failure; a hanging step is abandoned. */
export async function shutdown(steps: ShutdownStep[], log: Log): Promise<void> {
  for (const { name, run } of steps) {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not done within ${STEP_MS} ms`)), STEP_MS)
    })
    try {
      await Promise.race([Promise.resolve().then(run), late])
    } catch (error) {
      log.error({ step: name, err: error }, "a step of the shutdown failed; continuing")
    } finally {
      clearTimeout(timer)
    }
  }
}
