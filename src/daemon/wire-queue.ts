import { hostname } from "node:os"
import { consoles } from "../adapters/consoles/list.ts"
import { lines } from "../adapters/lines/list.ts"
import { tmuxPanes } from "../adapters/panes/tmux.ts"
import type { Clients } from "../domain/clients.ts"
import type { Clock } from "../domain/clock.ts"
import type { Machine, Platform } from "../domain/platform.ts"
import type { Store } from "../domain/store.ts"
import type { TaskFile } from "../domain/task-file.ts"
import type { Roster } from "../domain/team.ts"
import { type Keeping, makeKeeping } from "../reach/keeping/keeping.ts"
import { makeReach } from "../reach/room.ts"
import { makeWatching } from "../reach/watching/room.ts"
import type { Intake } from "../sessions/capture/intake.ts"
import { redactorOf } from "../sessions/capture/rules.ts"
import { makeSpool } from "../sessions/capture/spool.ts"
import { terminalEnvironment } from "./environment.ts"
import type { Home } from "./home.ts"
import type { Log } from "./log.ts"
import { parentOf, processStart } from "./process-identity.ts"
import type { Config } from "./settings.ts"

/** Builds what watches agents in terminals, starts them, and brings them messages. */
export function wireQueue(parts: {
  store: Store
  clock: Clock
  config: Config
  home: Home
  log: Log
  roster: Roster
  clients: Clients
  machine: Machine
  meet: Intake["meet"]
  taskFile(projectDir: string): TaskFile | undefined
  labelOf(platform: string): string
  platforms: readonly Platform[]
}) {
  const { store, clock, config, home, log, roster, clients, machine, meet, labelOf } = parts
  const panes = tmuxPanes({ env: terminalEnvironment(machine.env) })
  const host = hostname()
  const watching = makeWatching({
    store,
    clock,
    roster,
    consoles,
    panes,
    machine,
    host,
    processStart,
    parentOf,
    meet,
    taskFile: parts.taskFile,
    paneOf: (team) => keeping.paneOf(team),
    onTrouble: (err, what) => log.warn({ err, what }, "a session could not be watched"),
  })
  const keeping: Keeping = makeKeeping({
    store,
    clock,
    roster,
    panes,
    consoles,
    machine,
    host,
    socket: home.tmux,
    isRunning: (pid, start) => processStart(pid) !== undefined && (start === null || processStart(pid) === start),
    onTrouble: (err, what) => log.error({ err }, what),
  })
  const spool = makeSpool(home.spool)
  const reach = makeReach({
    store,
    clock,
    roster,
    clients,
    live: watching.live,
    hookless: watching.hookless,
    panes,
    consoles,
    lines,
    machine,
    settings: config.queue,
    host,
    home: home.dir,
    processStart,
    parentOf,
    watch: watching.watch,
    wake: keeping.wake,
    redact: redactorOf(config.capture),
    labelOf,
    logPlatforms: parts.platforms.filter(({ can }) => can.logs).map(({ id }) => id),
    hasSpooled: async () => (await spool.names()).length > 0,
    onTrouble: (err, what) => log.warn({ err, what }, "a message could not be brought"),
  })
  return { watching, keeping, reach, panes }
}
