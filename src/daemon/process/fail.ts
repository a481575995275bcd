import type { Failure } from "../../domain/failure.ts"
import { failureText } from "../../surfaces/http/failure-text.ts"

/** Prints the failure and sets its exit code. */
export function fail(failure: Failure, json: boolean): void {
  const stream = json ? process.stdout : process.stderr
  stream.write(failureText(failure, json))
  process.exitCode = failure.kind.exit
}
