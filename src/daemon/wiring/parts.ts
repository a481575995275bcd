import type { Clients } from "../../domain/caller.ts"
import type { Machine } from "../../domain/platform.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { ReloadingRoster } from "../../teams/roster.ts"
import type { Config } from "../config/settings.ts"
import type { Home } from "../process/home.ts"
import type { Log } from "../process/log.ts"

/** What nearly every module is built with. */
export interface CommonParts {
  store: Store
  clock: Clock
  config: Config
  home: Home
  log: Log
  roster: ReloadingRoster
  clients: Clients
  machine: Machine
}
