import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import type { Machine } from "../../domain/platform.ts"

/** How many terminals run Codex in each folder. Known on Linux only. */
export function codexTerminals(os: Machine["os"]): Map<string, number> {
  const found = new Map<string, number>()
  if (os !== "linux") return found
  for (const pid of readdirSync("/proc")) {
    const cwd = /^\d+$/.test(pid) ? folderOf(`/proc/${pid}`) : undefined
    if (cwd !== undefined) found.set(cwd, (found.get(cwd) ?? 0) + 1)
  }
  return found
}

/** Subcommands that run without a person. */
const ASIDE = new Set(["exec", "e", "review", "app-server", "queue"])

function folderOf(process: string): string | undefined {
  try {
    if (readFileSync(`${process}/comm`, "utf8") !== "codex\n") return undefined
    if (!/^\/dev\/(?:pts\/|tty)/.test(readlinkSync(`${process}/fd/0`))) return undefined
    const [, ...args] = readFileSync(`${process}/cmdline`, "utf8").split("\0")
    return args.some((arg) => ASIDE.has(arg)) ? undefined : readlinkSync(`${process}/cwd`)
  } catch {
    // The process ended, or belongs to another user.
    return undefined
  }
}
