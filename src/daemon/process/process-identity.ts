import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** The parent of a process; undefined if there is none. */
export function parentOf(pid: number): number | undefined {
  try {
    const text =
      process.platform === "linux" ? afterName(readFileSync(`/proc/${pid}/stat`, "utf8"))[1] : ps(pid, "ppid=")
    return Number(text) || undefined
  } catch {
    return undefined
  }
}

/** The system's start time of a process, which tells a reused pid apart. Undefined if there is none. */
export function processStart(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const fields = afterName(readFileSync(`/proc/${pid}/stat`, "utf8"))
      const isZombie = fields[0] === "Z"
      return isZombie ? undefined : fields[19]
    }
    return ps(pid, "lstart=") || undefined
  } catch {
    return undefined
  }
}

/** The second field, the command's name, may hold spaces and parentheses. */
const afterName = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

const ps = (pid: number, column: string) =>
  execFileSync("ps", ["-o", column, "-p", String(pid)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim()

/** Every process with its parent and command line, for systems without /proc. */
export function processTable(): Map<number, { parent: number; command: string }> {
  const table = new Map<number, { parent: number; command: string }>()
  try {
    const text = execFileSync("ps", ["-axo", "pid=,ppid=,command="], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 64 * 1024 * 1024,
    })
    for (const line of text.split("\n")) {
      const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
      if (pid !== undefined) table.set(Number(pid), { parent: Number(parent), command: command! })
    }
  } catch {
    // Then the ancestors stay unknown.
  }
  return table
}

export const isRunning = (pid: number) => processStart(pid) !== undefined
