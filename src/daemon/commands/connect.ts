import { spawn } from "node:child_process"
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type Caller, isOwner } from "../../domain/caller.ts"
import { Failure, type FailureBody } from "../../domain/failure.ts"
import { newKey } from "../../domain/ids.ts"
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

/** It runs all day beside everything else: memory that is given back counts for more than the last bit of speed. */
const SMALL = ["--max-semi-space-size=1", "--optimize-for-size", "--expose-gc"]
const START_MS = 20_000
const STOP_MS = 10_000
const POLL_MS = 25
const HEALTH_MS = 1_000
const SPEECH_BYTES = 64 * 1024

/** What a daemon is started as: this Node and this program, by their whole paths. */
export function daemonArgv(): string[] {
  const { node, entry } = ownProgram()
  return [node, ...SMALL, entry, "daemon"]
}

/** The daemon that answers behind the registration, or undefined. Nothing is started or signalled. */
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
        // It may have lost the race to another client's daemon: then that one answers in a moment.
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
    throw new Failure("daemon_hung", `the daemon (pid ${registration.pid}) runs but does not answer`, {
      pid: registration.pid,
    })
  }
  throw new Failure("daemon_unreachable", `the daemon did not start within ${START_MS / 1000} s`)
}

/** Asks it to stop, waits, and only then signals a process that is proved to be it. True if one was running. */
export async function stopDaemon(home: Home, force = false): Promise<boolean> {
  const registration = readRegistration(home)
  if (!registration || !isSameProcess(registration)) return false
  const carry = socketCarrier(registration.socket, HEALTH_MS)
  const asked = await carry({ path: "/stop", body: "{}", headers: { "content-type": "application/json" } }).catch(
    () => undefined,
  )
  carry.close()
  if (asked?.status === 200 && (await gone(registration, STOP_MS))) return true
  if (!force && asked?.status !== 200) {
    throw new Failure("daemon_hung", `the daemon (pid ${registration.pid}) runs but does not answer`, {
      pid: registration.pid,
    })
  }
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (!isSameProcess(registration)) return true
    process.kill(registration.pid, signal)
    if (await gone(registration, STOP_MS / 2)) return true
  }
  throw new Failure("daemon_hung", `the daemon (pid ${registration.pid}) could not be killed`, {
    pid: registration.pid,
  })
}

export interface DaemonCalls {
  /** Starts the daemon when none answers, also when it dies between two calls. */
  call: Call
  /** Fails when none is running. */
  callIfRunning: Call
  close(): void
}

/** Every call carries a key, so that one cut off by a dying daemon can be made again without being done twice. */
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
          if (left === 0)
            throw new Failure(
              "daemon_unreachable",
              "the connection to the daemon was lost repeatedly",
              {},
              { cause: error },
            )
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

/** What the owner types is proved by the key's file: the daemon takes nobody's word for it. */
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
      if (left === 0) {
        throw new Failure(
          "daemon_unreachable",
          "the connection to the daemon was lost repeatedly",
          {},
          { cause: error },
        )
      }
    }
  }
}

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
  /** Throws what the daemon said on its way out, if that was a failure. */
  throwIfFailed(): void
  forget(): void
}

function launch(home: Home, flags: string[]): Child {
  const errors = join(home.logs, `start-${process.pid}-${newKey().slice(0, 8)}.err`)
  const fd = roomToSpeak(home, errors)
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
    // One that was killed had no reason of its own to end: the next may live.
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

/** A full disk would keep the daemon from starting, and from saying so. */
function roomToSpeak(home: Home, path: string): number {
  try {
    const fd = openSync(path, "w", 0o600)
    writeSync(fd, Buffer.alloc(SPEECH_BYTES), 0, SPEECH_BYTES, 0)
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
