import { hostname } from "node:os"
import { Worker } from "node:worker_threads"
import { platforms } from "../adapters/platforms/list.ts"
import { agents } from "../adapters/setup/list.ts"
import { systemClock } from "../domain/clock.ts"
import { Failure } from "../domain/failure.ts"
import type { SentHook } from "../domain/hook.ts"
import type { Follower } from "../domain/journal.ts"
import type { Store } from "../domain/store.ts"
import { type Call, local } from "../operations/invoke.ts"
import { operations } from "../operations/list.ts"
import type { SystemStatus } from "../operations/services.ts"
import { makeRecall } from "../recall/room.ts"
import { makeCapture } from "../sessions/capture/room.ts"
import { makeSessions } from "../sessions/room.ts"
import { openStore } from "../store/open.ts"
import { postgres } from "../store/postgres.ts"
import { sqlite } from "../store/sqlite.ts"
import { type McpHttp, mcpHttp } from "../surfaces/mcp-http.ts"
import { mcpStreams } from "../surfaces/mcp-stream.ts"
import type { Config } from "./config.ts"
import type { Environment } from "./environment.ts"
import { follow } from "./followers.ts"
import { damagedFiles, type Home } from "./home.ts"
import type { Log } from "./log.ts"
import type { Registration } from "./registration.ts"
import type { Step } from "./shutdown.ts"
import { VERSION } from "./version.ts"
import { watchPlace } from "./watch.ts"

export interface Program {
  call: Call
  onHook(sent: SentHook): Promise<void>
  mcp: McpHttp
  streams: ReturnType<typeof mcpStreams>
  /** In the order in which they must run: nothing new, then what runs, then the store. */
  stops: Step[]
}

const SWEEP_MS = 60 * 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000

/** The only place that builds things; read it from top to bottom. */
export async function wire({
  config,
  environment,
  home,
  log,
  registration,
  httpTrouble,
}: {
  config: Config
  environment: Environment
  home: Home
  log: Log
  registration: () => Registration
  httpTrouble: () => string | undefined
}): Promise<Program> {
  const clock = systemClock
  const store = await openStore(
    config.database.url === undefined
      ? sqlite({
          path: home.database,
          onKeptAside: (path) => log.error({ path }, "the database was damaged; it is kept aside and a new one begins"),
        })
      : postgres({ url: config.database.url, onError: (err) => log.warn({ err }, "a database connection failed") }),
  )
  const sessions = makeSessions({ store, clock, homeDir: environment.homeDir, tempDir: environment.tempDir })
  const capture = makeCapture({
    store,
    clock,
    projects: sessions.projects,
    platforms,
    machine: environment.machine,
    settings: config.capture,
    hooks: {
      // With capture off, what hooks say is taken and not kept.
      agents: config.capture.enabled ? agents : [],
      spoolDir: home.spool,
      host: hostname(),
      onTrouble: (err, what) => log.warn({ err, what }, "what a hook said could not be taken"),
    },
    watch: watchPlace,
    startReader: () => new Worker(new URL("../daemon/reader.js", import.meta.url), { workerData: config.capture }),
    // An import leaves a heap behind that nothing makes V8 give back while nothing happens.
    onRest: () => void globalThis.gc?.({ type: "major", execution: "async", flavor: "last-resort" }),
    onTrouble: (source, err) => log.warn({ ...source, err }, "a source could not be read"),
  })
  const recall = makeRecall({ store })

  const followers: Follower[] = [recall.indexer]
  const stopping = new AbortController()
  const running = followers.map((follower) =>
    follow(store, follower, log.child({ room: "followers" }), stopping.signal),
  )

  if (config.capture.enabled) running.push(capture.capturing.run(stopping.signal))
  running.push(capture.intake.run(stopping.signal))

  const sweep = () =>
    sessions.keeping
      .archiveUntouched(config.sessions.archiveAfterDays * DAY_MS)
      .then((count) => count > 0 && log.info({ count }, "archived sessions left alone"))
      .catch((err: unknown) => log.error({ err }, "the archive sweep failed"))
  const sweeper = setInterval(sweep, SWEEP_MS)
  void sweep()

  const system = { status: () => statusOf({ store, followers, home, registration, httpTrouble }) }
  const call = reporting(local(operations, { sessions, capture, recall, system }), log)
  const mcp = mcpHttp({ operations, call, version: VERSION })
  const streams = mcpStreams({ operations, call, version: VERSION })
  return {
    call,
    onHook: capture.intake.receive,
    mcp,
    streams,
    stops: [
      { name: "mcp connections", run: () => mcp.close() },
      { name: "sweeper", run: () => clearInterval(sweeper) },
      {
        name: "followers and capture",
        run: async () => {
          stopping.abort()
          await Promise.all(running)
        },
      },
      { name: "store", run: () => store.close() },
    ],
  }
}

/** What is not a Failure is a bug, and the log must have it whole. */
function reporting(call: Call, log: Log): Call {
  return async (name, input, caller) => {
    try {
      return await call(name, input, caller)
    } catch (error) {
      const failure = Failure.from(error)
      if (failure.code === "internal")
        log.error({ operation: name, err: failure.cause ?? failure }, "an operation failed in a way it should not")
      else log.debug({ operation: name, code: failure.code }, failure.message)
      throw failure
    }
  }
}

async function statusOf({
  store,
  followers,
  home,
  registration,
  httpTrouble,
}: {
  store: Store
  followers: Follower[]
  home: Home
  registration: () => Registration
  httpTrouble: () => string | undefined
}): Promise<SystemStatus> {
  const { id, version, pid, startedAt, socket, url } = registration()
  const last = await store.journal.last()
  const trouble = httpTrouble()
  return {
    id,
    version,
    pid,
    startedAt,
    home: home.dir,
    socket,
    http: { ...(url === undefined ? {} : { url }), ...(trouble === undefined ? {} : { trouble }) },
    memoryMb: Math.round(process.memoryUsage.rss() / 1e6),
    store: await store.facts(),
    followers: await Promise.all(
      followers.map(async ({ name }) => ({ name, lag: last - (await store.journal.position(name)) })),
    ),
    notices: damagedFiles(home).map((path) => `A damaged database was kept aside at ${path}; a new one is in use.`),
  }
}
