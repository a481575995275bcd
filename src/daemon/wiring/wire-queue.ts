import { hostname } from "node:os"
import { tmuxPanes } from "../../adapters/tmux/tmux.ts"
import { consoles, lines } from "../../agents/list.ts"
import { makeSpool } from "../../capture/read/spool.ts"
import type { HookIntake } from "../../capture/store/intake.ts"
import { redactorOf } from "../../capture/watch/rules.ts"
import type { Platform } from "../../domain/platform.ts"
import type { TaskFile } from "../../domain/task-file.ts"
import { makeWatching } from "../../live/module.ts"
import { makeSupervisor, type Supervisor } from "../../live/supervisor/supervisor.ts"
import { makeMessageQueue } from "../../queue/module.ts"
import { terminalEnvironment } from "../process/environment.ts"
import { parentOf, processStart } from "../process/process-identity.ts"
import type { CommonParts } from "./parts.ts"

interface QueueParts extends CommonParts {
  meet: HookIntake["meet"]
  taskFile(projectDir: string): TaskFile | undefined
  labelOf(platform: string): string
  platforms: readonly Platform[]
}

/** Builds the parts that watch agents in terminals, start them, and deliver messages. */
export function wireQueue(parts: QueueParts) {
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
    paneOf: (team) => supervisor.paneOf(team),
    onTrouble: (err, what) => log.warn({ err, what }, "a session could not be watched"),
  })
  const supervisor: Supervisor = makeSupervisor({
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
  const reach = makeMessageQueue({
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
    wake: supervisor.wake,
    redact: redactorOf(config.capture),
    labelOf,
    logPlatforms: parts.platforms.filter(({ can }) => can.logs).map(({ id }) => id),
    hasSpooled: async () => (await spool.names()).length > 0,
    onTrouble: (err, what) => log.warn({ err, what }, "a message could not be brought"),
  })
  return { watching, supervisor, reach, panes }
}
