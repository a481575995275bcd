import type { Pair } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import type { Roster } from "../domain/team.ts"
import type { Asking } from "./asking.ts"
import type { Pool } from "./pool.ts"

export interface PrestartDeps {
  store: Store
  roster: Roster
  pool: Pool
  asking: Pick<Asking, "alone" | "atWork">
  settings: { prestart: number; maxProcesses: number }
  isOpenElsewhere(platform: string, nativeId: string): Promise<boolean>
  onTrouble(error: unknown, what: string): void
}

/** Starts the processes of the most used pairs in advance. It calls no model and ends no other process. */
export async function prestart(deps: PrestartDeps, signal: AbortSignal): Promise<void> {
  const { store, roster, pool, asking, settings, isOpenElsewhere, onTrouble } = deps
  if (settings.prestart === 0) return
  const most = (await store.pairs.list())
    .filter(({ isMade, status }) => isMade && (status === "active" || status === "compact_pending"))
    .sort((a, b) => b.messageCount - a.messageCount || b.lastUsedAtMs - a.lastUsedAtMs)
    .slice(0, settings.prestart)
  const wake = async (pair: Pair) => {
    const team = roster.byName(pair.toTeam)
    const isFull = pool.list().length >= settings.maxProcesses
    if (!team || isFull || pair.nativeId === null || pool.processOf(pair.id) || asking.atWork(pair.id)) return
    if (await isOpenElsewhere(pair.platform, pair.nativeId)) return
    await asking.alone(pair, async () => {
      const use = await pool.take(pair, team)
      if (!("later" in use)) use.release()
    })
  }
  for (const pair of most) {
    if (signal.aborted) return
    await wake(pair).catch((error: unknown) => onTrouble(error, `${pair.id} could not be started ahead`))
  }
}
