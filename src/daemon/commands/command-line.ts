import { createInterface } from "node:readline/promises"
import { Argument, type Command, CommanderError } from "commander"
import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { present } from "../../lib/defined.ts"
import { operations } from "../../operations/list.ts"
import { cli, grouped } from "../../surfaces/cli/cli.ts"
import { completionScript, SHELLS, type Shell } from "../../surfaces/cli/completion.ts"
import { peopleExtras } from "../config/people.ts"
import type { Environment } from "../process/environment.ts"
import { fail } from "../process/fail.ts"
import { homeAt } from "../process/home.ts"
import { VERSION } from "../version.ts"
import { agentAbove } from "../wiring/agent-shell.ts"
import { addProcessCommands } from "./commands.ts"
import { daemonCalls } from "./connect.ts"
import type { CommandContext } from "./context.ts"
import { addDashboardCommand } from "./dashboard-command.ts"
import { addServiceCommands } from "./service-commands.ts"
import { addSetupCommands } from "./setup-commands.ts"
import { addStartCommands } from "./start-commands.ts"
import { addTelegramCommands } from "./telegram-commands.ts"
import { page, terminalStyle } from "./terminal.ts"

/** Every command of the program. */
export async function commandLine(given: Environment, argv: string[]): Promise<void> {
  const above = given.agent.shell ?? agentAbove(process.ppid)
  const environment = above === undefined ? given : { ...given, agent: { ...given.agent, shell: above } }
  const home = homeAt(environment.home, environment.tempDir)
  const calls = daemonCalls(home)
  const { cwd, agent } = environment
  const caller: Caller = { surface: "cli", cwd, ...present({ agentShell: agent.shell }) }
  const write = (text: string) => void process.stdout.write(text)
  const drawing = process.stderr.isTTY ? draw : undefined
  const program = cli({
    version: VERSION,
    operations,
    call: calls.call,
    callIfRunning: calls.callIfRunning,
    caller,
    write: (text) => page(environment.demo ? remindOfDemo(text) : text, environment.pager),
    style: terminalStyle(),
    extras: peopleExtras({ call: calls.call, caller, pager: environment.pager }),
    hint: (text) => void process.stderr.write(`${text}\n`),
    ...present({ draw: drawing }),
    confirm,
    refused() {
      process.exitCode = REFUSED
    },
  })
  program.option("--demo", "use the sample data of `start --demo`")
  const context: CommandContext = { home, environment, calls, caller, write, confirm, draw: drawing }
  addCommands(program, context)
  grouped(program)
  // Closing the pager early is not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1))
  try {
    await program.parseAsync(argv, { from: "user" })
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
    else fail(Failure.from(error), argv.includes("--json"))
  } finally {
    calls.close()
  }
}

/** The commands that no operation describes. */
export function addCommands(program: Command, context: CommandContext): void {
  addStartCommands(program, context)
  addProcessCommands(program, context)
  addDashboardCommand(program, context)
  addTelegramCommands(program, context)
  addServiceCommands(program, context)
  addSetupCommands(program, context)
  program
    .command("completion")
    .description("Print a shell completion script: source <(throughline completion bash)")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .action((shell: Shell) => context.write(completionScript(program, shell, ["throughline", "tl"])))
}

/** The exit code of a valid request that cannot be carried out now. */
const REFUSED = 3

/** Commands that an answer suggests would otherwise go to the user's own daemon. */
function remindOfDemo(text: string): string {
  return !/^[[{]/.test(text) && /\bthroughline [a-z]/.test(text) ? `${text}(Add --demo to these commands.)\n` : text
}

/** On stderr, so that what is printed can still be piped. */
function draw(line: string): void {
  process.stderr.write(`\r\x1b[2K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`)
}

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new Failure("bad_input", `${question} Add --yes: there is no terminal to confirm on`, { parameter: "yes" })
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await reader.question(`${question} [y/N] `)
  reader.close()
  return /^y(es)?$/i.test(answer.trim())
}
