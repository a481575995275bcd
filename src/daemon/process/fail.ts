import type { Failure } from "../../domain/failure.ts"
import { failureText } from "../../surfaces/http/failure-text.ts"

/** Says why a command failed, and ends the program with the failure's exit code once it has nothing more to do. */
export function fail(failure: Failure, json: boolean): void {
  const stream = json ? process.stdout : process.stderr
  stream.write(failureText(failure, json))
  process.exitCode = failure.kind.exit
}
