import { existsSync, readFileSync, statSync, watchFile } from "node:fs"
import { open } from "node:fs/promises"
import { type Command, InvalidArgumentError } from "commander"
import { TOOL_SETS } from "../../operations/operation.ts"
import { table } from "../../operations/text.ts"
import { loadConfig } from "../config/config.ts"
import { examine, findingLines, verdict } from "../doctor/doctor.ts"
import { changeConfig } from "./config-command.ts"
import { answering, type CommandContext, collect } from "./context.ts"

/** Commands about the program itself: they work on processes and files, so no operation describes them. */
export function addProcessCommands(program: Command, context: CommandContext): void {
  const { home, environment, calls, write } = context
  const answer = answering(context)

  program
    .command("logs")
    .description("Show the daemon's log")
    .option("-n, --lines <n>", "number of lines", toCount, 50)
    .option("-f, --follow", "keep printing new lines")
    .option("--json", "print the raw lines")
    .action(async (flags: { lines: number; follow?: boolean; json?: boolean }) => {
      if (!existsSync(home.log)) return write("No log yet: the daemon has not been started.\n")
      const show = (line: string) => (flags.json ? line : readable(line))
      const lines = readFileSync(home.log, "utf8").trimEnd().split("\n")
      write(`${lines.slice(-flags.lines).map(show).join("\n")}\n`)
      if (flags.follow) followFile(home.log, (line) => write(`${show(line)}\n`))
    })

  program
    .command("doctor")
    .description("Check for problems and suggest fixes")
    .option("--json", "print the findings as JSON")
    .action(async (flags: { json?: boolean }) => {
      const findings = await examine(home, environment, calls)
      answer(
        { findings, verdict: verdict(findings) },
        [...findingLines(findings), "", verdict(findings)].join("\n"),
        flags,
      )
      if (findings.some((finding) => finding.state === "wrong")) process.exitCode = 1
    })

  const config = program
    .command("config")
    .description("Show the effective settings and where each comes from")
    .option("--set <key=value>", "as if passed to start", collect, [])
    .option("--json", "print them as JSON")
    .action((flags: { set: string[]; json?: boolean }) => {
      const { settings } = loadConfig({ path: home.config, environment: environment.settings, flags: flags.set })
      const shown = settings.map(({ key, value, source, secret }) => ({
        key,
        value: secret && value !== undefined ? "***" : value,
        source,
      }))
      answer(
        { file: home.config, settings: shown },
        `${table(
          ["KEY", "VALUE", "SOURCE"],
          shown.map(({ key, value, source }) => [key, value === undefined ? "-" : JSON.stringify(value), source]),
        )}\n\nFile: ${home.config}`,
        flags,
      )
    })

  const change = async (key: string, value: string, flags: { json?: boolean }) => {
    const saved = await changeConfig(context, key, value)
    const teams = key.startsWith("teams.")
    const when = teams ? "" : " It takes effect at the next start: throughline stop && throughline start"
    answer(saved, `${saved.isSet ? `Saved ${key}` : `${key} is back to its default`} in ${home.config}.${when}`, flags)
  }
  config
    .command("set")
    .description("Save a setting in the configuration file, after validating it")
    .argument("<key>", "such as http.port")
    .argument("<value>", "separate several values by commas")
    .option("--json", "print the answer as JSON")
    .action((key: string, value: string, flags: { json?: boolean }) => change(key, value, flags))
  config
    .command("unset")
    .description("Remove a setting from the configuration file, so that its default applies")
    .argument("<key>", "such as http.port")
    .option("--json", "print the answer as JSON")
    .action((key: string, flags: { json?: boolean }) => change(key, "", flags))

  program
    .command("mcp")
    .description("Serve MCP over stdio, for an agent's configuration")
    .option("--tools <sets>", `only these tool sets: ${TOOL_SETS.join(", ")}`)
}

function readable(line: string): string {
  try {
    const { level, time, msg, pid: _, err, ...rest } = JSON.parse(line) as Record<string, unknown>
    const name = { 20: "debug", 30: "info ", 40: "warn ", 50: "error" }[level as number] ?? String(level)
    const details = Object.entries(rest).map(
      ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    const trouble = err ? ` (${(err as { message?: string }).message})` : ""
    return `${time} ${name} ${msg}${trouble}${details.length > 0 ? `  ${details.join(" ")}` : ""}`
  } catch {
    return line
  }
}

function followFile(path: string, onLine: (line: string) => void): void {
  let position = statSync(path).size
  let rest = ""
  watchFile(path, { interval: 250 }, async ({ size }) => {
    if (size < position) position = 0
    const file = await open(path)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.max(0, size - position)), 0, undefined, position)
    await file.close()
    position += bytesRead
    const lines = (rest + buffer.toString("utf8", 0, bytesRead)).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) onLine(line)
  })
}

function toCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError("It must be a positive whole number.")
  return count
}
