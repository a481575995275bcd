import { Command, InvalidArgumentError, Option } from "commander"
import * as z from "zod"
import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { every } from "../../lib/clock.ts"
import { visible } from "../../operations/columns.ts"
import type { Call } from "../../operations/invoke.ts"
import { commandsOf, type Operation, type Style } from "../../operations/operation.ts"

export interface CliOptions {
  version: string
  operations: readonly Operation[]
  call: Call
  /** For operations that must not start a daemon. */
  callIfRunning: Call
  caller: Caller
  write(text: string): void | Promise<void>
  /** Draws over the current line of the terminal; absent where there is none. */
  draw?(line: string): void
  /** Called when the answer is a refusal. */
  refused?(): void
  /** Shows a hint on stderr, so that scripts can parse the answer. */
  hint?(text: string): void
  /** Asks a person yes or no before something is destroyed. */
  confirm(question: string): Promise<boolean>
  /** Absent where there are no colours. */
  style?: Style | undefined
  /** Extras for people at a terminal, by operation. */
  extras?: Record<string, CommandExtra>
}

export interface CommandExtra {
  options: [flags: string, description: string][]
  /** Prompts for missing input; undefined if the person quit, or it is all done. */
  fill?(given: Record<string, unknown>, request: { json: boolean }): Promise<Record<string, unknown> | undefined>
  /** Handles the answer. False if it should still be printed. */
  after?(output: Record<string, unknown>, flags: Record<string, unknown>): Promise<boolean>
}

/** The commands that operations describe. `daemon/commands` adds those about the process itself. */
export function cli(options: CliOptions): Command {
  const program = new Command("throughline")
    .description("Coding-agent sessions that outlive the process, the context window, the agent and the machine.")
    .version(options.version)
    // Set before commands inherit it: a wrong option must not exit the process.
    .exitOverride()
    .showHelpAfterError("(run with --help for usage)")
    .enablePositionalOptions()
    .commandsGroup(OTHERS)
  for (const op of options.operations) {
    if (op.on.includes("cli")) for (const words of commandsOf(op)) addCommand(program, words, op, options)
  }
  return program
}

function addCommand(program: Command, words: string, op: Operation, options: CliOptions): void {
  const command = place(program, words.split(" "))
  command.description(op.summary)
  const { properties = {}, required = [] } = z.toJSONSchema(op.input, { io: "input" }) as unknown as ObjectSchema
  const positional = op.positional ?? []
  const extra = options.extras?.[op.name]
  for (const name of positional) {
    const isNeeded = required.includes(name) && !extra?.fill && op.flags?.[name] === undefined
    const argument = op.takesWords && name === positional.at(-1) ? `${name}...` : name
    command.argument(isNeeded ? `<${argument}>` : `[${argument}]`, properties[name]?.description ?? "")
  }
  for (const [flags, description] of extra?.options ?? []) command.option(flags, description)
  const flagged = Object.keys(properties).filter((name) => !positional.includes(name))
  const spelled = [
    ...flagged.map((name) => ({ name, flag: flagOf(name) })),
    ...Object.entries(op.flags ?? {}).flatMap(([name, flag]) => (flag === undefined ? [] : [{ name, flag }])),
  ]
  for (const { name, flag } of spelled)
    command.addOption(
      optionOf(flag, properties[name] ?? {}, required.includes(name) && flag === name && !positional.includes(name)),
    )
  const retired = flagged.flatMap((name) =>
    flagOf(name) === name ? [] : [{ name, option: retiredOption(name, properties[name]!) }],
  )
  for (const { option } of retired) command.addOption(option)
  command.option("--json", "print the answer as JSON")
  command.action(async (...args: unknown[]) => {
    const flags = command.opts<Record<string, unknown>>()
    const given = Object.fromEntries(positional.map((name, index) => [name, joined(args[index])]))
    const renamed = Object.fromEntries([
      ...retired.flatMap(({ name, option }) => {
        const value = flags[option.attributeName()]
        if (value !== undefined) options.hint?.(`${option.long} is now --${kebab(flagOf(name))}`)
        return value === undefined ? [] : [[name, value]]
      }),
      ...spelled.flatMap(({ name, flag }) => {
        const value = flags[camelCase(flag)]
        return value === undefined ? [] : [[name, value]]
      }),
    ])
    const { json, yes, ...asked } = { ...flags, ...given, ...renamed }
    // Only the operation's own names remain.
    for (const flag of Object.values(op.flags ?? {}))
      if (flag !== undefined && !(flag in properties)) delete asked[flag]
    const rest = extra?.fill ? await extra.fill(asked, { json: json === true }) : asked
    if (!rest) return
    const input = Object.fromEntries(Object.entries(rest).filter(([name]) => name in properties))
    // A dry run destroys nothing.
    const destroys = op.effect === "destroy" && input.dryRun !== true
    const call = op.startsDaemon === false ? options.callIfRunning : options.call
    if (destroys && !yes) {
      // The question names how much will be deleted.
      const planned = op.question && (await call(op.name, { ...input, dryRun: true }, options.caller))
      if (!(await options.confirm(planned ? visible(op.question!(planned, input)) : `${op.summary}?`))) return
    }
    const stop = json || !op.progress ? () => {} : showProgress(op.progress, options)
    const output = await call(op.name, input, options.caller)
      .catch((error) => {
        throw inFlags(error, spelled)
      })
      .finally(stop)
    if (op.isRefusal?.(output)) options.refused?.()
    if (json) return options.write(`${JSON.stringify(output, null, 2)}\n`)
    if (await extra?.after?.(output, rest)) return
    const styled = options.style && op.styled?.(output, options.style)
    await options.write(`${styled ?? visible((op.forPeople ?? op.text)(output, op.input.parse(input)))}\n`)
  })
  if (op.effect === "destroy") command.option("--yes", "skip the confirmation")
}

function joined(argument: unknown): unknown {
  if (!Array.isArray(argument)) return argument
  return argument.length === 0 ? undefined : argument.join(" ")
}

const DRAW_MS = 200

function showProgress(
  { from, line }: NonNullable<Operation["progress"]>,
  { call, caller, draw }: CliOptions,
): () => void {
  if (!draw) return () => {}
  const stop = every(DRAW_MS, () => {
    // A failed poll must not stop the work.
    call(from, {}, caller).then(
      (output) => draw(line(output)),
      () => {},
    )
  })
  return () => {
    stop()
    draw("")
  }
}

/** Finds or creates a nested command such as `sessions rename`. */
function place(program: Command, words: string[]): Command {
  let at = program
  for (const word of words) {
    at = at.commands.find((command) => command.name() === word) ?? at.command(word)
  }
  return at.enablePositionalOptions()
}

/** Names an input by its flag: `--project` for `root`. */
function inFlags(error: unknown, spelled: readonly { name: string; flag: string }[]): unknown {
  if (!(error instanceof Failure) || error.code !== "bad_input") return error
  const found = spelled.find(({ name }) => name === error.data.parameter)
  const rest = found && new RegExp(`^${found.name}(?::| (?!=))\\s*(.*)$`, "s").exec(error.message)?.[1]
  return rest === undefined
    ? error
    : new Failure("bad_input", `--${kebab(found!.flag)}: ${rest}`, error.data, { cause: error })
}

/** Flags of inputs whose names are fixed by the tools' contract. */
const FLAGS: Record<string, string> = { platform: "agent", root: "project" }
const flagOf = (name: string) => FLAGS[name] ?? camelCase(name)
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const camelCase = (name: string) => name.replaceAll(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The spelling of earlier versions: still accepted, no longer shown. */
function retiredOption(name: string, schema: JsonSchema): Option {
  return optionOf(name, { ...schema, default: undefined }, false).hideHelp()
}

/** The groups of `throughline --help`, in order. */
const GROUPS: Record<string, readonly string[]> = {
  "Find:": ["search", "sessions", "projects", "analytics"],
  "Continue:": ["resume", "handoff"],
  "Message:": ["send", "ask", "queue", "updates", "notices", "waiting", "permissions"],
  "Teams:": ["teams", "up", "down"],
  "Reach:": ["dashboard", "telegram"],
}
const OTHERS = "Administer:"

/** Groups the commands of `--help`; to be called once every command is there. */
export function grouped(program: Command): void {
  const order = Object.values(GROUPS).flat()
  const place = (command: Command) => (order.includes(command.name()) ? order.indexOf(command.name()) : order.length)
  const commands = program.commands as Command[]
  commands.sort((a, b) => place(a) - place(b))
  for (const [group, names] of Object.entries(GROUPS))
    for (const command of commands) if (names.includes(command.name())) command.helpGroup(group)
}

interface ObjectSchema {
  properties?: Record<string, JsonSchema>
  required?: string[]
}

interface JsonSchema {
  type?: string
  description?: string
  enum?: string[]
  default?: unknown
}

function optionOf(name: string, schema: JsonSchema, required: boolean): Option {
  const flag = `--${kebab(name)}`
  const described = `${schema.description ?? ""}${schema.default === undefined || schema.type === "boolean" ? "" : ` (default ${schema.default})`}`
  if (schema.type === "boolean") return new Option(flag, described)
  if (schema.type === "array") return new Option(`${flag} <values...>`, described)
  const option = new Option(
    `${flag} <${schema.type === "integer" || schema.type === "number" ? "n" : "value"}>`,
    described,
  )
  if (schema.enum) option.choices(schema.enum)
  if (schema.type === "integer" || schema.type === "number") option.argParser(toNumber)
  return required ? option.makeOptionMandatory() : option
}

function toNumber(text: string): number {
  const number = Number(text)
  if (text.trim() === "" || Number.isNaN(number))
    throw new InvalidArgumentError(`${JSON.stringify(text)} is not a number.`)
  return number
}
