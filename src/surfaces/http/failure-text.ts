import type { Failure } from "../../domain/failure.ts"

/** What a person reads when something went wrong, and what a script gets. */
export function failureText(failure: Failure, json: boolean): string {
  if (json) return `${JSON.stringify({ error: failure.toJSON() }, null, 2)}\n`
  return `${failure.message}\n${failure.kind.help}\n`
}
