import { createInterface } from "node:readline/promises"
import { CommanderError } from "commander"
import { Failure } from "../domain/failure.ts"
import { operations } from "../operations/list.ts"
import { cli, failureText } from "../surfaces/cli.ts"
import { addProcessCommands } from "./commands.ts"
import { daemonCalls } from "./connect.ts"
import { type Environment, readEnvironment } from "./environment.ts"
import { homeAt, homeFailure } from "./home.ts"
import { VERSION } from "./version.ts"

/** What bin/throughline.js runs. */
export async function main(argv: string[]): Promise<void> {
  const environment = readEnvironment()
  if (process.platform === "win32")
    return fail(new Failure("unsupported_system", "Throughline does not run on Windows itself"), false)
  if (argv[0] === "daemon") return daemon(environment, argv.slice(1))
  const home = homeAt(environment.home, environment.tempDir)
  const calls = daemonCalls(home)
  const write = (text: string) => void process.stdout.write(text)
  const program = cli({
    version: VERSION,
    operations,
    call: calls.call,
    callIfRunning: calls.callIfRunning,
    caller: { surface: "cli", cwd: environment.cwd },
    write,
    ...(process.stderr.isTTY ? { draw } : {}),
    confirm,
  })
  addProcessCommands(program, { home, environment, calls, write })
  // A pager that is closed early is no error.
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

/** On stderr, so that what is printed can still be piped. */
function draw(line: string): void {
  process.stderr.write(`\r\x1b[2K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`)
}

function fail(failure: Failure, json: boolean): void {
  const stream = json ? process.stdout : process.stderr
  stream.write(failureText(failure, json))
  process.exitCode = failure.kind.exit
}

/** Says on stderr, as one line of JSON, why it could not start: the client that launched it reads that. */
async function daemon(environment: Environment, argv: string[]): Promise<void> {
  const { serve } = await import("./serve.ts")
  const flags = argv.flatMap((word, index) => (argv[index - 1] === "--set" ? [word] : []))
  try {
    await serve(environment, flags)
    process.exit(0)
  } catch (error) {
    const failure = homeFailure(homeAt(environment.home, environment.tempDir), error) ?? Failure.from(error)
    const cause = failure.code === "internal" && error instanceof Error ? { stack: error.stack } : {}
    process.stderr.write(`${JSON.stringify({ ...failure.toJSON(), ...cause })}\n`)
    process.exit(failure.kind.exit)
  }
}

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new Failure("bad_input", `${question} Add --yes: there is no terminal to ask on`, { parameter: "yes" })
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await reader.question(`${question} [y/N] `)
  reader.close()
  return /^y(es)?$/i.test(answer.trim())
}
