import { hostname } from "node:os"
import { Worker } from "node:worker_threads"
import { o200k } from "../../adapters/tokens/o200k.ts"
import { knownClients } from "../../agents/known-clients.ts"
import { agentSetups, createDrivers, handoffTargets, platforms } from "../../agents/list.ts"
import { makeCapture } from "../../capture/module.ts"
import { markMissedStart } from "../../capture/read/spool.ts"
import type { CaptureProgress } from "../../capture/store/capturing.ts"
import { redactorOf } from "../../capture/watch/rules.ts"
import { makeClients } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import type { JournalConsumer } from "../../domain/journal.ts"
import { systemClock } from "../../lib/clock.ts"
import { updatesConsumer } from "../../live/updates/consumer.ts"
import { makeUpdates } from "../../live/updates/pull.ts"
import { type Call, local } from "../../operations/invoke.ts"
import { operations } from "../../operations/list.ts"
import type { SystemService } from "../../operations/services.ts"
import { makeHandoff } from "../../search/handoff/module.ts"
import { makeSearch } from "../../search/module.ts"
import { makeSessions } from "../../sessions/module.ts"
import { readTaskFile } from "../../sessions/task-file.ts"
import { makeTasks } from "../../sessions/task-state.ts"
import { postgres } from "../../store/dialects/postgres.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import type { Feed } from "../../surfaces/http/events.ts"
import { type McpHttp, mcpHttp } from "../../surfaces/mcp/mcp-http.ts"
import { mcpStreams } from "../../surfaces/mcp/mcp-stream.ts"
import { makeAnalytics } from "../../teams/analytics.ts"
import { makeTeams } from "../../teams/module.ts"
import { makeRoster } from "../../teams/roster.ts"
import { configFile } from "../config/config-file.ts"
import type { Config } from "../config/settings.ts"
import { examine, verdict } from "../doctor/doctor.ts"
import type { Bugs } from "../process/bugs.ts"
import type { Environment } from "../process/environment.ts"
import type { Home } from "../process/home.ts"
import type { FileLog } from "../process/log.ts"
import { privacy } from "../process/own-files.ts"
import { isRunning, processStart } from "../process/process-identity.ts"
import type { ShutdownStep } from "../process/shutdown.ts"
import { startIndexer } from "../process/start-indexer.ts"
import { statusOf } from "../process/status.ts"
import { upkeep } from "../process/upkeep.ts"
import { VERSION } from "../version.ts"
import { type AgentHooks, agentHooks, makeMissedStarts } from "./agent-hooks.ts"
import { openAsking } from "./approvals.ts"
import { openAuditing } from "./auditing.ts"
import { openBot } from "./bot.ts"
import { knownByProcess, reporting } from "./calls.ts"
import { openChannel } from "./channel.ts"
import { consume } from "./consumers.ts"
import { maintenanceOf } from "./pair-keeper.ts"
import type { Registration } from "./registration.ts"
import { makeStartContext } from "./start-context.ts"
import { teamsFile } from "./teams-file.ts"
import { openPermits, permitFor } from "./teams-permits.ts"
import { ownServer, teamsRecords } from "./teams-records.ts"
import { watchConfig, watchPlace } from "./watch.ts"
import { wireQueue } from "./wire-queue.ts"

export interface RunningProgram extends AgentHooks {
  call: Call
  /** Ends long polls, so that the socket can close. */
  endWaiting(): void
  mcp: McpHttp
  feed: Feed
  streams: ReturnType<typeof mcpStreams>
  /** In order: stop intake, then running work, then the store. */
  stops: ShutdownStep[]
}

/** The only place that builds things, with wire-queue.ts for those that reach agents; read it from top to bottom. */
export async function wire(given: {
  config: Config
  /** The current file, for settings that may change at run time; throws if it is invalid. */
  readConfig: () => Config
  environment: Environment
  /** Settings of this run, over file and environment. */
  flags: string[]
  home: Home
  log: FileLog
  registration: () => Registration
  httpTrouble: () => string | undefined
  bugs: Bugs
  sessionKey: string
}): Promise<RunningProgram> {
  const { config, readConfig, environment, flags, home, log, registration, httpTrouble, bugs, sessionKey } = given
  const clock = systemClock
  const store = await openStore(
    config.database.url === undefined
      ? sqlite({
          path: home.database,
          onKeptAside: (path) => log.error({ path }, "the database was damaged and moved aside; a new one is in use"),
        })
      : postgres({ url: config.database.url, onError: (err) => log.warn({ err }, "a database connection failed") }),
  )
  const readTeams = () => readConfig().teams
  const roster = makeRoster({ read: readTeams, readAllowed: () => readConfig().settings.allowedDirectories })
  const unwatch = watchConfig(home.config, roster.reload)
  const own = privacy(home, config.capture, log)
  const sessions = makeSessions({ ...environment, ...own, store, clock, isAlive: isRunning })
  const missed = makeMissedStarts(clock, () => {
    markMissedStart(home.spool).catch((err: unknown) => log.warn({ err }, "a prompt's hook was given no more time"))
  })
  const clients = makeClients({ platforms, others: knownClients, redact: redactorOf(config.capture) })
  const capture = makeCapture({
    store,
    clock,
    clients,
    projects: sessions.projects,
    platforms,
    ...environment,
    settings: config.capture,
    hooks: {
      // With capture off, hook events are accepted and dropped.
      agents: config.capture.enabled ? agentSetups : [],
      spoolDir: home.spool,
      host: hostname(),
      onTrouble: (err, what) => log.warn({ err, what }, "what a hook said could not be taken"),
      onSpooled: missed.add,
    },
    configured: () => config.capture.folders,
    teamDirs: () => roster.list().map(({ projectDir }) => projectDir),
    watch: watchPlace,
    startReader: () => new Worker(new URL("../daemon/reader.js", import.meta.url), { workerData: config.capture }),
    // V8 does not return an import's heap while idle.
    onRest() {
      void store.rest()
      void globalThis.gc?.({ type: "major", execution: "async", flavor: "last-resort" })
    },
    onTrouble: (source, err) => log.warn({ ...source, err }, "a source could not be read"),
  })
  const archive = config.database.url === undefined ? { path: home.database } : { url: config.database.url }
  const tokens = o200k(new URL("../o200k.tokens", import.meta.url))
  const labelOf = (platform: string) => platforms.find(({ id }) => id === platform)?.label ?? platform
  const recall = makeSearch({
    store,
    tokens,
    labelOf,
    startContext: config.resume,
    start: () => startIndexer({ archive, indexPath: home.index, vectorsPath: home.vectors, embedder: config.embedder }),
    imported: config.capture.enabled ? capture.capturing.imported : Promise.resolve(),
    isBusy: () => config.capture.enabled && isImporting(capture.capturing.progress()),
    onTrouble: (err, what) => log.error({ err }, what),
    onRebuild: (reason) => log.warn({ reason }, "the search index is being rebuilt"),
  })
  const [{ briefs }, { machine }, promptDir] = [recall, environment, home.handoffs]
  const handoff = makeHandoff({ store, clock, tokens, briefs, platforms, handoffTargets, machine, promptDir })

  const { rules } = capture
  const taskFile = (projectDir: string) => readTaskFile(projectDir, rules)
  const tasks = makeTasks({
    store,
    clock,
    homeDir: environment.homeDir,
    projects: sessions.projects,
    rules,
    mirrorDirs: (dir) => roster.at(dir).flatMap((team) => (team.taskStateFile ? [team.projectDir] : [])),
    onTrouble: (err, path) => log.warn({ err, path }, "the state of a task could not be written to its file"),
  })

  const parts = { store, clock, config, home, log, roster, clients, machine, labelOf }
  const queue = wireQueue({ ...parts, taskFile, platforms, meet: capture.intake.meet })
  const { watching, supervisor, reach } = queue
  const permits = await openPermits(parts)
  const channel = await openChannel({ ...parts, environment, permits, ...queue })

  const records = teamsRecords({
    store,
    capture,
    briefs,
    live: watching.live,
    projects: sessions.projects,
    messages: reach.messages,
    isCaptured: config.capture.enabled,
  })
  const teams = makeTeams({
    store,
    clock,
    roster,
    clients,
    file: teamsFile(home.config, readTeams),
    drivers: await createDrivers(),
    machine,
    settings: { ...config.settings, maxMessageBytes: config.queue.maxMessageBytes },
    host: hostname(),
    home: home.dir,
    mcp: ownServer(home),
    permit: permitFor(permits, { store, roster, meet: capture.intake.meet }),
    redact: rules.redact,
    processStart,
    ...records,
    onTrouble: (err, what) => log.warn({ err, what }, "teams that are asked"),
  })
  const { intake } = capture
  const asking = openAsking({ ...parts, permits, live: watching.live, intake })
  const updates = makeUpdates({
    store,
    roster,
    beforeMail: reach.beforePull,
    takeMail: async (team, caller) => {
      const { mail, hasMore } = await reach.pull(team, caller)
      return { mail: [...mail, ...(await teams.pull(team.name))], hasMore }
    },
  })
  const composeStartContext = makeStartContext({
    ...{ store, roster, taskFile, host: hostname() },
    brief: (begun) => recall.startContext(begun),
    notices: teams.startNotices,
    isAlive: isRunning,
    onTrouble: (err, what) => log.warn({ err }, what),
  })

  const consumers: JournalConsumer[] = [
    updatesConsumer(roster, watching.watch),
    ...capture.consumers,
    ...reach.consumers,
    ...channel.consumers,
  ]
  const stopping = new AbortController()
  const running = consumers.map((consumer) =>
    consume(store, consumer, log.child({ module: "consumers" }), stopping.signal),
  )

  if (config.capture.enabled) running.push(capture.capturing.run(stopping.signal))
  running.push(capture.intake.run(stopping.signal), recall.run(stopping.signal), watching.watch.run(stopping.signal))
  running.push(reach.run(stopping.signal), supervisor.run(stopping.signal), teams.run(stopping.signal))
  running.push(channel.run(stopping.signal), asking.run(stopping.signal))
  running.push(maintenanceOf({ ...parts, teams, records }).run(stopping.signal))
  running.push(...upkeep({ store, sessions, config, log }, stopping.signal))

  const telegram = await openBot(parts)
  const system: SystemService = {
    status: () => statusOf({ store, recall, roster, bot: telegram, home, registration, httpTrouble, bugs }),
    async examine() {
      const findings = await examine(home, environment, { callIfRunning: call })
      return { findings, verdict: verdict(findings) }
    },
    config: configFile({ path: home.config, environment: environment.settings, flags, registration }),
    dashboard() {
      const { url } = registration()
      if (url !== undefined) return { url, key: sessionKey }
      throw new Failure("daemon_unreachable", "the dashboard needs HTTP, which is off: see `throughline doctor`")
    },
  }
  const modules = { sessions, capture, recall, handoff, reach, live: watching.live, tasks, teams, supervisor }
  const audited = await openAuditing({ home, store, clock, permits, redact: rules.redact, log })
  const services = { ...modules, updates, analytics: makeAnalytics({ store }), telegram, system, ...audited }
  // Finds a log in a caller's folder even before the first message there.
  const onCaller = config.capture.enabled ? capture.folders.met : () => {}
  const run = knownByProcess({ store, clients, host: hostname() }, local(operations, services))
  const call: Call = reporting((name, input, caller) => {
    onCaller(caller)
    return run(name, input, caller)
  }, log)
  const mcp = mcpHttp({ operations, call, version: VERSION })
  return {
    call,
    ...agentHooks({ agents: agentSetups, intake: capture.intake, composeStartContext, missed, reach, asking }),
    endWaiting: () => void [reach.endWaiting(), teams.endWaiting(), permits.close()],
    mcp,
    feed: { last: store.journal.last, after: store.journal.after, onWake: store.onWake },
    streams: mcpStreams({ operations, call, version: VERSION, onOpen: onCaller }),
    stops: [
      { name: "mcp connections", run: () => mcp.close() },
      { name: "configuration", run: unwatch },
      {
        name: "consumers and capture",
        run: async () => {
          stopping.abort()
          await Promise.all(running)
        },
      },
      { name: "store", run: () => store.close() },
    ],
  }
}

/** A few sources at a time do not count as an import. */
const isImporting = ({ importing, sourcesLeft }: CaptureProgress) => importing || sourcesLeft > 20
