import { type HookEntry, hookEntry } from "../domain/hook.ts"
import type { JournalEntry } from "../domain/journal.ts"
import type { LiveAgent, LiveSessions, Stranger } from "../domain/live.ts"
import { isUntrusted } from "../domain/origin.ts"
import type { PaneAddress } from "../domain/panes.ts"
import type { Activity, Presence, Watch } from "../domain/presence.ts"
import type { Store } from "../domain/store.ts"
import { type Roster, type Team, teamsOf } from "../domain/team.ts"
import { makeBell } from "../lib/bell.ts"
import type { Clock } from "../lib/clock.ts"
import { makeMutex } from "../lib/mutex.ts"
import { isUnder } from "../lib/process-ancestry.ts"
import { superviseLoop } from "../lib/supervised-loop.ts"
import { readSessionFile } from "./hookless.ts"
import { makeIsAlive } from "./live.ts"
import { trackParallelSessions, trackSharedProcesses } from "./parallel-sessions.ts"
import { decide, type Evidence, type SessionInstance } from "./presence.ts"
import { recordEvidence, type TaskFiles } from "./record-evidence.ts"
import { makeRouteFinder, type RouteDeps } from "./routes.ts"

export interface WatchDeps extends RouteDeps, TaskFiles {
  store: Store
  clock: Clock
  roster: Roster
  live: LiveSessions
  /** Stores a running session that has no turns yet, unless it is excluded. */
  meet(found: Stranger): Promise<unknown>
  /** The pane of the team's session, if Throughline started it. */
  paneOf(team: string): Promise<PaneAddress | undefined>
}

const CONSUMER = "reach.watch"
const BATCH = 200
const LOOK_MS = 2_000
/** Debounce for bursts of hooks. Short: a message may be waiting for the route. */
const GATHER_MS = 20
/** On the first run, only hooks from the start-up of the program are read, and none before. */
const FIRST_BACK = 500
const FIRST_MS = 60_000
const SWEEP_EVERY = 15

export function makeWatch(deps: WatchDeps): Watch {
  const { store, clock, roster, live, host, processStart } = deps
  const routes = makeRouteFinder(deps)
  const isAlive = makeIsAlive(processStart)
  const isThere = (presence: Presence) =>
    presence.goneAtMs === null && (presence.host !== host || presence.pid === 0 || isAlive(presence))
  const sharedProcesses = trackSharedProcesses()
  const facts = { host, isAlive, isBeside: sharedProcesses.isBeside, taskFile: deps.taskFile }
  let position: number | undefined
  let notBeforeMs = 0
  let saved = 0

  const parallel = trackParallelSessions()
  /** Serialises the steps: evidence gathered before another step's decision would undo that decision. */
  const inTurn = makeMutex()

  const begin = async () => {
    const was = await store.journal.position(CONSUMER)
    if (was > 0) return was
    notBeforeMs = clock.nowMs() - FIRST_MS
    return Math.max(0, (await store.journal.last()) - FIRST_BACK)
  }

  const hear = async () => {
    position ??= saved = await begin()
    for (;;) {
      const entries: JournalEntry[] = await store.journal.after(position, BATCH)
      const last = entries.at(-1)
      if (!last) return
      const hooks = entries.flatMap((entry) => hookEntry(entry) ?? []).filter(({ atMs }) => atMs >= notBeforeMs)
      // tmux is asked before the transaction: SQLite has one connection.
      const found = await Promise.all(hooks.map((hook) => routes.find(hook)))
      // Most entries are not hooks. Without a saved position they are only read again.
      if (hooks.length > 0 || last.seq - saved >= BATCH) {
        await store.transaction(
          async (tx) => {
            for (const [index, hook] of hooks.entries()) await take(tx, hook, found[index])
            await tx.journal.advance(CONSUMER, last.seq)
          },
          { durability: "relaxed" },
        )
        saved = last.seq
      }
      position = last.seq
      if (entries.length < BATCH) return
    }
  }

  const take = async (tx: Store, hook: HookEntry, route: Awaited<ReturnType<typeof routes.find>>) => {
    const session = await tx.sessions.byId(hook.sessionId)
    if (!session || session.isSubagent) return
    if (route) await tx.routes.put(route)
    if (hook.end !== undefined && hook.pid > 0) await tx.routes.drop(session.id, host, hook.pid)
    // A pair's session only answers questions: it is never a team's current session.
    if (hook.isUnattended || (await tx.pairs.ofNative(hook.nativeId))) return
    for (const team of teamsOf(roster, session, hook.dir)) await recordEvidence(tx, team, evidenceOf(hook), facts)
  }

  const evidenceOf = ({ sessionId, nativeId, pid, start, end, atMs }: HookEntry): Evidence => {
    if (end !== undefined) return { kind: "ended", nativeId, pid, reason: end, atMs }
    const instance = { sessionId, nativeId, pid, processStart: (pid > 0 ? processStart(pid) : undefined) ?? null }
    return start === undefined ? { kind: "heard", instance, atMs } : { kind: "began", instance, start, atMs }
  }

  /** The sessions and processes of the previous scan, and the notices already written. */
  let steady = new Set<string>()
  const told = new Set<string>()
  let looks = 0

  const look = async () => {
    if (looks++ % SWEEP_EVERY === 0) await sweep()
    for (const route of await routes.again())
      if ((await store.sessions.byId(route.sessionId))?.isSubagent === false) await store.routes.put(route)
    if (roster.list().length === 0) return
    // An agent without hooks, or whose hooks start with the first prompt, can then be sent that prompt.
    for (const stranger of await live.strangers()) await deps.meet(stranger)
    const atMs = clock.nowMs()
    const agents = await attended()
    for (const agent of agents) await locate(agent, atMs)
    const instances = agents.map((agent) => {
      const { session, pid, teams, isShown } = agent
      return { ...toInstance(agent), teams, isShown, isSteady: steady.has(`${pid} ${session.nativeId}`) }
    })
    sharedProcesses.scanned(instances.filter(({ isShown }) => isShown !== undefined))
    steady = new Set(instances.map(({ pid, nativeId }) => `${pid} ${nativeId}`))
    for (const team of roster.list()) {
      const mine = instances.filter(({ teams }) => teams.includes(team.name))
      const own = await store.presence.byTeam(team.name)
      parallel.scanned(team.name, mine, own, own !== undefined && isThere(own))
      await consider(team, { kind: "looked", live: mine, atMs })
      await readName(team)
    }
  }

  const readName = async (team: Team) => {
    const named = readSessionFile(team)
    if (!named) return
    const { id, writtenAtMs } = named
    await consider(team, { kind: "named", id, writtenAtMs, sessionId: await claimed(team, id), atMs: clock.nowMs() })
  }

  /** The file could name any session: only one of this team's own agent is accepted. */
  const claimed = async ({ name, platform }: Team, nativeId: string) => {
    const session = await store.sessions.byNative(platform, nativeId)
    if (!session || session.isSubagent || isUntrusted(session) || (await store.pairs.ofNative(nativeId))) return null
    return teamsOf(roster, session).some((team) => team.name === name) ? session.id : null
  }

  const attended = async (): Promise<LiveAgent[]> => {
    const agents: LiveAgent[] = []
    for (const agent of await live.all())
      if (!agent.isUnattended && !(await store.pairs.ofNative(agent.session.nativeId))) agents.push(agent)
    return agents
  }

  /** Finds the route of a session that Throughline started before its first hook. */
  const locate = async ({ session, pid, processStart: start, route, teams }: LiveAgent, seenAtMs: number) => {
    const key = `${pid} ${session.nativeId}`
    if (route || start === null || steady.has(key)) return
    for (const team of teams) {
      const pane = await deps.paneOf(team)
      if (pane && isUnder(pid, pane.panePid, deps.parentOf))
        return store.routes.put({ sessionId: session.id, host, pid, processStart: start, pane, seenAtMs })
    }
  }

  /** Nearly all scans change nothing, and then open no transaction. */
  const consider = async (team: Team, evidence: Evidence) => {
    const { presence, notice } = decide(await store.presence.byTeam(team.name), evidence, { team: team.name, ...facts })
    if (!presence && (!notice || told.has(notice.key))) return
    const written = await store.transaction((tx) => recordEvidence(tx, team, evidence, facts))
    if (written) told.add(written.key)
  }

  const reportTakeovers = async (active: readonly Activity[]) => {
    const own = new Set((await store.presence.list()).map(({ sessionId }) => sessionId))
    const others = Map.groupBy(
      active.filter(({ sessionId }) => !own.has(sessionId)),
      ({ sessionId }) => sessionId,
    )
    if (others.size === 0 || roster.list().length === 0) return
    await hear()
    const agents = await attended()
    for (const agent of agents) {
      const done = others.get(agent.session.id)
      if (!done) continue
      const isGiven = done.some((one) => one.isGiven)
      const { atMs } = done.at(-1)!
      const firstSeenMs = (await store.sessions.byId(agent.session.id))?.createdAtMs ?? atMs
      const instance = toInstance(agent)
      for (const name of agent.teams) {
        const team = roster.byName(name)
        if (!team || parallel.has(name, instance)) continue
        const mine = agents.filter(({ teams }) => teams.includes(name)).map(toInstance)
        await consider(team, {
          kind: "active",
          instance,
          firstSeenMs,
          live: mine,
          isGiven,
          atMs,
        })
      }
    }
  }

  const sweep = async () => {
    for (const { sessionId, pid, processStart: start } of await store.routes.list(host)) {
      if (processStart(pid) === start) continue
      await store.transaction(async (tx) => {
        await tx.routes.drop(sessionId, host, pid)
        // An orderly end drops the route itself: this process died, or its terminal was closed.
        if ((await tx.routes.ofSession(sessionId)).length > 0) return
        const key = `gone:${sessionId}:${pid}:${start}`
        await tx.journal.append([{ kind: "session.gone", sessionId, atMs: clock.nowMs(), data: { pid }, key }])
      })
    }
  }

  return {
    hear: () => inTurn(hear),
    look: () => inTurn(look),
    reportTakeovers: (active) => inTurn(() => reportTakeovers(active)),
    readName: (team) => inTurn(() => readName(team)),
    async mayReturn(team, { session: { nativeId }, pid }) {
      const own = await store.presence.byTeam(team)
      const isWaitedFor = own && own.host === host && own.pid > 0 && !own.isTold && own.nativeId !== nativeId
      return isWaitedFor === true && !isThere(own) && parallel.has(team, { nativeId, pid })
    },
    async run(signal) {
      const bell = makeBell({ store, signal })
      let nextLookMs = 0
      await superviseLoop({
        name: "session watch",
        signal,
        onTrouble: deps.onTrouble,
        async round() {
          await inTurn(hear)
          if (performance.now() >= nextLookMs) {
            await inTurn(look)
            nextLookMs = performance.now() + LOOK_MS
          }
          if (await bell.wait(nextLookMs - performance.now())) await bell.pause(GATHER_MS)
        },
      })
      bell.close()
    },
  }
}

const toInstance = ({ session, pid, processStart }: LiveAgent): SessionInstance => ({
  sessionId: session.id,
  nativeId: session.nativeId,
  pid,
  processStart,
})
