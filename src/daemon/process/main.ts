import { demoPlace, isPlaceThere, madeBy } from "../../../demo/place.ts"
import { Failure } from "../../domain/failure.ts"
import { type Environment, enterDemo, readEnvironment } from "./environment.ts"
import { fail } from "./fail.ts"
import { homeAt, homeFailure } from "./home.ts"

/** The entry point of bin/throughline.js. Loads only what the command needs: agents start one with every session. */
export async function main(words: string[]): Promise<void> {
  const demo = words.includes(DEMO) ? demoPlace() : undefined
  const argv = words.filter((word) => word !== DEMO)
  if (demo) {
    try {
      isPlaceThere(demo)
    } catch (error) {
      return fail(Failure.from(error), words.includes("--json"))
    }
    enterDemo(demo)
  }
  const environment: Environment = { ...readEnvironment(), ...(demo && { demo }) }
  if (process.platform === "win32")
    return fail(new Failure("unsupported_system", "Throughline does not run natively on Windows"), false)
  if (demo && !/^(start|stop|--help|-h)$/.test(argv[0] ?? "--help") && madeBy(demo) === undefined)
    return fail(
      new Failure("bad_input", "there is no demo; create it with `throughline start --demo`", { parameter: "demo" }),
      false,
    )
  if (argv[0] === "daemon") return daemon(environment, argv.slice(1))
  if (argv[0] === "mcp" && !argv.some((word) => word === "--help" || word === "-h")) {
    const { mcp } = await import("../commands/mcp-command.ts")
    return mcp(environment, argv.slice(1))
  }
  if (argv[0] === "hook" && argv[1] !== undefined && !argv[1].startsWith("-")) {
    const { hook } = await import("../commands/hook.ts")
    return hook(environment, argv[1], argv[2])
  }
  const { commandLine } = await import("../commands/command-line.ts")
  return commandLine(environment, argv)
}

/** Accepted anywhere on the command line. */
const DEMO = "--demo"

/** Reports a failed start as one line of JSON on stderr, which the launching client reads. */
async function daemon(environment: Environment, argv: string[]): Promise<void> {
  const { serve } = await import("./serve.ts")
  const flags = argv.flatMap((word, index) => (argv[index - 1] === "--set" ? [word] : []))
  try {
    await serve(environment, flags)
    process.exit()
  } catch (error) {
    const failure = homeFailure(homeAt(environment.home, environment.tempDir), error) ?? Failure.from(error)
    const cause = failure.code === "internal" && error instanceof Error ? { stack: error.stack } : {}
    process.stderr.write(`${JSON.stringify({ ...failure.toJSON(), ...cause })}\n`)
    process.exit(failure.kind.exit)
  }
}
