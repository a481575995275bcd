import { createHash } from "node:crypto"
import type { DrivenSession, DriveOptions, Driver } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import { newKey } from "../domain/ids.ts"
import type { Pair, PairSession } from "../domain/pair.ts"
import { refuseSecret } from "../domain/redact.ts"
import type { Store } from "../domain/store.ts"
import type { Team } from "../domain/team.ts"
import type { Clock } from "../lib/clock.ts"

/** The session of each pair of teams, and how it is opened: resumed, or replaced by one that is told about it. */
export interface PairSessions {
  /** Creates the pair once, however many callers race. It creates no session. */
  ensure(fromTeam: string | null, team: Team, threadId: string): Promise<Pair>
  find(fromTeam: string | null, toTeam: string, threadId: string): Promise<Pair | undefined>
  /** Starts a process on its session, or with `isCopy` on a copy, which becomes the pair's session. */
  open(pair: Pair, team: Team, request?: { isCopy?: boolean }): Promise<Opened | { laterMs: number }>
  /** Creates another thread of the same teams, whose session will be a copy of this one. */
  fork(pair: Pair): Promise<Pair>
  /** Marks pairs whose sessions are missing in the agents' records, and returns them. */
  check(): Promise<{ pair: Pair; where: Whereabouts }[]>
}

/** Where the agent's records have a session: in the team's folder, nowhere, or in another folder. */
export type Whereabouts = "here" | "gone" | "elsewhere"

export interface Opened {
  session: DrivenSession
  /** It knows the previous session from the preface at most. */
  isContextNew: boolean
  /** Text at the start of the first prompt. */
  preface: string | null
}

export interface PairSessionsDeps {
  store: Store
  clock: Clock
  drivers: readonly Driver[]
  /** Starts a process for the pair. */
  start(driver: Driver, pair: Pair, team: Team, session: DriveOptions["session"]): Promise<DrivenSession>
  /** A brief of the session. */
  briefOf(nativeId: string): Promise<string | undefined>
  teamOf(name: string): Team | undefined
  redact(text: string, projectDir: string): string
  /** Undefined if it cannot be determined. */
  whereIs(session: SessionOfPair): Promise<Whereabouts | undefined>
}

export interface SessionOfPair {
  platform: string
  nativeId: string
  /** When it was last known to exist. */
  sinceMs: number
  /** Null if the team was removed. */
  projectDir: string | null
}

export const pairId = (fromTeam: string | null, toTeam: string, threadId: string) =>
  `p-${createHash("sha256")
    .update(JSON.stringify([fromTeam, toTeam, threadId]))
    .digest("hex")
    .slice(0, 16)}`

export function makePairing(deps: PairSessionsDeps): PairSessions {
  const { store, clock, drivers, start, briefOf, teamOf, redact, whereIs } = deps
  const driverOf = (team: Team): Driver => {
    const driver = drivers.find(({ platform }) => platform === team.platform)
    if (driver) return driver
    const known = drivers.map(({ platform }) => platform).join(", ")
    throw new Failure("bad_input", `${team.name} is of ${team.platform}, which cannot be asked (can be: ${known})`, {
      parameter: "team",
    })
  }

  const resumed = async (driver: Driver, pair: Pair, team: Team): Promise<Opened | undefined> => {
    if (pair.nativeId === null || pair.platform !== team.platform || !driver.can.resume) return undefined
    // Without a prompt there is nothing to resume.
    if (!pair.isMade && pair.messageCount === 0) return undefined
    if (await isLost(pair)) return undefined
    try {
      const session = await start(driver, pair, team, { kind: "resume", id: pair.nativeId })
      await store.pairs.update(pair.id, { isMade: true, madeAtMs: pair.madeAtMs ?? clock.nowMs(), status: "active" })
      return { session, isContextNew: false, preface: null }
    } catch (error) {
      if (error instanceof Failure && error.code === "cannot_resume") return undefined
      throw error
    }
  }

  const whereabouts = async ({ nativeId, platform, toTeam, madeAtMs }: Pair): Promise<Whereabouts | undefined> => {
    if (nativeId === null) return undefined
    return whereIs({ platform, nativeId, sinceMs: madeAtMs ?? 0, projectDir: teamOf(toTeam)?.projectDir ?? null })
  }
  /** Looks again: the disk may only have been unmounted for a while. */
  const isLost = async (pair: Pair) => {
    if (pair.status !== "missing") return false
    const where = await whereabouts(pair)
    return where === "gone" || where === "elsewhere"
  }

  /** Replaces the pair's session only once the new one has started, so that a failed start loses no context. */
  const begun = async (driver: Driver, pair: Pair, team: Team, how: Beginning): Promise<Opened> => {
    const { why, before } = how
    let session: DrivenSession
    try {
      session = await startOnce(driver, pair, team, how)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      // The session to copy is gone.
      if (error.code === "cannot_resume") return begun(driver, pair, team, { why: "lost", id: newKey(), before })
      if (error.code !== "agent_failed") throw error
      session = await startOnce(driver, pair, team, { ...how, id: newKey() })
    }
    const { nativeId } = session
    const fresh = { nativeId, isMade: false, madeAtMs: null, status: "active", platform: team.platform } as const
    const nowMs = clock.nowMs()
    await store.transaction(async (tx) => {
      await tx.pairs.update(pair.id, fresh)
      await tx.pairs.addSession({ pairId: pair.id, nativeId, sinceMs: nowMs, why })
      const data = { id: pair.id, from: pair.fromTeam, to: pair.toTeam, thread: pair.threadId }
      if (why === "continued")
        await tx.journal.append([
          { kind: "pair.continued", atMs: nowMs, data: { ...data, native: before, next: nativeId } },
        ])
    })
    const opening = PREFACES[why]
    const brief = opening !== undefined && before !== null ? (how.brief ?? (await briefOf(before))) : undefined
    return {
      session,
      isContextNew: isNewContext(why),
      preface: brief === undefined ? null : `${opening}\n${brief.trim()}\n[What is asked now follows.]`,
    }
  }

  const startOnce = (driver: Driver, pair: Pair, team: Team, { why, id, before }: Beginning) =>
    start(
      driver,
      pair,
      team,
      why === "fork" && before !== null && driver.can.fork ? { kind: "fork", id: before, as: id } : { kind: "new", id },
    )

  return {
    async ensure(fromTeam, team, threadId) {
      driverOf(team)
      refuseSecret("threadId", threadId, (text) => redact(text, team.projectDir))
      const nowMs = clock.nowMs()
      return store.pairs.ensure({
        ...{ id: pairId(fromTeam, team.name, threadId), fromTeam, toTeam: team.name, threadId },
        ...{ platform: team.platform, nativeId: null, isMade: false, madeAtMs: null, status: "active" },
        ...{ messageCount: 0, createdAtMs: nowMs, lastUsedAtMs: nowMs },
      })
    },
    find: (fromTeam, toTeam, threadId) => store.pairs.byId(pairId(fromTeam, toTeam, threadId)),
    async open(pair, team, { isCopy = false } = {}) {
      const driver = driverOf(team)
      const lineage = await store.pairs.sessions(pair.id)
      if (isCopy && pair.nativeId !== null)
        return begun(driver, pair, team, { why: "fork", id: newKey(), before: pair.nativeId })
      const laterMs = (pair.madeAtMs ?? 0) + driver.can.resumeAfterMs - clock.nowMs()
      if (pair.isMade && laterMs > 0) return { laterMs }
      // Without a brief for the new session, the old one stays.
      const brief = isToContinue(pair) ? await briefOf(pair.nativeId) : undefined
      if (brief !== undefined)
        return begun(driver, pair, team, { why: "continued", id: newKey(), before: pair.nativeId, brief })
      return (await resumed(driver, pair, team)) ?? begun(driver, pair, team, beginning(pair, lineage))
    },
    async fork(pair) {
      if (pair.nativeId === null)
        throw new Failure("cannot_resume", "nothing was said in this thread yet that could be copied")
      const threadId = `${pair.threadId.slice(0, 80)}-fork-${newKey().slice(0, 6)}`
      const nowMs = clock.nowMs()
      const id = pairId(pair.fromTeam, pair.toTeam, threadId)
      return store.transaction(async (tx) => {
        const copy = { ...pair, id, threadId, nativeId: null, isMade: false, madeAtMs: null, messageCount: 0 }
        const made = await tx.pairs.ensure({ ...copy, status: "active", createdAtMs: nowMs, lastUsedAtMs: nowMs })
        await tx.pairs.addSession({ pairId: id, nativeId: pair.nativeId!, sinceMs: nowMs, why: "fork" })
        return made
      })
    },
    async check() {
      const made = (await store.pairs.list()).filter(({ isMade, status }) => isMade && status !== "missing")
      const missing: { pair: Pair; where: Whereabouts }[] = []
      for (const pair of made) {
        const where = await whereabouts(pair)
        if (where === undefined || where === "here") continue
        await store.pairs.update(pair.id, { status: "missing" })
        missing.push({ pair, where })
      }
      return missing
    },
  }
}

type Why = "first" | "reset" | "lost" | "fork" | "continued"

interface Beginning {
  why: Why
  id: string
  /** The previous session. */
  before: string | null
  /** The brief of that one, if it was fetched already. */
  brief?: string
}

/** Whether a session started for this reason knows the previous one from a brief at most. */
export const isNewContext = (why: string | undefined) => why === "lost" || why === "reset" || why === "continued"

const isToContinue = (pair: Pair): pair is Pair & { nativeId: string } =>
  pair.status === "continue_pending" && pair.nativeId !== null

/** Why a session starts. A session that was started but never prompted keeps its reason. */
function beginning({ nativeId, isMade }: Pair, lineage: PairSession[]): Beginning {
  const id = newKey()
  const at = lineage.findIndex((session) => session.nativeId === nativeId)
  const last = lineage.at(-1)?.nativeId ?? null
  if (nativeId !== null && isMade) return { why: "lost", id, before: nativeId }
  if (at >= 0) {
    const before = lineage[at - 1]?.nativeId ?? null
    return { why: lineage[at]!.why as Why, id: nativeId!, before }
  }
  if (last === null) return { why: "first", id, before: null }
  return { why: lineage.length === 1 && lineage[0]!.why === "fork" ? "fork" : "reset", id, before: last }
}

const PREFACES: Partial<Record<Why, string>> = {
  lost: "[This session is new: the previous one could not be resumed. What is known of it follows.]",
  continued: "[This session continues an earlier one, which became too long. What is known of it follows.]",
}
