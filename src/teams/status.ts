import { PAIR_CHANNEL, type Pair, pairLane } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import type { Roster } from "../domain/team.ts"
import { WITH_AGENT } from "../lib/transitions.ts"
import type { Pool, ProcessState } from "./pool.ts"

export interface PairState extends Pair {
  /** Questions in the lane. */
  waiting: number
  /** Questions with the agent. */
  running: number
  /** All sessions it has had. A session copied by a fork counts for the older pair only. */
  sessions: number
  process: ProcessState | undefined
}

export interface TeamsState {
  teams: {
    name: string
    platform: string
    description: string
    color: string | null
    pairs: number
    waiting: number
    running: number
  }[]
  pairs: PairState[]
  processes: (ProcessState & { from: string | null; to: string; threadId: string })[]
}

/** The state of the teams, their pairs and processes. */
export function makeStatus({ store, roster, pool }: { store: Store; roster: Roster; pool: Pool }) {
  return async (team?: string): Promise<TeamsState> => {
    await pool.measure()
    const counts = await store.deliveries.counts(PAIR_CHANNEL)
    const of = (pair: Pair, states: readonly string[]) =>
      counts
        .filter(({ lane, state }) => lane === pairLane(pair.id) && states.includes(state))
        .reduce((sum, { count }) => sum + count, 0)
    const all = await store.pairs.list()
    const sessions = sessionCounts(all, await store.analytics.pairSessions())
    const shown = all.filter(({ fromTeam, toTeam }) => team === undefined || fromTeam === team || toTeam === team)
    const pairs = shown.map((pair) => ({
      ...pair,
      sessions: sessions.get(pair.id) ?? 0,
      waiting: of(pair, ["queued"]),
      running: of(pair, WITH_AGENT),
      process: pool.processOf(pair.id),
    }))
    const sum = (mine: PairState[], key: "waiting" | "running") => mine.reduce((all, pair) => all + pair[key], 0)
    return {
      teams: roster
        .list()
        .filter(({ name }) => team === undefined || name === team)
        .map(({ name, platform, description, color }) => {
          const mine = pairs.filter(({ toTeam }) => toTeam === name)
          const [waiting, running] = [sum(mine, "waiting"), sum(mine, "running")]
          return { name, platform, description, color, pairs: mine.length, waiting, running }
        }),
      pairs,
      processes: pool.list().flatMap((process) => {
        const pair = pairs.find(({ id }) => id === process.pairId)
        return pair ? [{ ...process, from: pair.fromTeam, to: pair.toTeam, threadId: pair.threadId }] : []
      }),
    }
  }
}

function sessionCounts(pairs: readonly Pair[], had: readonly { pairId: string; nativeId: string }[]) {
  const of = Map.groupBy(had, ({ pairId }) => pairId)
  const counted = new Set<string>()
  const oldestFirst = pairs.toSorted((a, b) => a.createdAtMs - b.createdAtMs)
  return new Map(
    oldestFirst.map(({ id, nativeId }) => {
      const ids = new Set([...(of.get(id) ?? []).map((session) => session.nativeId), ...(nativeId ? [nativeId] : [])])
      const own = [...ids].filter((one) => !counted.has(one))
      for (const one of own) counted.add(one)
      return [id, own.length] as const
    }),
  )
}
