import type { SystemFinding, SystemStatus } from "../../operations/system.ts"
import { counted } from "../../operations/text.ts"
import { good, warning, wrong } from "./finding.ts"

/** Background loops: one finding per loop in trouble, and one for all the others. */
export function loopFindings({ loops, bugs }: Pick<SystemStatus, "loops" | "bugs">): SystemFinding[] {
  const troubled = loops.filter(({ state }) => state !== "running")
  const restarts = loops.reduce((sum, loop) => sum + loop.restarts, 0)
  const again = restarts === 0 ? "" : `, restarted ${restarts === 1 ? "once" : `${restarts} times`} since the start`
  const rest: SystemFinding = good(
    "loops",
    `${counted(loops.length - troubled.length, "background loop")} running${again}`,
  )
  return [...(troubled.length === loops.length ? [] : [rest]), ...troubled.map(troubledLoop), ...bugFinding(bugs)]
}

function troubledLoop({ name, state, since, error, restarts }: SystemStatus["loops"][number]): SystemFinding {
  const check = `loop ${name}`
  if (state === "stalled")
    return warning(
      check,
      `stalled: its current round began at ${since} and has not finished`,
      "throughline stop && throughline start; if it stalls again, report it with throughline logs",
    )
  return wrong(
    check,
    `restarting since ${since} (failed ${restarts === 1 ? "once" : `${restarts} times`}): ${error}`,
    "Fix the cause that it names; it is retried every few seconds. throughline logs shows more.",
  )
}

function bugFinding({ count, last }: SystemStatus["bugs"]): SystemFinding[] {
  if (count === 0) return []
  const detail = `${counted(count, "internal error")} since the start, the last at ${last?.at}: ${last?.message}`
  return [warning("errors", detail, "Please report it with the output of throughline logs")]
}
