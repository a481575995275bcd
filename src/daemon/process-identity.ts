import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** When the process behind a pid was started, as the system tells it; a reused pid has another. Undefined if there is none. */
export function processStart(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The second field, the command's name, may hold spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const isZombie = fields[0] === "Z"
      return isZombie ? undefined : fields[19]
    }
    return (
      execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim() || undefined
    )
  } catch {
    return undefined
  }
}

/** Whether the process is this one, or was started by it or by one of its children. */
export function isBelow(pid: number, ancestor: number): boolean {
  let at = pid
  for (let depth = 0; at > 1 && depth < MAX_DEPTH; depth++) {
    if (at === ancestor) return true
    at = parentOf(at)
  }
  return false
}

const MAX_DEPTH = 32

function parentOf(pid: number): number {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
    }
    const answer = execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
    return Number(answer)
  } catch {
    return 0
  }
}
