import type { Failure } from "../../domain/failure.ts"

/** A failure as text for people, or as JSON. */
export function failureText(failure: Failure, json: boolean): string {
  if (json) return `${JSON.stringify({ error: failure.toJSON() }, null, 2)}\n`
  return `${failure.message}\n${failure.kind.help}\n`
}
