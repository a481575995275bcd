import { readdirSync, readFileSync } from "node:fs"

/** Marks the environment of an agent's process and its children, which may leave its group and outlive it. */
export const DRIVEN = "TL_DRIVEN"

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

function isMarked(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${DRIVEN}=${mark}`)
  } catch {
    return false
  }
}

/** All descendants of a process. */
function descendantsOf(pid: number): number[] {
  const parents = numbersIn("/proc").map((other) => [other, parentOf(other)] as const)
  const below = (parent: number): number[] =>
    parents.flatMap(([child, of]) => (of === parent ? [child, ...below(child)] : []))
  return below(pid)
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The second field, the command's name, may hold blanks and parentheses.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
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
    // Gone already, or not ours.
  }
}
