import type { AgentConsole } from "../domain/agent-console.ts"
import type { LiveAgent, LiveSession, LiveSessions, Route, Stranger } from "../domain/live.ts"
import type { Machine } from "../domain/platform.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { type Roster, teamsOf } from "../domain/team.ts"
import type { Clock } from "../lib/clock.ts"
import { type HeardStatus, makeHookStatus } from "./hook-status.ts"

export interface LiveDeps {
  store: Store
  consoles: readonly AgentConsole[]
  machine: Machine
  /** Undefined without such a process. */
  processStart(pid: number): string | undefined
  host: string
  clock: Clock
  roster: Pick<Roster, "at">
}

/** Registries lag by up to 100 ms; this adds little. */
const KNOWN_MS = 50

export function makeLive({ store, consoles, machine, processStart, host, clock, roster }: LiveDeps): LiveSessions {
  const hookStatus = makeHookStatus(store)
  const isAlive = makeIsAlive(processStart)
  const registry = briefly(clock, async () => {
    const listed = await Promise.all(consoles.map((agent) => agent.live(machine).catch(() => [])))
    return listed.flat().filter(isAlive)
  })

  const withTeams = (agent: Omit<LiveAgent, "teams">, session: Session): LiveAgent => ({
    ...agent,
    teams: teamsOf(roster, session, agent.dir).map(({ name }) => name),
  })

  const everyone = async (isFresh = false): Promise<LiveAgent[]> => {
    const listed = await registry(isFresh)
    const routes = await store.routes.list(host)
    const found: LiveAgent[] = []
    for (const entry of listed) {
      // A session that is excluded or forgotten is not watched either.
      const session = await store.sessions.byNative(entry.platform, entry.nativeId)
      if (!session || session.isSubagent) continue
      const route = routes.find(({ sessionId, pid }) => sessionId === session.id && pid === entry.pid)
      found.push(withTeams(fromRegistry(entry, session, route), session))
    }
    // A listed process may have switched to another session: the registry knows, routes do not.
    const isListed = (route: Route) =>
      listed.some(({ platform, pid }) => platform === route.platform && pid === route.pid)
    for (const route of routes) {
      if (isListed(route) || !isAlive(route)) continue
      const session = await store.sessions.byId(route.sessionId)
      if (!session || session.isSubagent) continue
      found.push(withTeams(fromRoute(route, session, await hookStatus.of(session.id)), session))
    }
    return found
  }

  /** Whether its process has switched to another session, for a process that the registry does not list now. */
  const isLeft = async ({ session, route, pid }: LiveAgent): Promise<boolean> => {
    const isIts = (other: { platform: string; pid: number }) => other.platform === session.platform && other.pid === pid
    if (!route || (await registry()).some(isIts)) return false
    if (!consoles.some(({ platform, can }) => platform === session.platform && can.registry)) return false
    const there = (await store.routes.list(host)).filter(
      (other) => isIts(other) && other.processStart === route.processStart,
    )
    return there.some(({ seenAtMs }) => seenAtMs > route.seenAtMs)
  }

  return {
    async ofTeam(team) {
      const all = (await everyone()).filter(({ teams }) => teams.includes(team.name))
      // A pair's session gets no mail of its team.
      const ofPairs = await Promise.all(all.map(({ session }) => store.pairs.ofNative(session.nativeId)))
      const mine = all.filter((_, index) => ofPairs[index] === undefined)
      const attended = mine.filter(({ isUnattended }) => !isUnattended)
      const presence = await store.presence.byTeam(team.name)
      const isCurrent = ({ session }: LiveAgent) => Number(session.id === presence?.sessionId)
      const seenAtMs = ({ route }: LiveAgent) => route?.seenAtMs ?? 0
      return (attended.length > 0 ? attended : mine).toSorted(
        (a, b) => isCurrent(b) - isCurrent(a) || seenAtMs(b) - seenAtMs(a),
      )
    },
    async ofSession(sessionId, { isFresh = false } = {}) {
      const live = (await everyone(isFresh)).filter(({ session }) => session.id === sessionId)
      // If it is open twice, the one in a pane is where a person is, and where one can type.
      const best = live.find(({ route, isUnattended }) => route?.pane && !isUnattended) ?? live[0]
      if (best && !(await isLeft(best))) return best
      const [route] = await store.routes.ofSession(sessionId)
      const session = route && (await store.sessions.byId(sessionId))
      return session && { ...withTeams(fromRoute(route, session, undefined), session), status: "gone" }
    },
    all: () => everyone(),
    async strangers() {
      const isOfTeam = (entry: LiveSession): entry is Stranger =>
        entry.cwd !== null && roster.at(entry.cwd).some(({ platform }) => platform === entry.platform)
      const found: Stranger[] = []
      for (const entry of (await registry()).filter(isOfTeam))
        if (!entry.isUnattended && !(await store.sessions.byNative(entry.platform, entry.nativeId))) found.push(entry)
      return found
    },
  }
}

/** Pids are reused: another process has another start. An unknown start matches any. */
export const makeIsAlive =
  (processStart: LiveDeps["processStart"]) =>
  ({ pid, processStart: start }: { pid: number; processStart: string | null }): boolean => {
    const now = pid > 0 ? processStart(pid) : undefined
    return now !== undefined && (start === null || start === now)
  }

function fromRegistry(
  entry: LiveSession,
  { id, platform, nativeId }: Session,
  route: Route | undefined,
): Omit<LiveAgent, "teams"> {
  const { status, waitingFor, statusAtMs, pid, processStart, cwd, isUnattended = false, isShown } = entry
  return {
    session: { id, platform, nativeId },
    route,
    status,
    waitingFor,
    statusAtMs,
    pid,
    processStart: processStart ?? route?.processStart ?? null,
    dir: cwd,
    isUnattended,
    isShown,
  }
}

function fromRoute(
  route: Route,
  { id, platform, nativeId, projectPath }: Session,
  heard: HeardStatus | undefined,
): Omit<LiveAgent, "teams"> {
  return {
    session: { id, platform, nativeId },
    route,
    status: heard?.status ?? "idle",
    waitingFor: heard?.waitingFor ?? null,
    statusAtMs: heard?.atMs ?? null,
    pid: route.pid,
    processStart: route.processStart,
    dir: projectPath,
    isUnattended: heard?.isUnattended ?? false,
    isShown: undefined,
  }
}

/** Caches a value for a moment: many callers ask at once. */
function briefly<T>(clock: Clock, read: () => Promise<T>): (isFresh?: boolean) => Promise<T> {
  let known: { value: Promise<T>; atMs: number } | undefined
  return (isFresh = false) => {
    const nowMs = clock.nowMs()
    if (isFresh || !known || Math.abs(nowMs - known.atMs) >= KNOWN_MS) known = { value: read(), atMs: nowMs }
    return known.value
  }
}
