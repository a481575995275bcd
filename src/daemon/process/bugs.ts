import { errorText } from "../../domain/failure.ts"
import { after } from "../../lib/clock.ts"
import type { Log } from "./log.ts"

/** Uncaught errors are our bugs, so `doctor` shows them. */
export interface Bugs {
  count(): number
  last(): { atMs: number; message: string } | undefined
  /** Removes the listeners. */
  close(): void
}

/** Time to write the log and stop. */
const END_MS = 10_000

/**
 * A promise that failed unheard has left one task undone: the daemon goes on, because ending it would end everybody's
 * capture for it, and says so in `doctor`. An exception outside of any promise leaves the program in an unknown state:
 * it is stopped in order, with a code that makes a service manager start it again, as agents do by themselves.
 */
export function watchBugs(log: Log, onFatal: () => void): Bugs {
  let count = 0
  let last: { atMs: number; message: string } | undefined
  const note = (error: unknown) => {
    count++
    last = { atMs: Date.now(), message: errorText(error) }
  }
  const onRejection = (err: unknown) => {
    note(err)
    log.error({ err }, "unhandled promise rejection; the daemon continues")
  }
  const onException = (err: unknown) => {
    note(err)
    log.fatal({ err }, "uncaught exception; the daemon stops")
    process.exitCode = 1
    after(END_MS, () => process.exit(1), { ref: false })
    onFatal()
  }
  process.on("unhandledRejection", onRejection)
  process.on("uncaughtException", onException)
  return {
    count: () => count,
    last: () => last,
    close() {
      process.off("unhandledRejection", onRejection)
      process.off("uncaughtException", onException)
    },
  }
}
