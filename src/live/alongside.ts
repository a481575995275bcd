import type { Presence } from "../domain/presence.ts"
import type { SessionInstance } from "./presence.ts"

/**
 * Sessions that ran alongside their team's own. When that one goes they do not replace it at once, as one that starts
 * afterwards is: it may come back.
 */
export interface Alongside {
  /** What a look found of one team. */
  looked(team: string, live: readonly SessionInstance[], own: Presence | undefined, isOwnRunning: boolean): void
  has(team: string, instance: Pick<SessionInstance, "nativeId" | "pid">): boolean
}

export function makeAlongside(): Alongside {
  const ofTeams = new Map<string, Set<string>>()
  const nameOf = ({ pid, nativeId }: Pick<SessionInstance, "nativeId" | "pid">) => `${pid} ${nativeId}`
  return {
    looked(team, live, own, isOwnRunning) {
      const before = ofTeams.get(team)
      // Whoever was there before the first look may have been there for long.
      const isAlongside = (instance: SessionInstance) =>
        before === undefined || isOwnRunning || before.has(nameOf(instance))
      const others = live.filter(({ pid, nativeId }) => pid !== own?.pid && nativeId !== own?.nativeId)
      ofTeams.set(team, new Set(others.filter(isAlongside).map(nameOf)))
    },
    has: (team, instance) => ofTeams.get(team)?.has(nameOf(instance)) === true,
  }
}
