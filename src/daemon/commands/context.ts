import type { Caller } from "../../domain/caller.ts"
import type { Environment } from "../process/environment.ts"
import type { Home } from "../process/home.ts"
import type { DaemonCalls } from "./connect.ts"

/** What the commands beside the operations work with. */
export interface CommandContext {
  home: Home
  environment: Environment
  calls: DaemonCalls
  caller: Caller
  write(text: string): void
  confirm(question: string): Promise<boolean>
  /** Draws over the current line of the terminal; absent where there is none. */
  draw?: ((line: string) => void) | undefined
}

/** Writes an answer as text, or as JSON if the flags say so. */
export function answering({ write }: Pick<CommandContext, "write">) {
  return (json: unknown, text: string, flags: { json?: boolean }) =>
    write(flags.json ? `${JSON.stringify(json, null, 2)}\n` : `${text}\n`)
}

/** Gathers the values of an option that may be repeated. */
export const collect = (value: string, before: string[]) => [...before, value]
