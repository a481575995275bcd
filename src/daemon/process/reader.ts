import { parentPort, workerData } from "node:worker_threads"
import { platforms } from "../../agents/list.ts"
import { serveReading } from "../../capture/read/reader-thread.ts"
import { type CaptureSettings, redactorOf } from "../../capture/watch/rules.ts"
import { systemClock } from "../../lib/clock.ts"

/** The thread that reads agents' files. */
const settings = workerData as CaptureSettings
serveReading({
  port: parentPort!,
  platforms,
  clock: systemClock,
  // If some projects are unredacted, only the keeper knows which project a text belongs to.
  redact: settings.redactionOff.length === 0 ? redactorOf(settings) : undefined,
})
