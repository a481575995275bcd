import { Failure } from "../domain/failure.ts"
import { type Heading, headingIn } from "../domain/framing.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Pair } from "../domain/pair.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import type { Roster, Team } from "../domain/team.ts"
import type { Clock } from "../lib/clock.ts"
import type { Asking } from "./asking.ts"
import type { PairSessions } from "./pairs.ts"

/** Sessions started for a pair that no pair has any more, because the store was lost or restored. They can be adopted. */
export interface OrphanedSessions {
  /** Newest first. */
  list(team?: string): Promise<OrphanedSession[]>
  /** Makes it the session of this pair. What the request leaves out is taken from the session's heading. */
  adopt(request: AdoptRequest): Promise<Pair>
}

export interface OrphanedSession {
  session: Session
  fromTeam: string | null
  toTeam: string
  threadId: string
}

export interface AdoptRequest {
  /** The agent's own id, or a prefix of it. */
  session: string
  fromTeam?: string | undefined
  toTeam?: string | undefined
  threadId?: string | undefined
}

export interface OrphanedSessionsDeps {
  store: Store
  clock: Clock
  roster: Roster
  pairing: PairSessions
  asking: Pick<Asking, "alone">
  /** The agent's stored sessions in exactly this folder, newest first. */
  sessionsIn(platform: string, projectDir: string): Promise<Session[]>
  /** Whether any process has it open. */
  isInUse(session: Session): Promise<boolean>
}

export function makeOrphanedSessions(deps: OrphanedSessionsDeps): OrphanedSessions {
  const { store, clock, roster, pairing, asking, sessionsIn, isInUse } = deps
  /** The start of a conversation never changes. */
  const headings = new Map<SessionId, Heading | undefined>()
  const headingOf = async ({ id, promptCount }: Session): Promise<Heading | undefined> => {
    if (promptCount === 0) return undefined
    if (!headings.has(id)) {
      const request = { kinds: ["prompt"], limit: 1, fromStart: true } as const
      headings.set(id, headingIn((await store.turns.ofSession(id, request))[0]?.text ?? ""))
    }
    return headings.get(id)
  }

  const isTeam = (name: string) => roster.byName(name) !== undefined
  const orphaned = (session: Session, team: Team, all: readonly Team[], heading: Heading): OrphanedSession => {
    const named = all.find(({ name }) => name === heading.toTeam)
    const fromTeam = isTeam(heading.sender) ? heading.sender : null
    return { session, fromTeam, toTeam: (named ?? team).name, threadId: heading.threadId }
  }

  /** A person continued a pair's conversation in a copy. */
  const isCopy = async ({ id }: Session) => {
    const parents = (await store.sessions.edges(id)).map(({ parentNativeId }) => parentNativeId)
    return parents.length > 0 && (await store.pairs.taken(parents)).length > 0
  }

  const list = async (team?: string): Promise<OrphanedSession[]> => {
    const found = new Map<SessionId, OrphanedSession>()
    for (const one of roster.list()) {
      const beside = roster.list().filter((other) => isSamePlace(one, other))
      for (const session of await sessionsIn(one.platform, one.projectDir)) {
        const heading = found.has(session.id) ? undefined : await headingOf(session)
        if (heading) found.set(session.id, orphaned(session, one, beside, heading))
      }
    }
    const taken = new Set(await store.pairs.taken([...found.values()].map(({ session }) => session.nativeId)))
    const free: OrphanedSession[] = []
    for (const one of found.values()) {
      if (taken.has(one.session.nativeId) || (team !== undefined && one.toTeam !== team)) continue
      if (!(await isCopy(one.session)) && !(await isInUse(one.session))) free.push(one)
    }
    return free.sort((a, b) => b.session.updatedAtMs - a.session.updatedAtMs)
  }

  const sessionNamed = async (given: string, team: Team | undefined): Promise<Session> => {
    const teams = team ? [team] : roster.list()
    const all = await Promise.all(teams.map(({ platform, projectDir }) => sessionsIn(platform, projectDir)))
    const fitting = new Map(
      all.flat().flatMap((one) => (one.nativeId.startsWith(given) ? [[one.id, one] as const] : [])),
    )
    if (fitting.size === 1) return [...fitting.values()][0]!
    const where = team ? `${team.platform} in ${team.projectDir}` : "the teams' agents in their projects"
    throw new Failure(
      "bad_input",
      fitting.size === 0
        ? `no session of ${where} has the id ${given}`
        : `${given} is the beginning of ${[...fitting.values()].map(({ nativeId }) => nativeId).join(" and ")}`,
      { parameter: "session" },
    )
  }

  const teamNamed = (name: string, parameter: string): Team => {
    const team = roster.byName(name)
    if (team) return team
    throw new Failure("bad_input", `${parameter}: there is no team ${JSON.stringify(name)}`, { parameter })
  }

  return {
    list,
    async adopt({ session: given, fromTeam, toTeam, threadId }) {
      const session = await sessionNamed(given, toTeam === undefined ? undefined : teamNamed(toTeam, "to"))
      const { nativeId } = session
      if (fromTeam !== undefined) teamNamed(fromTeam, "from")
      const refuse = (why: string) => new Failure("bad_input", `${nativeId} ${why}`, { parameter: "session" })
      if ((await store.pairs.taken([nativeId])).length > 0) throw refuse("is, or was, the session of a pair already")
      if (await isInUse(session)) throw refuse("is open now; end it there first")
      const offered = (await list()).find((one) => one.session.id === session.id)
      const to = toTeam ?? offered?.toTeam
      const thread = threadId ?? offered?.threadId
      if (to === undefined || thread === undefined)
        throw refuse("does not record its pair: pass to (the team) and thread")
      const pair = await pairing.ensure(fromTeam ?? offered?.fromTeam ?? null, teamNamed(to, "to"), thread)
      return asking.alone(pair, async () => {
        const now = (await store.pairs.byId(pair.id)) ?? pair
        if (now.isMade && now.status !== "missing")
          throw new Failure("bad_input", `the thread ${thread} has a session already: name another, or reset it`, {
            parameter: "thread",
          })
        await store.transaction(async (tx) => {
          if ((await tx.pairs.taken([nativeId])).length > 0) throw refuse("was adopted a moment ago")
          const { platform, createdAtMs: madeAtMs } = session
          await tx.pairs.update(pair.id, { nativeId, platform, isMade: true, madeAtMs, status: "active" })
          await tx.pairs.addSession({ pairId: pair.id, nativeId, sinceMs: clock.nowMs(), why: "adopted" })
          const data = { id: pair.id, from: pair.fromTeam, to, thread, native: nativeId }
          await tx.journal.append([{ kind: "pair.adopted", atMs: clock.nowMs(), data }])
        })
        return (await store.pairs.byId(pair.id))!
      })
    },
  }
}

const isSamePlace = (a: Team, b: Team) => a.projectDir === b.projectDir && a.platform === b.platform
