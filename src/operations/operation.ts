import type { z } from "zod"
import type { Access, Caller } from "../domain/caller.ts"
import type { Services } from "./services.ts"

export type Surface = "mcp" | "http" | "cli"

/** The sets that `throughline mcp --tools` picks from. */
export const TOOL_SETS = ["recovery", "recall", "queue", "teams"] as const
export type ToolSet = (typeof TOOL_SETS)[number]

/** Describes one operation; its tool, route, command and client derive from this. */
export interface Operation<
  Name extends string = string,
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodObject = z.ZodObject,
> {
  name: Name
  summary: string
  /** `destroy` makes the command line ask and the tool warn. */
  effect: "read" | "write" | "destroy"
  /**
   * Who may call it; invoke.ts enforces this on every surface. `owner` for whatever starts programs, widens permissions,
   * changes settings or people, deletes data, or hands out a key.
   */
  access: Access
  /** The reason, if the name does not tell; shown in the table of operations and callers. */
  accessReason?: string
  /**
   * The part of the input to audit when the owner changes something; all of it if absent. Leave out secrets.
   * `itself`: the operation writes an audit entry of its own. Undefined: nothing was changed.
   */
  audited?: "itself" | ((input: z.output<In>) => Record<string, unknown> | undefined)
  on: readonly Surface[]
  /** `isBrief`: its answer is always short. */
  tool?: { set: ToolSet; alwaysLoad?: boolean; isBrief?: true }
  /** The command, or several spellings of it; the operation's name with spaces if absent. */
  command?: string | readonly string[]
  /** False if the command must not start a daemon. */
  startsDaemon?: false
  /** Inputs given by position. */
  positional?: readonly (keyof z.input<In> & string)[]
  /** Additional flags of an input: a shorter name, or one for a positional input. */
  flags?: Partial<Record<keyof z.input<In> & string, string>>
  /** The last positional input may be several words without quotes. */
  takesWords?: true
  /** For long work: the operation to poll, and its progress line. */
  progress?: { from: string; line(output: Record<string, unknown>): string }
  /** The confirmation question, from the answer to the same call with `dryRun`. */
  question?(planned: z.output<Out>, input: z.input<In>): string
  input: In
  output: Out
  /** Whether the answer is a refusal, which has its own exit code. */
  isRefusal?(output: z.output<Out>): boolean
  /** For people, and for agents that read no structured content. */
  text(output: z.output<Out>, input: z.output<In>): string
  /** The text for people, if it differs: commands instead of tools. */
  forPeople?(output: z.output<Out>, input: z.output<In>): string
  /** The text in a terminal with colours. */
  styled?(output: z.output<Out>, style: Style): string
  run(services: Services, input: z.output<In>, caller: Caller): Promise<z.input<Out>>
}

/** Text styles of a terminal. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  accent(text: string): string
  /** For search matches. */
  mark(text: string): string
  /** In a colour returned by hexColour. */
  paint(hex: string, text: string): string
  /** How wide it is. */
  columns: number
}

/** Its commands, the usual one first. */
export function commandsOf({ command, name }: Pick<Operation, "command" | "name">): readonly string[] {
  return typeof command === "string" ? [command] : (command ?? [name.replaceAll(".", " ")])
}

/** What most operations do, who may call them, and where. Any other combination is spelled out in the operation. */
export const ANYONE_READS = { effect: "read", access: "anyone", on: ["cli", "http"] } as const
export const ANYONE_WRITES = { effect: "write", access: "anyone", on: ["mcp", "http", "cli"] } as const
export const AGENTS_WRITE = { effect: "write", access: "agent", on: ["cli", "http"] } as const
export const OWNER_WRITES = { effect: "write", access: "owner", on: ["cli", "http"] } as const
export const PAGES_READ = { effect: "read", access: "anyone", on: ["http"] } as const
export const TOOL_READS = { effect: "read", access: "anyone", on: ["mcp", "http"] } as const
export const TOOL_WRITES = { effect: "write", access: "agent", on: ["mcp", "http"] } as const

/** Keeps the literal types, so that the client's inputs and outputs are inferred. */
export function operation<Name extends string, In extends z.ZodObject, Out extends z.ZodObject>(
  description: Operation<Name, In, Out>,
): Operation<Name, In, Out> {
  return description
}
