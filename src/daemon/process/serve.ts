import { randomBytes } from "node:crypto"
import { chmodSync, existsSync, rmSync } from "node:fs"
import type { Server } from "node:http"
import { fileURLToPath } from "node:url"
import type { Hono } from "hono"
import { redactorOf } from "../../capture/watch/rules.ts"
import { newKey } from "../../domain/ids.ts"
import { after } from "../../lib/clock.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { operations } from "../../operations/list.ts"
import { writeHookScript } from "../../setup/module.ts"
import { httpApp } from "../../surfaces/http/http.ts"
import { loadConfig } from "../config/config.ts"
import { LOOPBACK } from "../config/config-check.ts"
import { putSecretsAside } from "../config/secrets.ts"
import type { Config } from "../config/settings.ts"
import { ownProgram } from "../own-program.ts"
import { VERSION } from "../version.ts"
import { type Registration, readRegistration, removeRegistration, writeRegistration } from "../wiring/registration.ts"
import { wire } from "../wiring/wire.ts"
import { watchBugs } from "./bugs.ts"
import type { Environment } from "./environment.ts"
import { homeAt, ownerKeyOf, prepareHome, tokenOf } from "./home.ts"
import { listening } from "./listening.ts"
import { takeLock } from "./lock.ts"
import { openLog } from "./log.ts"
import { processStart } from "./process-identity.ts"
import { shutdown } from "./shutdown.ts"

const WEB_DIR = fileURLToPath(new URL("../web", import.meta.url))
/** How soon a daemon notices that its data directory, or its registration, was deleted. */
const LOOK_MS = 2_000

/** Runs the daemon in this process until it is told to stop. Resolves false if another one has this data directory. */
export async function serve(environment: Environment, flags: string[]): Promise<boolean> {
  const home = homeAt(environment.home, environment.tempDir)
  prepareHome(home)
  const lock = takeLock(home)
  if (!lock) return false
  const load = () => loadConfig({ path: home.config, environment: environment.settings, flags }).config
  const config = load()
  putSecretsAside(home, environment.machine.env)
  const log = openLog(home, config.log.level, redactorOf(config.capture))
  log.info({ version: VERSION, node: process.version }, "starting")

  const startedAt = new Date().toISOString()
  let registration: Registration = {
    id: newKey(),
    version: VERSION,
    pid: process.pid,
    processStart: processStart(process.pid) ?? "",
    socket: home.socket,
    startedAt,
  }
  let httpTrouble: string | undefined
  /** Dies with this process: useless to whoever takes the port later. */
  const sessionKey = randomBytes(32).toString("base64url")
  let stop = () => {}
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  process.on("SIGTERM", stop)
  process.on("SIGINT", stop)
  process.on("SIGHUP", () => {})
  const bugs = watchBugs(log, () => stop())

  const program = await wire({
    config,
    readConfig: load,
    environment,
    flags,
    home,
    log,
    registration: () => registration,
    httpTrouble: () => httpTrouble,
    bugs,
    sessionKey,
  })
  const ending = new AbortController()
  const shared = {
    operations,
    call: program.call,
    mcp: program.mcp,
    identity: { id: registration.id, version: VERSION, pid: process.pid },
    feed: program.feed,
    ending: ending.signal,
    onBug: (err: unknown, path: string) => log.error({ err, path }, "a request failed in a way it should not"),
  }
  const ownerKey = ownerKeyOf(home)
  const onSocket = await listenOnSocket(
    httpApp({
      ...shared,
      ownerKey,
      onStop: stop,
      onHook: program.onHook,
      onWait: program.onWait,
      onAsk: program.onAsk,
    }),
    home.socket,
  )
  onSocket.on("upgrade", program.streams.onUpgrade)
  let onHttp: Server | undefined
  if (config.http.enabled) {
    // The proxy's host names, or exactly this address: another loopback port may belong to anyone.
    const isOwnOrigin = (origin: string) =>
      origin === originOf(registration.url) || config.http.hosts.includes(URL.parse(origin)?.hostname ?? "")
    const hosts = [...LOOPBACK, config.http.host, ...config.http.hosts].map((name) => name.toLowerCase())
    try {
      onHttp = await listenOnPort(
        httpApp({
          ...shared,
          webDir: WEB_DIR,
          guard: { token: tokenOf(home), sessionKey, ownerKey, hosts, isOwnOrigin },
        }),
        config,
      )
      registration = { ...registration, url: urlOf(onHttp, config) }
    } catch (error) {
      // The socket serves everything, so a port in use is not fatal.
      httpTrouble = `port ${config.http.port} cannot be used (${(error as NodeJS.ErrnoException).code ?? error}); set http.port`
      log.warn({ err: error }, "HTTP is off")
    }
  }
  if (existsSync(home.hook))
    writeHookScript({ hook: home.hook, socket: home.socket, spoolDir: home.spool }, ownProgram())
  writeRegistration(home, registration)
  log.info({ socket: home.socket, http: registration.url ?? httpTrouble ?? "off" }, "ready")

  // A full or unreadable disk ends no sessions: retry.
  void superviseLoop({
    name: "data directory check",
    signal: ending.signal,
    everyMs: LOOK_MS,
    mostRetryMs: LOOK_MS,
    round() {
      if (!lock.isInPlace()) {
        log.warn("the data directory was deleted")
        stop()
      } else if (readRegistration(home)?.id !== registration.id) writeRegistration(home, registration)
    },
    onTrouble: (err) => log.warn({ err }, "the data directory could not be checked"),
  })
  await stopped
  log.info("stopping")
  await shutdown(
    [
      { name: "registration", run: () => removeRegistration(home, registration.id) },
      {
        name: "http",
        run: () => {
          ending.abort()
          return closeServer(onHttp)
        },
      },
      {
        name: "socket",
        run: () => {
          // Closing deletes the file by name; in a recreated data directory it is another daemon's.
          const closed = lock.isInPlace() ? closeServer(onSocket) : undefined
          // A server closes with its last connection, and agents keep theirs open.
          program.streams.close()
          program.endWaiting()
          return closed
        },
      },
      ...program.stops,
      { name: "socket file", run: () => (lock.isInPlace() ? rmSync(home.socket, { force: true }) : undefined) },
      { name: "lock", run: lock.release },
    ],
    log,
  )
  log.info("stopped")
  return true
}

async function listenOnSocket(app: Hono, path: string): Promise<Server> {
  // We hold the lock, so an existing socket is stale.
  rmSync(path, { force: true })
  const before = process.umask(0o177)
  try {
    const server = await listening(app, (server) => server.listen(path))
    chmodSync(path, 0o600)
    return server
  } finally {
    process.umask(before)
  }
}

function listenOnPort(app: Hono, { http }: Config): Promise<Server> {
  return listening(app, (server) => server.listen(http.port, http.host.replace(/^\[|\]$/g, "")))
}

const originOf = (url: string | undefined) => (url === undefined ? undefined : URL.parse(url)?.origin)

function urlOf(server: Server, { http }: Config): string {
  const address = server.address()
  return `http://${http.host}:${typeof address === "object" && address ? address.port : http.port}`
}

async function closeServer(server: Server | undefined): Promise<void> {
  if (!server) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cancel = after(2_000, () => server.closeAllConnections())
  await closed
  cancel()
}
