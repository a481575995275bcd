import { existsSync, realpathSync } from "node:fs"
import { delimiter, join, relative } from "node:path"
import type { Command } from "commander"
import { Failure } from "../../domain/failure.ts"
import { shellWord } from "../../domain/platform.ts"
import { sleep } from "../../lib/clock.ts"
import { progressLine } from "../../operations/sources.ts"
import { counted } from "../../operations/text.ts"
import { client } from "../../surfaces/http/client.ts"
import { loadConfig } from "../config/config.ts"
import type { Environment } from "../process/environment.ts"
import { refuseAgents } from "../wiring/agent-shell.ts"
import { recordCommand } from "../wiring/command-audit.ts"
import { ensureDaemon, stopDaemon } from "./connect.ts"
import { answering, type CommandContext, collect } from "./context.ts"
import { agentsNotSetUp } from "./setup-commands.ts"

/** A script without a terminal does not wait for a long import. */
const UNSEEN_MS = 3_000
const POLL_MS = 150

interface StartFlags {
  set: string[]
  json?: boolean
}

/** Starting and stopping the daemon: the user's own, or the demo's. */
export function addStartCommands(program: Command, context: CommandContext): void {
  const { home, environment } = context
  const isCapturing = (set: string[]) =>
    loadConfig({ path: home.config, environment: environment.settings, flags: set }).config.capture.enabled
  const answer = answering(context)

  program
    .command("start")
    .description("Start the daemon (no-op if running) and import agents' conversations")
    .option("--demo", "use sample data in a temporary directory")
    .option("--set <key=value>", "a setting for this run, over file and environment", collect, [])
    .option("--json", "print the answer as JSON")
    .action(async (flags: StartFlags) => {
      if (environment.demo) {
        const { demoText, startDemo } = await import("../../../demo/start.ts")
        const say = (what: string) => (flags.json ? undefined : context.draw?.(what))
        const importing = async () => void (await imported(context, flags))
        const { env } = environment.machine
        const made = await startDemo(environment.demo, home, context.calls, { importing, say, env })
        const json = { started: made.isNew, demo: environment.demo.dir, ...made.registration }
        return answer(json, demoText(environment.demo, commandName(environment), made), flags)
      }
      if (flags.set.length > 0) {
        refuseAgents(environment, "start --set")
        recordCommand(context, "start", { set: flags.set.map((one) => one.split("=", 1)[0]) })
      }
      const { registration, started } = await ensureDaemon(home, flags.set)
      if (!started && flags.set.length > 0)
        throw new Failure("bad_input", "already running: run `throughline stop` first, then start it with --set", {
          parameter: "set",
        })
      if (flags.json) return answer({ started, ...registration }, "", flags)
      const lines = [
        `Throughline ${registration.version} ${started ? "started" : "is already running"} (pid ${registration.pid})`,
        `  socket  ${registration.socket}`,
        `  http    ${registration.url ?? "off (see throughline doctor)"}`,
        ...(isCapturing(flags.set)
          ? nextSteps(await imported(context, flags), (await agentsNotSetUp({ home, environment })).length === 0)
          : [CAPTURE_OFF]),
        ...(commandName(environment) === "throughline"
          ? []
          : [`In this clone, run it as: ${commandName(environment)}`]),
      ]
      answer({}, lines.join("\n"), flags)
    })

  program
    .command("stop")
    .description("Stop the daemon")
    .option("--demo", "stop the demo and delete it")
    .option("--force", "kill it even if unresponsive, after verifying that it is Throughline's")
    .option("--json", "print the answer as JSON")
    .action(async (flags: { force?: boolean; json?: boolean }) => {
      if (environment.demo) {
        const { stopDemo } = await import("../../../demo/start.ts")
        const stopped = await stopDemo(environment.demo, home, environment.machine.env, flags.force)
        return answer({ stopped }, stopped ? `Demo removed: ${environment.demo.dir}` : "There is no demo.", flags)
      }
      const stopped = await stopDaemon(home, flags.force)
      answer({ stopped }, stopped ? "Throughline stopped." : "Throughline was not running.", flags)
    })
}

interface Imported {
  agents: { label: string; sessions: number }[]
  known: number
  isWhole: boolean
}

/** Watches the daemon's own import, with a progress bar in a terminal. The import continues in any case. */
async function imported({ calls, draw }: CommandContext, { json }: { json?: boolean }): Promise<Imported> {
  const ask = client(calls.call, { surface: "cli" })
  const visible = json ? undefined : draw
  for (const startMs = Date.now(); ; await sleep(POLL_MS)) {
    const { sources, progress } = await ask("sources", {})
    if (progress.importing) visible?.(progressLine(progress))
    if (progress.importing && (visible || Date.now() - startMs < UNSEEN_MS)) continue
    visible?.("")
    const agents = sources.filter(({ found }) => found).map(({ label, sessions }) => ({ label, sessions }))
    return { agents, known: sources.length, isWhole: !progress.importing }
  }
}

const CAPTURE_OFF = "  capture off (capture.enabled is false)"

function nextSteps({ agents, known, isWhole }: Imported, isSetUp: boolean): string[] {
  if (agents.length === 0 && isWhole)
    return [
      "",
      `No agent conversations found on this machine (checked for ${counted(known, "agent")}).`,
      "Next: try `throughline start --demo`, which uses sample data in a temporary directory;",
      "once an agent is installed, connect it with `throughline setup`.",
    ]
  const stored = agents.map(({ label, sessions }) => counted(sessions, `${label} session`)).join(", ")
  const going = isWhole ? "" : " so far; still importing (`throughline sources` shows progress)"
  return [
    `  imported  ${stored || "no sessions"}${going}`,
    "",
    ...(isSetUp ? [] : ["Next: connect your agents with `throughline setup` (shows every change, can be undone),"]),
    `${isSetUp ? "Next:" : "then"} try \`throughline dashboard\`, \`throughline search\` or \`throughline doctor\`.`,
  ]
}

/** The command for this program in the user's shell. Folders that npm puts on the PATH are there only for its children. */
export function commandName({ machine, cwd }: Pick<Environment, "machine" | "cwd">): string {
  const entry = realpathSync(process.argv[1] ?? "")
  const folders = (machine.env.PATH ?? "").split(delimiter).filter((dir) => !/node_modules[\\/]\.bin|_npx/.test(dir))
  const first = folders.map((dir) => join(dir, "throughline")).find((path) => existsSync(path))
  if (first !== undefined && realpathSync(first) === entry) return "throughline"
  const near = (path: string) => {
    const short = relative(cwd, path)
    return short.startsWith("..") ? path : short
  }
  return [process.execPath, entry].map((path) => shellWord(near(path))).join(" ")
}
