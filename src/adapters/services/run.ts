import { execFile } from "node:child_process"
import type { Ran } from "../../domain/service.ts"

const MOST_MS = 30_000

/** A program that is not there ends with 127, as in a shell. */
export function run(command: readonly string[], env: Record<string, string | undefined>): Promise<Ran> {
  const [program = "", ...args] = command
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: MOST_MS, encoding: "utf8" }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === "number" ? error.code : 127) : 0
      resolve({ code, stdout, stderr: stderr || (code === 127 ? `${program}: ${error?.message}` : "") })
    })
  })
}
