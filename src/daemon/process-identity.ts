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
