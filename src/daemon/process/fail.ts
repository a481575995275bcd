import type { Failure } from "../../domain/failure.ts"

/** Prints the failure and sets its exit code. */
export function fail(failure: Failure, json: boolean): void {
  const stream = json ? process.stdout : process.stderr
  stream.write(failureText(failure, json))
  process.exitCode = failure.kind.exit
}

/** A failure as text for people, or as JSON. */
export function failureText(failure: Failure, json: boolean): string {
  if (json) return `${JSON.stringify({ error: failure.toJSON() }, null, 2)}\n`
  return `${failure.message}\n${failure.kind.help}\n`
}
