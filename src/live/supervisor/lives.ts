/** The restarts of one team's session: the backoff, and when to give up. */
export interface Lives {
  isUp: boolean
  startedAtMs: number
  resume: string | undefined
  /** A session that the agent failed to resume. */
  failedResume: string | undefined
  quickDeaths: number
  nextAtMs: number
  note: string | undefined
  givenUp: string | undefined
}

const QUICK_MS = 10_000
const MOST_QUICK_DEATHS = 10
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

export const newLives = (): Lives => ({
  isUp: false,
  startedAtMs: 0,
  resume: undefined,
  failedResume: undefined,
  quickDeaths: 0,
  nextAtMs: 0,
  note: undefined,
  givenUp: undefined,
})

export function startedNow(life: Lives, nowMs: number): void {
  life.startedAtMs = nowMs
  life.resume = undefined
}

/** Exponential backoff of 1 to 60 seconds after a quick death; gives up after too many. */
export function afterDeath(life: Lives, nowMs: number): void {
  life.isUp = false
  const isQuick = nowMs - life.startedAtMs < QUICK_MS
  life.quickDeaths = isQuick ? life.quickDeaths + 1 : 1
  if (isQuick && life.resume !== undefined) life.failedResume = life.resume
  life.nextAtMs = nowMs + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (life.quickDeaths - 1))
  if (life.quickDeaths < MOST_QUICK_DEATHS) return
  const why = life.note === undefined ? "" : `, the last time because ${life.note}`
  life.givenUp = `it ended ${life.quickDeaths} times within ${QUICK_MS / 1000} seconds${why}; \`throughline up\` tries again`
}
