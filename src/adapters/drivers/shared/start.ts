import { setTimeout as sleep } from "node:timers/promises"

/** The slowest agent takes six seconds on a free machine. */
export const START_MS = 60_000
export const notStartedInTime = `the agent was not ready after ${START_MS / 1000} seconds`

/** Resolves when the time is over, and holds nothing up until then. */
export const within = (ms: number): Promise<undefined> => sleep(ms, undefined, { ref: false })
