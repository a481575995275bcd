import { readdirSync, readFileSync } from "node:fs"
import type { Machine } from "../../../domain/platform.ts"
import { OF_OUTER_AGENTS } from "../shells.ts"

/** Marks the environment of an agent's process and its children, which may leave its group and outlive it. */
export const DRIVEN = "TL_DRIVEN"

/** The environment that an agent started from the user's shell would have. */
export function childEnv(machine: Machine): Record<string, string> {
  const own = Object.entries(machine.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OF_OUTER_AGENTS.has(entry[0]),
  )
  return { HOME: machine.homeDir, ...Object.fromEntries(own) }
}

/** Resident memory of a process and its descendants in bytes; undefined if unknown. */
export function memoryOf(pid: number): number | undefined {
  const own = residentBytes(pid)
  if (own === undefined) return undefined
  return descendantsOf(pid).reduce((sum, child) => sum + (residentBytes(child) ?? 0), own)
}

/** Kills what an agent's process left running: its group, and every process with its mark. */
export function endLeftBehind(pid: number, mark: string): void {
  kill(-pid)
  for (const other of numbersIn("/proc")) if (other !== process.pid && isMarked(other, mark)) kill(other)
}

const isMarked = (pid: number, mark: string) => read(pid, "environ").split("\0").includes(`${DRIVEN}=${mark}`)

/** All descendants of a process. */
function descendantsOf(pid: number): number[] {
  const parents = numbersIn("/proc").map((other) => [other, parentOf(other)] as const)
  const below = (parent: number): number[] =>
    parents.flatMap(([child, of]) => (of === parent ? [child, ...below(child)] : []))
  return below(pid)
}

function parentOf(pid: number): number {
  const stat = read(pid, "stat")
  // The second field, the command's name, may hold blanks and parentheses.
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
}

function residentBytes(pid: number): number | undefined {
  const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(read(pid, "status"))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

/** Empty if the process is gone or not ours. */
function read(pid: number, name: "environ" | "stat" | "status"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8")
  } catch {
    return ""
  }
}

function numbersIn(dir: string): number[] {
  try {
    return readdirSync(dir)
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // Gone already, or not ours.
  }
}
