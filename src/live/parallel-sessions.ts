import type { Presence } from "../domain/presence.ts"
import type { SessionInstance } from "./presence.ts"

type InstanceName = Pick<SessionInstance, "nativeId" | "pid">
const nameOf = ({ pid, nativeId }: InstanceName) => `${pid} ${nativeId}`

/**
 * Sessions that ran in parallel to their team's current one. Unlike one that starts after the current session has ended, they do
 * not replace it at once: it may come back.
 */
export function trackParallelSessions() {
  const ofTeams = new Map<string, Set<string>>()
  return {
    /** What a scan found of one team. */
    scanned(
      team: string,
      live: readonly SessionInstance[],
      current: Presence | undefined,
      isCurrentRunning: boolean,
    ): void {
      const before = ofTeams.get(team)
      // A session found by the first scan may have been running for long.
      const isParallel = (instance: SessionInstance) =>
        before === undefined || isCurrentRunning || before.has(nameOf(instance))
      const others = live.filter(({ pid, nativeId }) => pid !== current?.pid && nativeId !== current?.nativeId)
      ofTeams.set(team, new Set(others.filter(isParallel).map(nameOf)))
    },
    has: (team: string, instance: InstanceName): boolean => ofTeams.get(team)?.has(nameOf(instance)) === true,
  }
}

/** Sessions that share one process, each with a terminal: where a process runs several, a second one does not replace the first. */
export function trackSharedProcesses() {
  let withTerminal = new Set<string>()
  /** Once both had a terminal, nothing tells whose was closed: the first one stays current as long as it runs. */
  const pairs = new Set<string>()
  const pairOf = (one: SessionInstance, other: SessionInstance) => `${nameOf(one)} ${nameOf(other)}`
  return {
    /** The sessions with an open terminal, of processes that run several. */
    scanned(instances: readonly SessionInstance[]): void {
      withTerminal = new Set(instances.map(nameOf))
      for (const one of instances) for (const other of instances) if (one !== other) pairs.add(pairOf(one, other))
    },
    /** Whether the other one runs beside this one, and does not replace it. */
    isBeside: (instance: SessionInstance, other: SessionInstance): boolean =>
      withTerminal.has(nameOf(instance)) || pairs.has(pairOf(instance, other)),
  }
}
