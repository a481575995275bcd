import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** Whether a process is the ancestor itself or one of its descendants. */
export function isBelow(pid: number, ancestor: number): boolean {
  for (let [at, left]: [number | undefined, number] = [pid, MOST]; at !== undefined && at > 1 && left > 0; left--) {
    if (at === ancestor) return true
    at = parentOf(at)
  }
  return false
}

const MOST = 100

function parentOf(pid: number): number | undefined {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The second field, the command's name, may contain spaces and parentheses.
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
    }
    return Number(
      execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    )
  } catch {
    return undefined
  }
}
