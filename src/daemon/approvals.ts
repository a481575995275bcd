import { agents } from "../adapters/setup/list.ts"
import type { Store } from "../domain/store.ts"
import type { Roster } from "../domain/team.ts"
import { type Asking, makeAsking } from "../reach/approvals/asking.ts"
import type { LiveSessions } from "../reach/watching/live.ts"
import type { Intake } from "../sessions/capture/intake.ts"
import type { Permits } from "../teams/permits.ts"
import type { Log } from "./log.ts"
import { processStart } from "./process-identity.ts"
import type { Config } from "./settings.ts"

interface Parts {
  store: Store
  permits: Permits
  live: LiveSessions
  intake: Intake
  roster: Roster
  config: Config
  log: Log
}

/** What hooks ask of people who are elsewhere. */
export function openAsking({ store, permits, live, intake, roster, config, log }: Parts): Asking {
  return makeAsking({
    store,
    agents,
    permits,
    live,
    processStart,
    receive: intake.receive,
    teamAt: (platform, dir) => roster.at(dir).find((team) => team.platform === platform)?.name ?? null,
    isAnyoneThere: async () => permits.isWatched() || (await isReached(store, config.telegram)),
    onTrouble: (err, what) => log.warn({ err, what }, "what a hook asks"),
  })
}

/** Whether a question would be shown to somebody who may answer it. */
async function isReached(store: Store, { token, mirror, approvals, users }: Config["telegram"]): Promise<boolean> {
  if (token === undefined || mirror === "off" || !approvals) return false
  return users.length > 0 || (await store.people.list("telegram")).length > 0
}
