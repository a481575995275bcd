import { createHash } from "node:crypto"
import { join } from "node:path"
import { launchd } from "../../adapters/services/launchd.ts"
import { systemd } from "../../adapters/services/systemd.ts"
import { Failure } from "../../domain/failure.ts"
import { SERVICE_MARK, type ServiceManager } from "../../domain/service.ts"
import { sleep } from "../../lib/clock.ts"
import { readBytes, removeFile, writeWhole } from "../../setup/files.ts"
import { daemonArgv, runningDaemon, stopDaemon } from "../commands/connect.ts"
import { daemonEnvironment, type Environment } from "./environment.ts"
import { type Home, prepareHome } from "./home.ts"

export interface ServiceState {
  manager: string
  path: string
  /** Whether its file is what this program would write now. */
  file: "there" | "other" | "none"
  isReachable: boolean
  isActive: boolean
}

export interface ServiceChange {
  path: string
  isChanged: boolean
  /** The commands that were run, or that the user must run if the manager does not answer. */
  commands: string[]
  isReachable: boolean
  isRunning: boolean
  notes: string[]
}

const ANSWER_MS = 15_000

/** Runs the daemon from login on, through the system's service manager. */
export function makeService(home: Home, environment: Environment) {
  const { machine } = environment
  const usual = join(environment.homeDir, ".throughline")
  const name = home.dir === usual ? "throughline" : `throughline-${hash(home.dir)}`
  const manager: ServiceManager =
    machine.os === "darwin" ? launchd(machine, name, process.getuid?.() ?? 0) : systemd(machine, name)
  const text = manager.text({ argv: daemonArgv(), env: serviceEnvironment(home, machine.env) })
  const there = () => readBytes(manager.path)?.toString("utf8")
  const ours = (): string | undefined => {
    const before = there()
    if (before === undefined || before.includes(SERVICE_MARK)) return before
    throw new Failure("bad_input", `${manager.path} exists and was not written by Throughline, so it was not changed`, {
      path: manager.path,
    })
  }
  const all = async (commands: ServiceManager["begin"]) => {
    for (const command of commands) {
      const { code, stderr, stdout } = await manager.run(command)
      // Already loaded or not loaded is fine: the next command decides.
      if (code !== 0 && !PASSING.test(command.join(" ")))
        throw new Failure("service_failed", `\`${command.join(" ")}\` ended with ${code}: ${(stderr || stdout).trim()}`)
    }
  }
  const typed = (commands: ServiceManager["begin"]) => commands.map((command) => command.join(" "))

  return {
    /** The file's content, and whether it would change. */
    plan: () => ({ path: manager.path, text, isChanged: ours() !== text }),
    async state(): Promise<ServiceState> {
      const before = there()
      const isReachable = await manager.isReachable()
      return {
        manager: manager.id,
        path: manager.path,
        file: before === undefined ? "none" : before === text ? "there" : "other",
        isReachable,
        isActive: isReachable && (await manager.isActive()),
      }
    },
    async install(): Promise<ServiceChange> {
      const isChanged = ours() !== text
      prepareHome(home)
      if (isChanged) writeWhole(manager.path, text)
      const isReachable = await manager.isReachable()
      const change = { path: manager.path, isChanged, commands: typed(manager.begin), isReachable }
      if (!isReachable) return { ...change, isRunning: (await runningDaemon(home)) !== undefined, notes: [] }
      if (isChanged || !(await manager.isActive())) {
        // A daemon started by hand or by an agent is outside the manager's control.
        await stopDaemon(home)
        await all(manager.begin)
      }
      const isRunning = await answers(home)
      const hint = await manager.hint()
      const silent = `No answer yet. See: ${manager.logs}`
      return { ...change, isRunning, notes: [...(isRunning ? [] : [silent]), ...(hint === undefined ? [] : [hint])] }
    },
    /** Restarts it to reload the settings; false if no service manages it. */
    async restart(): Promise<boolean> {
      if (there() === undefined || !(await manager.isReachable()) || !(await manager.isActive())) return false
      await all(manager.begin)
      return answers(home)
    },
    async uninstall(): Promise<ServiceChange> {
      const isChanged = ours() !== undefined
      const isReachable = await manager.isReachable()
      const commands = [...typed(manager.end), ...typed(manager.forget)]
      if (isChanged && isReachable) await all(manager.end)
      if (isChanged) removeFile(manager.path)
      if (isChanged && isReachable) await all(manager.forget)
      const isRunning = (await runningDaemon(home)) !== undefined
      return { path: manager.path, isChanged, commands, isReachable, isRunning, notes: [] }
    },
  }
}

const PASSING = /^launchctl (bootstrap|bootout)|^systemctl --user disable/

/** What finding agents and reaching the network needs. Settings belong in config.json. */
const TAKEN = [
  "PATH",
  "LANG",
  "LC_ALL",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
  "NODE_USE_ENV_PROXY",
  "NODE_EXTRA_CA_CERTS",
]

function serviceEnvironment(home: Home, env: Environment["machine"]["env"]): Record<string, string> {
  const taken = TAKEN.flatMap((name) => (env[name] ? [[name, env[name]]] : []))
  return { ...daemonEnvironment({}), ...Object.fromEntries(taken), THROUGHLINE_HOME: home.dir }
}

async function answers(home: Home): Promise<boolean> {
  const endsAtMs = Date.now() + ANSWER_MS
  while (Date.now() < endsAtMs) {
    if (await runningDaemon(home)) return true
    await sleep(100)
  }
  return false
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8)
