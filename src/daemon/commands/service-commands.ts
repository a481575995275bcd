import type { Command } from "commander"
import type { makeService, ServiceChange, ServiceState } from "../process/service.ts"
import { refuseAgents } from "../wiring/agent-shell.ts"
import { recordCommand } from "../wiring/command-audit.ts"
import { answering, type CommandContext } from "./context.ts"

interface Flags {
  yes?: boolean
  json?: boolean
}

/** Commands, not operations: they start and stop the daemon, so they cannot need a running one. */
export function addServiceCommands(program: Command, context: CommandContext): void {
  const { write, confirm } = context
  const service = program.command("service").description("Keep the daemon running across reboots")
  const answer = answering(context)

  service
    .command("install")
    .description("Start the daemon when you log in and restart it when it fails (systemd, launchd)")
    .option("--yes", "skip the confirmation")
    .option("--json", "print the result as JSON; changes nothing without --yes")
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
    .description("Undo service install")
    .option("--yes", "skip the confirmation")
    .option("--json", "print the result as JSON")
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
    .description("Show whether the service is installed and running")
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
  const file = isChanged ? `Wrote ${path}.` : `${path} is up to date.`
  if (!isReachable)
    return [file, "The service manager does not answer here. Where it does, run:", ...commands.map(indented)].join("\n")
  const runs = isRunning ? ["The daemon is running and starts whenever you log in."] : []
  return [file, ...runs, ...notes, "Undo: throughline service uninstall"].join("\n")
}

function uninstalled({ path, isChanged, isReachable, commands }: ServiceChange): string {
  if (!isChanged) return `Nothing to remove: there is no ${path}`
  const byHand = ["The service manager does not answer here. Where it does, run:", ...commands.map(indented)]
  return [`Removed ${path}.`, ...(isReachable ? [] : byHand)].join("\n")
}

function stateText({ manager, path, file, isReachable, isActive }: ServiceState): string {
  const words = {
    there: path,
    other: `${path} is outdated: throughline service install`,
    none: "not installed: throughline service install",
  }
  const state = isReachable ? (isActive ? "running" : "not running") : `${manager} does not answer here`
  return `file   ${words[file]}\nstate  ${state}`
}

const indented = (line: string) => `  ${line}`

/** Loaded on demand: other commands start faster without it. */
async function load({ home, environment }: CommandContext): Promise<ReturnType<typeof makeService>> {
  const { makeService } = await import("../process/service.ts")
  return makeService(home, environment)
}
