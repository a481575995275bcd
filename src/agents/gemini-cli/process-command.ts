import { execFile } from "node:child_process"
import { readFile, readlink } from "node:fs/promises"
import { promisify } from "node:util"

export interface ProcessCommand {
  /** Empty if there is no such process, or it is not readable. */
  words: string[]
  /** Whether its input is a terminal; undefined if unknown. */
  hasTerminal?: boolean
}

export async function commandOf(pid: number): Promise<ProcessCommand> {
  try {
    if (process.platform !== "linux") {
      const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "args=", "-p", String(pid)])
      return { words: stdout.trim().split(" ") }
    }
    const [words, input] = await Promise.all([readFile(`/proc/${pid}/cmdline`, "utf8"), readlink(`/proc/${pid}/fd/0`)])
    return { words: words.split("\0").filter(Boolean), hasTerminal: /^\/dev\/(?:pts\/|tty|console)/.test(input) }
  } catch {
    return { words: [] }
  }
}
