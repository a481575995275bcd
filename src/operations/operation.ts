import type { z } from "zod"
import type { Access, Caller } from "../domain/caller.ts"
import type { Services } from "./services.ts"

export type Surface = "mcp" | "http" | "cli"

/** The sets that `throughline mcp --tools` picks from. */
export const TOOL_SETS = ["recovery", "recall", "queue", "teams"] as const
export type ToolSet = (typeof TOOL_SETS)[number]

/** Everything that can be asked of the program is one of these; tool, route, command and client derive from it. */
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
  /** Why, where its name does not tell; the table of operations and callers gives it. */
  accessReason?: string
  /**
   * What the audit keeps of the input when the owner changes something: the whole input if absent. Leave out secrets.
   * `itself`: the operation writes an audit entry of its own. Undefined: nothing was changed.
   */
  audited?: "itself" | ((input: z.output<In>) => Record<string, unknown> | undefined)
  on: readonly Surface[]
  /** `isBrief`: its answer is always short. */
  tool?: { set: ToolSet; alwaysLoad?: boolean; isBrief?: true }
  /** The words on the command line, or several ways to say it; the operation's name with spaces if absent. */
  command?: string | readonly string[]
  /** False where the command line must not start a daemon only to answer. */
  startsDaemon?: false
  /** Inputs that the command line takes by position. */
  positional?: readonly (keyof z.input<In> & string)[]
  /** Further flags that the command line takes for an input: a short name, or one for what may also stand at a position. */
  flags?: Partial<Record<keyof z.input<In> & string, string>>
  /** What stands at the last position may be several words, without quotes. */
  takesWords?: true
  /** For work that takes long: which operation tells how far it is, and how that reads on one line. */
  progress?: { from: string; line(output: Record<string, unknown>): string }
  /** What a person is asked before it is done, made of the answer to the same call with `dryRun`. */
  question?(planned: z.output<Out>, input: z.input<In>): string
  input: In
  output: Out
  /** True for an answer that says no: the command line then ends with a code of its own. */
  isRefusal?(output: z.output<Out>): boolean
  /** For people, and for agents that read no structured content. */
  text(output: z.output<Out>, input: z.output<In>): string
  /** Where a person is told something else than an agent: a command instead of a tool. */
  forPeople?(output: z.output<Out>, input: z.output<In>): string
  /** The same in a terminal that has colours. */
  styled?(output: z.output<Out>, style: Style): string
  run(services: Services, input: z.output<In>, caller: Caller): Promise<z.input<Out>>
}

/** What a terminal can do with words. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  accent(text: string): string
  /** For what was searched for. */
  mark(text: string): string
  /** In a colour that hexColour has returned. */
  paint(hex: string, text: string): string
  /** How wide it is. */
  columns: number
}

/** What is typed for it, the usual way first. */
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
