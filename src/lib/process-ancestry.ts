/** Deeper than shells and wrappers between a pane and its agent ever are. */
const MAX_DEPTH = 32

/** Whether a process is another one, or was started by it, directly or not. */
export function isUnder(pid: number, above: number, parentOf: (pid: number) => number | undefined): boolean {
  let at: number | undefined = pid
  for (let depth = 0; at !== undefined && at > 1 && depth < MAX_DEPTH; depth++) {
    if (at === above) return true
    at = parentOf(at)
  }
  return false
}
