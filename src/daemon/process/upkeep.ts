import { superviseLoop } from "../../lib/supervised-loop.ts"
import { DAY_MS, HOUR_MS } from "../../lib/time.ts"
import type { SessionsModule } from "../../sessions/module.ts"
import type { Config } from "../config/settings.ts"
import type { Log } from "./log.ts"
import { emptyLogs } from "./write-ahead-log.ts"

interface Parts {
  store: Parameters<typeof emptyLogs>[0]["store"]
  sessions: Pick<SessionsModule, "edits">
  config: Config
  log: Log
}

const SWEEP_MS = HOUR_MS

/** The store's background maintenance. */
export function upkeep({ store, sessions, config, log }: Parts, signal: AbortSignal): Promise<void>[] {
  const archiving = superviseLoop({
    name: "session archiving",
    signal,
    everyMs: SWEEP_MS,
    async round() {
      const count = await sessions.edits.archiveUntouched(config.sessions.archiveAfterDays * DAY_MS)
      if (count > 0) log.info({ count }, "archived unused sessions")
    },
    onTrouble: (err) => log.error({ err }, "sessions could not be archived"),
  })
  const onTrouble = (err: unknown) => log.warn({ err }, "the database's write-ahead log could not be emptied")
  return [archiving, emptyLogs({ store, signal, onTrouble })]
}
