import { spawn } from "node:child_process"
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { type Caller, isOwner } from "../../domain/caller.ts"
import { Failure, type FailureBody } from "../../domain/failure.ts"
import { newKey } from "../../domain/ids.ts"
import { sleep } from "../../lib/clock.ts"
import type { Call } from "../../operations/invoke.ts"
import { CALLER_HEADER, type Carrier, remote, TOOLS_HEADER } from "../../surfaces/http/client.ts"
import { OWNER_HEADER, ownerProof } from "../../surfaces/http/proof.ts"
import { ConnectionLost, socketCarrier, upgrade } from "../../surfaces/http/socket.ts"
import { ownProgram } from "../own-program.ts"
import { daemonEnvironment } from "../process/environment.ts"
import { type Home, homeFailure, ownerKeyOf, prepareHome } from "../process/home.ts"
import { processStart } from "../process/process-identity.ts"
import { compareVersions, VERSION } from "../version.ts"
import { type Registration, readRegistration } from "../wiring/registration.ts"

/** The daemon runs all day: returning memory matters more than peak speed. */
const SMALL = ["--max-semi-space-size=1", "--optimize-for-size", "--expose-gc"]
const START_MS = 20_000
const STOP_MS = 10_000
const POLL_MS = 25
const HEALTH_MS = 1_000
const ERROR_BYTES = 64 * 1024

/** The command that starts a daemon: this Node and this program, by absolute path. */
export function daemonArgv(): string[] {
  const { node, entry } = ownProgram()
  return [node, ...SMALL, entry, "daemon"]
}

/** The registered daemon if it answers. Starts and signals nothing. */
export async function runningDaemon(home: Home): Promise<Registration | undefined> {
  const registration = readRegistration(home)
  if (!registration) return undefined
  const carry = socketCarrier(registration.socket, HEALTH_MS)
  try {
    const { body } = await health(carry)
    return (JSON.parse(body) as { id?: unknown }).id === registration.id ? registration : undefined
  } catch {
    return undefined
  } finally {
    carry.close()
  }
}

/** Starts a daemon if none answers, and replaces one that is older than this program. */
export async function ensureDaemon(
  home: Home,
  flags: string[] = [],
): Promise<{ registration: Registration; started: boolean }> {
  const deadline = Date.now() + START_MS
  let child: Child | undefined
  let started = false
  try {
    while (Date.now() < deadline) {
      const registration = await runningDaemon(home)
      if (registration && compareVersions(registration.version, VERSION) >= 0) return { registration, started }
      if (registration) await stopDaemon(home)
      if (!child || child.hasExited()) {
        // It may have lost the race to another client's daemon, which then answers in a moment.
        child?.throwIfFailed()
        prepareHome(home)
        child = launch(home, flags)
        started = true
      }
      await sleep(POLL_MS)
    }
  } finally {
    child?.forget()
  }
  const registration = readRegistration(home)
  if (registration && isSameProcess(registration)) {
    throw hung(registration, "runs but does not answer")
  }
  throw new Failure("daemon_unreachable", `the daemon did not start within ${START_MS / 1000} s`)
}

/** Asks the daemon to stop, waits, and only then signals a process verified to be it. True if one was running. */
export async function stopDaemon(home: Home, force = false): Promise<boolean> {
  const registration = readRegistration(home)
  if (!registration || !isSameProcess(registration)) return false
  const carry = socketCarrier(registration.socket, HEALTH_MS)
  const asked = await carry({ path: "/stop", body: "{}", headers: { "content-type": "application/json" } }).catch(
    () => undefined,
  )
  carry.close()
  if (asked?.status === 200 && (await gone(registration, STOP_MS))) return true
  if (!force && asked?.status !== 200) throw hung(registration, "runs but does not answer")
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (!isSameProcess(registration)) return true
    process.kill(registration.pid, signal)
    if (await gone(registration, STOP_MS / 2)) return true
  }
  throw hung(registration, "could not be killed")
}

const hung = ({ pid }: Registration, why: string) =>
  new Failure("daemon_hung", `the daemon (pid ${pid}) ${why}`, { pid })

export interface DaemonCalls {
  /** Starts the daemon if none answers, even if it died since the last call. */
  call: Call
  /** Fails when none is running. */
  callIfRunning: Call
  close(): void
}

/** Every call has an idempotency key, so one cut off by a dying daemon can be repeated safely. */
export function daemonCalls(home: Home): DaemonCalls {
  let carrier: ReturnType<typeof socketCarrier> | undefined
  const drop = () => {
    carrier?.close()
    carrier = undefined
  }
  const attempt: Call = async (name, input, caller) => {
    carrier ??= socketCarrier((await ensureDaemon(home)).registration.socket)
    return remote(signed(carrier, home, caller))(name, input, caller)
  }
  return {
    async call(name, input, caller) {
      const keyed = { ...caller, idempotencyKey: caller.idempotencyKey ?? newKey() }
      for (let left = 3; ; left--) {
        try {
          return await attempt(name, input, keyed)
        } catch (error) {
          if (!(error instanceof ConnectionLost)) throw error
          drop()
          if (left === 0) throw lost(error)
        }
      }
    },
    async callIfRunning(name, input, caller) {
      const registration = await runningDaemon(home)
      if (!registration)
        throw new Failure("daemon_unreachable", "Throughline isn't running. Start it with `throughline start`")
      const carry = socketCarrier(registration.socket)
      try {
        return await remote(signed(carry, home, caller))(name, input, caller)
      } finally {
        carry.close()
      }
    },
    close: drop,
  }
}

/** Proves with the owner's key file that the owner makes this call. */
function signed(carry: Carrier, home: Home, caller: Caller): Carrier {
  if (!isOwner(caller)) return carry
  return (request) =>
    carry({
      ...request,
      headers: { ...request.headers, [OWNER_HEADER]: ownerProof(ownerKeyOf(home), request, Date.now()) },
    })
}

/** A connection that carries an agent's MCP lines; the daemon is started if none answers. */
export async function openStream(
  home: Home,
  { caller, tools, onBytes }: { caller: Caller; tools: readonly string[]; onBytes(bytes: Buffer): void },
): Promise<Duplex> {
  for (let left = 3; ; left--) {
    const { registration } = await ensureDaemon(home)
    try {
      const headers = {
        [CALLER_HEADER]: encodeURIComponent(JSON.stringify(caller)),
        [TOOLS_HEADER]: tools.join(","),
      }
      return await upgrade(registration.socket, headers, onBytes)
    } catch (error) {
      if (left === 0) throw lost(error)
    }
  }
}

const lost = (cause: unknown) =>
  new Failure("daemon_unreachable", "the connection to the daemon was lost repeatedly", {}, { cause })

const health = (carry: ReturnType<typeof socketCarrier>) =>
  carry({ path: "/health", body: "{}", headers: { "content-type": "application/json" } })

function isSameProcess({ pid, processStart: start }: Registration): boolean {
  return start !== "" && processStart(pid) === start
}

async function gone(registration: Registration, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while (Date.now() < deadline) {
    if (!isSameProcess(registration)) return true
    await sleep(POLL_MS)
  }
  return false
}

interface Child {
  hasExited(): boolean
  /** Throws the failure that the daemon reported when it exited, if any. */
  throwIfFailed(): void
  forget(): void
}

function launch(home: Home, flags: string[]): Child {
  const errors = join(home.logs, `start-${process.pid}-${newKey().slice(0, 8)}.err`)
  const fd = openErrorFile(home, errors)
  const [program = "", ...args] = daemonArgv()
  const child = spawn(program, [...args, ...flags.flatMap((flag) => ["--set", flag])], {
    detached: true,
    cwd: home.dir,
    env: daemonEnvironment(),
    stdio: ["ignore", "ignore", fd],
  })
  closeSync(fd)
  child.unref()
  let exitCode: number | null = null
  child.once("exit", (code) => {
    // Killed by a signal: counts as exit 0, so another start is tried.
    exitCode = code ?? 0
  })
  child.once("error", () => {
    exitCode = 1
  })
  return {
    hasExited: () => exitCode !== null,
    throwIfFailed() {
      if (exitCode === 0) return
      const said = existsSync(errors) ? readFileSync(errors, "utf8").trim() : ""
      throw failureFrom(said, exitCode)
    },
    forget: () => rmSync(errors, { force: true }),
  }
}

/** Reserves space for the error message: a full disk would keep the daemon from reporting it. */
function openErrorFile(home: Home, path: string): number {
  try {
    const fd = openSync(path, "w", 0o600)
    writeSync(fd, Buffer.alloc(ERROR_BYTES), 0, ERROR_BYTES, 0)
    ftruncateSync(fd, 0)
    return fd
  } catch (error) {
    rmSync(path, { force: true })
    throw homeFailure(home, error) ?? error
  }
}

function failureFrom(said: string, exitCode: number | null): Failure {
  try {
    return Failure.fromBody(JSON.parse(said.split("\n").at(-1) ?? "") as FailureBody)
  } catch {
    return new Failure(
      "daemon_unreachable",
      `the daemon exited immediately (exit code ${exitCode}): ${said.slice(-500) || "no output"}`,
    )
  }
}
