import { parentPort, workerData } from "node:worker_threads"
import { platforms } from "../../agents/list.ts"
import { serveReading } from "../../capture/read/reader-thread.ts"
import { type CaptureSettings, redactorOf } from "../../capture/watch/rules.ts"
import { systemClock } from "../../lib/clock.ts"

/** What runs in the thread that reads agents' files. */
const settings = workerData as CaptureSettings
serveReading({
  port: parentPort!,
  platforms,
  clock: systemClock,
  // Where some projects are left as they are, only the keeper knows which text is whose.
  redact: settings.redactionOff.length === 0 ? redactorOf(settings) : undefined,
})
