import { readdirSync, readFileSync } from "node:fs"

/** A process, and when it began: a pid alone may be another's by now. */
export interface Relative {
  pid: number
  start: string
}

/** Everything that a process started and that still hangs on it. Empty where the system has no /proc. */
export function familyOf(pid: number): Relative[] {
  const all = everyProcess()
  const below = (parent: number): Stat[] =>
    all.filter((stat) => stat.parent === parent).flatMap((stat) => [stat, ...below(stat.pid)])
  return below(pid).map(({ pid, start }) => ({ pid, start }))
}

/** Resident memory of a process and all that hangs on it, in bytes; undefined when that cannot be known. */
export function memoryOf(pid: number): number | undefined {
  const own = residentBytes(pid)
  if (own === undefined) return undefined
  return familyOf(pid).reduce((sum, relative) => sum + (residentBytes(relative.pid) ?? 0), own)
}

/**
 * Ends what a process left running when it went: its group, the session that it led, and who was known to hang on it.
 * A program that leads a session of its own, such as a daemon, is nobody's left-over unless it was in the family.
 */
export function endLeftBehind(pid: number, family: readonly Relative[]): void {
  kill(-pid)
  for (const stat of everyProcess()) {
    const wasFamily = family.some((relative) => relative.pid === stat.pid && relative.start === stat.start)
    if (stat.session === pid || wasFamily) kill(stat.pid)
  }
}

interface Stat extends Relative {
  parent: number
  session: number
}

function everyProcess(): Stat[] {
  return numbersIn("/proc").flatMap((pid) => readStat(pid) ?? [])
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The second field, the command's name, may hold blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    if (fields[0] === "Z") return undefined
    return { pid, parent: Number(fields[1]), session: Number(fields[3]), start: fields[19]! }
  } catch {
    return undefined
  }
}

function residentBytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
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
    // Gone already, or not ours to end.
  }
}
