import { execFile } from "node:child_process"
import { Failure } from "../domain/failure.ts"

const MAX_MS = 5 * 60_000
const MAX_CHARS = 1_000_000

/** Runs the configured command on a voice message, without a shell. Its output is the transcript. */
export function transcriber(command: readonly string[], env: Record<string, string | undefined>, maxMs = MAX_MS) {
  const [program = "", ...args] = command
  return (path: string, signal: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { env, signal, timeout: maxMs, maxBuffer: MAX_CHARS, killSignal: "SIGKILL" as const }
      const child = execFile(program, [...args, path], options, (error, stdout, stderr) => {
        if (!error) return resolve(stdout)
        const why = error.killed
          ? `not done after ${maxMs / 1000} seconds`
          : stderr.trim().split("\n").at(-1) || error.message
        reject(new Failure("dependency_missing", `${program}: ${why}`, { program }, { cause: error }))
      })
      child.stdin?.end()
    })
}
