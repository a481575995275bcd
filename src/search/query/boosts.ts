import { DAY_MS } from "../../lib/time.ts"
import type { ParsedQuery } from "../words/query.ts"
import type { Candidate } from "./candidate.ts"
import { shortness } from "./turns.ts"

/** Boosts as shares of a score. Changes are gated by bench/quality and bench/coding. */
const SESSION_SHARE = 0.2
const TIME_SHARE = 0.25
const RECENT_SHARE = 0.5
const RECENT_HALF_LIFE_MS = 14 * DAY_MS

/** Boosts by context: the rest of the session, a time named in the query, and age on request. */
export function boost(
  candidates: readonly Candidate[],
  { query, recent, nowMs, session }: { query: ParsedQuery; recent: boolean; nowMs: number; session: boolean },
): void {
  const top = candidates.reduce((best, { score }) => Math.max(best, score), 0)
  if (top === 0) return
  const sessions = session ? sessionScores(candidates) : undefined
  for (const candidate of candidates) {
    let more = 0
    if (sessions) more += SESSION_SHARE * sessions.get(candidate.sessionId)! * shortness(candidate)
    if (query.time?.some(({ fromMs, toMs }) => candidate.atMs >= fromMs && candidate.atMs < toMs))
      more += TIME_SHARE * top
    if (recent) {
      const ageMs = Math.max(0, nowMs - candidate.atMs)
      more += RECENT_SHARE * candidate.score * 0.5 ** (ageMs / RECENT_HALF_LIFE_MS)
    }
    candidate.score += more
  }
}

/** The best hit of a session, half of the second and a third of the third. */
function sessionScores(candidates: readonly Candidate[]): Map<string, number> {
  return new Map(
    [...Map.groupBy(candidates, ({ sessionId }) => sessionId)].map(([sessionId, members]) => {
      const [first = 0, second = 0, third = 0] = members.map(({ score }) => score).sort((a, b) => b - a)
      return [sessionId, (first + second / 2 + third / 3) / (1 + 1 / 2 + 1 / 3)]
    }),
  )
}
