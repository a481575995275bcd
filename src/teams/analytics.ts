import type { CountedAsk, CountedQuery, CountedSession, Tokens } from "../domain/analytics.ts"
import type { DeliveryState } from "../domain/delivery.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Pair } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import { nextTurn } from "../lib/clock.ts"
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/time.ts"

/** Reports on turns, questions, tokens, and how long they took. */
export interface AnalyticsReports {
  report(query: CountedQuery): Promise<Report>
}

export interface Report {
  total: Figures
  days: DayFigures[]
  /** Most tokens first. */
  agents: (Figures & { platform: string; days: DayFigures[] })[]
  projects: (Figures & { rootUri: string | null; days: DayFigures[] })[]
  sessions: SessionFigures[]
  lifetimes: Spread | null
  /** A histogram of session lengths, each bucket up to this length; null is the rest. */
  lasted: { upToMs: number | null; sessions: number }[]
  /** Busiest first. */
  pairs: PairFigures[]
}

export interface Figures extends Tokens {
  sessions: number
  /** Prompts to agents, by any sender. */
  prompts: number
  /** Questions to teams. */
  asks: number
}

/** Days in local time that have activity, in order. */
export interface DayFigures extends Figures {
  day: string
}

export interface SessionFigures extends Omit<Figures, "sessions" | "asks"> {
  /** Null if it was not captured: then only its answers are known. */
  id: SessionId | null
  platform: string
  nativeId: string
  title: string
  rootUri: string | null
  firstAtMs: number
  lastAtMs: number
}

export interface PairFigures extends Omit<Figures, "prompts"> {
  pair: Pair
  states: Partial<Record<DeliveryState, number>>
  /** From question to answer, including the time in the lane; null without an answer. */
  response: Spread | null
  /** The agent's own time. */
  work: Spread | null
}

export interface Spread {
  count: number
  medianMs: number
  p95Ms: number
  longestMs: number
}

/** Yields after this many sessions: SQLite runs on the thread that serves all requests. */
const SESSIONS_AT_ONCE = 4

const LASTING_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, DAY_MS, null]

export function makeAnalytics({ store }: { store: Store }): AnalyticsReports {
  const spentIn = async (sessions: CountedSession[], query: CountedQuery): Promise<Row[]> => {
    const rows: Row[] = []
    for (let at = 0; at < sessions.length; at += SESSIONS_AT_ONCE) {
      const some = new Map(sessions.slice(at, at + SESSIONS_AT_ONCE).map((session) => [session.id, session]))
      for (const { sessionId, ...spent } of await store.analytics.spent([...some.keys()], query))
        rows.push({ ...spent, session: some.get(sessionId)!, asks: 0 })
      await nextTurn()
    }
    return rows
  }

  return {
    async report(query) {
      const found = await store.analytics.sessions(query)
      const kept: Kept = new Map(found.map((session) => [keyOf(session), session]))
      const pairs = await pairsIn(store, query, kept)
      const asks = (await store.analytics.asks(query)).filter(({ pairId }) => pairs.has(pairId))
      const rows = await spentIn(found, query)
      rows.push(...toldByAnswers(rows, asks, kept, pairs))
      rows.sort((a, b) => a.atMs - b.atMs)
      const asked = asks.map((ask): Row => askRow(ask, pairs.get(ask.pairId)!, kept))
      const all = [...rows, ...asked]
      const bySession = Map.groupBy(rows, ({ session }) => keyOf(session))
      const byPair = Map.groupBy(asks, ({ pairId }) => pairId)
      const sessions = [...bySession.values()].map(sessionFigures)
      const lifetimes = sessions.map(({ firstAtMs, lastAtMs }) => lastAtMs - firstAtMs)
      return {
        total: figures(all),
        days: byDay(all),
        agents: mostFirst(
          [...Map.groupBy(all, (row) => row.session.platform)].map(([platform, of]) => ({ platform, ...withDays(of) })),
        ),
        projects: mostFirst(
          [...Map.groupBy(all, (row) => row.session.rootUri)].map(([rootUri, of]) => ({ rootUri, ...withDays(of) })),
        ),
        sessions: mostFirst(sessions),
        lifetimes: spread(lifetimes),
        lasted: LASTING_MS.map((upToMs, at) => ({
          upToMs,
          sessions: lifetimes.filter((ms) => ms >= (LASTING_MS[at - 1] ?? 0) && (upToMs === null || ms < upToMs))
            .length,
        })),
        pairs: [...pairs.values()]
          .map((of) => pairFigures(of, bySession, byPair.get(of.pair.id) ?? []))
          .filter(({ asks, sessions }) => asks + sessions > 0)
          .sort((a, b) => b.asks - a.asks || b.outputTokens - a.outputTokens),
      }
    },
  }
}

interface PairWithSessions {
  pair: Pair
  /** All sessions it has had. */
  keys: Set<string>
}

/** The use of one session at one time, or a question to it. */
interface Row extends Tokens {
  session: Omit<CountedSession, "id"> & { id: SessionId | null }
  atMs: number
  firstAtMs: number
  lastAtMs: number
  prompts: number
  asks: number
}

/** The counted sessions, by agent and its own id. */
type Kept = Map<string, CountedSession>

const keyOf = ({ platform, nativeId }: { platform: string; nativeId: string }) => `${platform} ${nativeId}`

/** With a project, only pairs with a session in it. */
async function pairsIn(
  store: Store,
  { platform, projectId }: CountedQuery,
  kept: Kept,
): Promise<Map<string, PairWithSessions>> {
  const sessions = Map.groupBy(await store.analytics.pairSessions(), ({ pairId }) => pairId)
  const all = (await store.pairs.list()).map((pair): [string, PairWithSessions] => {
    const keys = new Set((sessions.get(pair.id) ?? []).map(keyOf))
    if (pair.nativeId !== null) keys.add(keyOf({ platform: pair.platform, nativeId: pair.nativeId }))
    return [pair.id, { pair, keys }]
  })
  return new Map(
    all
      .filter(([, { pair }]) => platform === undefined || pair.platform === platform)
      .filter(([, { keys }]) => projectId === undefined || [...keys].some((key) => kept.has(key))),
  )
}

/** Tokens and cost that a transcript lacks are taken from the answer. Neither is counted twice. */
function toldByAnswers(rows: Row[], asks: CountedAsk[], kept: Kept, pairs: Map<string, PairWithSessions>): Row[] {
  const transcripts = new Map(
    [...Map.groupBy(rows, ({ session }) => keyOf(session))].map(([key, of]) => [key, figures(of)] as const),
  )
  return asks.flatMap((ask): Row[] => {
    const { answer } = ask
    if (!answer) return []
    const row = askRow(ask, pairs.get(ask.pairId)!, kept)
    const told = transcripts.get(keyOf(row.session))
    const tells = told && told.inputTokens + told.outputTokens > 0
    const { inputTokens, outputTokens } = tells ? { inputTokens: 0, outputTokens: 0 } : answer
    const costUsd = told && told.costUsd !== null ? null : answer.costUsd
    const times = { atMs: answer.atMs, firstAtMs: ask.askedAtMs, lastAtMs: answer.atMs }
    return [{ ...row, ...times, inputTokens, outputTokens, costUsd, asks: 0, prompts: told ? 0 : 1 }]
  })
}

function askRow({ askedAtMs, answer }: CountedAsk, { pair }: PairWithSessions, kept: Kept): Row {
  const nativeId = answer?.nativeId ?? pair.nativeId ?? ""
  const about = { platform: pair.platform, nativeId }
  const title = `${pair.fromTeam ?? "no team"} → ${pair.toTeam}`
  return {
    session: kept.get(keyOf(about)) ?? { id: null, ...about, title, rootUri: null },
    ...{ atMs: askedAtMs, firstAtMs: askedAtMs, lastAtMs: askedAtMs, asks: 1, prompts: 0 },
    ...{ inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null },
  }
}

const byDay = (rows: Row[]): DayFigures[] =>
  [...Map.groupBy(rows, ({ atMs }) => dayOf(atMs))]
    .map(([day, of]) => ({ day, ...figures(of) }))
    .sort((a, b) => a.day.localeCompare(b.day))

const withDays = (rows: Row[]) => ({ ...figures(rows), days: byDay(rows) })

function figures(rows: Row[]): Figures {
  const sum = (key: "inputTokens" | "outputTokens" | "cachedTokens" | "prompts" | "asks") =>
    rows.reduce((total, row) => total + row[key], 0)
  const costs = rows.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]))
  return {
    sessions: new Set(rows.map(({ session }) => keyOf(session))).size,
    prompts: sum("prompts"),
    asks: sum("asks"),
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedTokens: sum("cachedTokens"),
    costUsd: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
  }
}

function sessionFigures(rows: Row[]): SessionFigures {
  const { id, platform, nativeId, title, rootUri } = rows[0]!.session
  const { sessions: _, asks: __, ...rest } = figures(rows)
  const firstAtMs = Math.min(...rows.map((row) => row.firstAtMs))
  const lastAtMs = Math.max(...rows.map((row) => row.lastAtMs))
  return { id, platform, nativeId, title, rootUri, firstAtMs, lastAtMs, ...rest }
}

function pairFigures({ pair, keys }: PairWithSessions, rows: Map<string, Row[]>, mine: CountedAsk[]): PairFigures {
  const { prompts: _, ...rest } = figures([...keys].flatMap((key) => rows.get(key) ?? []))
  const states: PairFigures["states"] = {}
  for (const { state } of mine) states[state] = (states[state] ?? 0) + 1
  const answered = mine.flatMap(({ askedAtMs, answer }) => (answer ? [{ askedAtMs, answer }] : []))
  return {
    ...rest,
    pair,
    asks: mine.length,
    states,
    response: spread(answered.map(({ askedAtMs, answer }) => Math.max(0, answer.atMs - askedAtMs))),
    work: spread(answered.map(({ answer }) => answer.durationMs)),
  }
}

function spread(all: number[]): Spread | null {
  if (all.length === 0) return null
  const sorted = all.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
  return { count: sorted.length, medianMs: at(0.5), p95Ms: at(0.95), longestMs: sorted.at(-1)! }
}

const mostFirst = <T extends Tokens & { prompts: number }>(all: T[]): T[] =>
  all.sort((a, b) => b.inputTokens + b.outputTokens - (a.inputTokens + a.outputTokens) || b.prompts - a.prompts)

function dayOf(ms: number): string {
  const date = new Date(ms)
  const two = (n: number) => String(n).padStart(2, "0")
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
