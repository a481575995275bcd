import type { Command } from "commander"
import { refuseAgents } from "./agent-shell.ts"
import { recordCommand } from "./command-audit.ts"
import type { Environment } from "./environment.ts"
import type { Home } from "./home.ts"
import type { makeService, ServiceChange, ServiceState } from "./service.ts"

interface Context {
  home: Home
  environment: Environment
  write(text: string): void
  confirm(question: string): Promise<boolean>
}

interface Flags {
  yes?: boolean
  json?: boolean
}

/** Commands, not operations: they are about the daemon's own life, and need none that runs. */
export function addServiceCommands(program: Command, context: Context): void {
  const { write, confirm } = context
  const service = program.command("service").description("Keep the daemon running, also after a reboot")
  const answer = (json: unknown, text: string, flags: Flags) =>
    write(flags.json ? `${JSON.stringify(json, null, 2)}\n` : `${text}\n`)

  service
    .command("install")
    .description("Start the daemon whenever you log in, and again when it fails (systemd, launchd)")
    .option("--yes", "do not ask")
    .option("--json", "print what was done as JSON; changes nothing without --yes")
    .action(async (flags: Flags) => {
      refuseAgents(context.environment, "service install")
      const made = await load(context)
      const { path, text, isChanged } = made.plan()
      if (isChanged && !flags.json) write(`write ${path}:\n\n${text.replaceAll(/^(?=.)/gm, "    ")}\n`)
      if (flags.json && !flags.yes) return answer({ path, text, changed: isChanged, applied: false }, "", flags)
      if (isChanged && !flags.yes && !(await confirm("Write it and start it?"))) return write("Nothing was changed.\n")
      recordCommand(context, "service.install", { path })
      const change = await made.install()
      answer({ ...view(change), applied: true }, installed(change), flags)
    })

  service
    .command("uninstall")
    .description("Take back what service install did")
    .option("--yes", "do not ask")
    .option("--json", "print what was done as JSON")
    .action(async (flags: Flags) => {
      refuseAgents(context.environment, "service uninstall")
      const made = await load(context)
      const { path, file } = await made.state()
      if (file !== "none" && !flags.yes && !(await confirm(`Remove ${path} and stop the daemon?`)))
        return write("Nothing was changed.\n")
      recordCommand(context, "service.uninstall", { path })
      const change = await made.uninstall()
      answer(view(change), uninstalled(change), flags)
    })

  service
    .command("status")
    .description("Show whether the daemon is kept running")
    .option("--json", "print it as JSON")
    .action(async (flags: Flags) => {
      const state = await (await load(context)).state()
      answer(state, stateText(state), flags)
    })
}

function view({ isChanged, isReachable, isRunning, ...rest }: ServiceChange) {
  return { ...rest, changed: isChanged, reachable: isReachable, running: isRunning }
}

function installed({ path, isChanged, isReachable, isRunning, commands, notes }: ServiceChange): string {
  const file = isChanged ? `${path} is written.` : `${path} is as it should be.`
  if (!isReachable)
    return [file, "The manager of services does not answer here. Where it does, run:", ...commands.map(indented)].join(
      "\n",
    )
  const runs = isRunning ? ["The daemon runs, and starts again whenever you log in."] : []
  return [file, ...runs, ...notes, "Undo: throughline service uninstall"].join("\n")
}

function uninstalled({ path, isChanged, isReachable, commands }: ServiceChange): string {
  if (!isChanged) return `Nothing to remove: there is no ${path}`
  const byHand = ["The manager of services does not answer here. Where it does, run:", ...commands.map(indented)]
  return [`${path} is removed.`, ...(isReachable ? [] : byHand)].join("\n")
}

function stateText({ manager, path, file, isReachable, isActive }: ServiceState): string {
  const words = {
    there: path,
    other: `${path}, which is not as this version would write it: throughline service install`,
    none: "not installed: throughline service install",
  }
  const state = isReachable ? (isActive ? "running" : "not running") : `${manager} does not answer here`
  return `file   ${words[file]}\nstate  ${state}`
}

const indented = (line: string) => `  ${line}`

/** Loaded when it is asked for: other commands start faster without. */
async function load({ home, environment }: Context): Promise<ReturnType<typeof makeService>> {
  const { makeService } = await import("./service.ts")
  return makeService(home, environment)
}
