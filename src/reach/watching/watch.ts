import { makeBell } from "../../domain/bell.ts"
import type { Clock } from "../../domain/clock.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import type { PaneAddress } from "../../domain/panes.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster, Team } from "../../domain/team.ts"
import { teamsOf } from "./belonging.ts"
import { makeCompany } from "./company.ts"
import { type HookEntry, hookEntry } from "./hook-entry.ts"
import type { LiveAgent, LiveSessions, Stranger } from "./live.ts"
import { decide, type Evidence } from "./posts.ts"
import { isUnder, makeRouteFinder, type RouteDeps } from "./routes.ts"
import { readSessionFile } from "./session-file.ts"
import { weigh } from "./telling.ts"

export interface WatchDeps extends RouteDeps {
  store: Store
  clock: Clock
  roster: Roster
  live: LiveSessions
  /** Makes a session known that runs and has said nothing yet, unless it may not be kept. */
  meet(found: Stranger): Promise<unknown>
  /** Where the team's session runs that was started from here. */
  paneOf(team: string): Promise<PaneAddress | undefined>
}

/** Who is at the teams' posts. One after the other: hooks as they come, and a look at all that lives every two seconds. */
export interface Watch {
  run(signal: AbortSignal): Promise<void>
  /** Takes the hooks that the journal has and this has not seen. */
  hear(): Promise<void>
  look(): Promise<void>
}

const FOLLOWER = "reach.watch"
const BATCH = 200
const LOOK_MS = 2_000
const RETRY_MS = 1_000
/** Gathers what comes in a burst; a message may be waiting for the route. */
const GATHER_MS = 20
/** When it runs for the first time: hooks that came while the program started are heard, and no older ones. */
const FIRST_BACK = 500
const FIRST_MS = 60_000
const SWEEP_EVERY = 15

export function makeWatch(deps: WatchDeps): Watch {
  const { store, clock, roster, live, host, processStart } = deps
  const routes = makeRouteFinder(deps)
  const isAlive = ({ pid, processStart: start }: { pid: number; processStart: string | null }) => {
    const now = pid > 0 ? processStart(pid) : undefined
    return now !== undefined && (start === null || start === now)
  }
  const company = makeCompany()
  const facts = { host, isAlive, isBeside: company.isBeside }
  let position: number | undefined
  let notBeforeMs = 0
  let saved = 0

  const begin = async () => {
    const was = await store.journal.position(FOLLOWER)
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
      // What is asked of tmux is asked before the transaction: the embedded database has one connection.
      const found = await Promise.all(hooks.map((hook) => routes.find(hook)))
      // Most entries are none of its own, and a number that is not saved is only read again.
      if (hooks.length > 0 || last.seq - saved >= BATCH) {
        await store.transaction(
          async (tx) => {
            for (const [index, hook] of hooks.entries()) await take(tx, hook, found[index])
            await tx.journal.advance(FOLLOWER, last.seq)
          },
          { readAgain: true },
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
    if (hook.isUnattended) return
    for (const team of teamsOf(roster, session, hook.dir)) await weigh(tx, team, evidenceOf(hook), facts)
  }

  const evidenceOf = ({ sessionId, nativeId, pid, start, end, atMs }: HookEntry): Evidence => {
    if (end !== undefined) return { kind: "ended", nativeId, pid, reason: end, atMs }
    const seat = { sessionId, nativeId, pid, processStart: (pid > 0 ? processStart(pid) : undefined) ?? null }
    return start === undefined ? { kind: "heard", seat, atMs } : { kind: "began", seat, start, atMs }
  }

  /** Which process had which session at the look before, and what was told already. */
  let steady = new Set<string>()
  const told = new Set<string>()
  let looks = 0

  const look = async () => {
    if (looks++ % SWEEP_EVERY === 0) await sweep()
    for (const route of await routes.again())
      if ((await store.sessions.byId(route.sessionId))?.isSubagent === false) await store.routes.put(route)
    if (roster.list().length === 0) return
    // An agent whose hooks are not installed, or speak with the first prompt only, can be sent that first prompt.
    for (const stranger of await live.strangers()) await deps.meet(stranger)
    const atMs = clock.nowMs()
    const agents = (await live.all()).filter(({ isUnattended }) => !isUnattended)
    for (const agent of agents) await locate(agent, atMs)
    const seats = agents.map(({ session, pid, processStart, teams, isShown }) => {
      const seat = { sessionId: session.id, nativeId: session.nativeId, pid, processStart }
      return { ...seat, teams, isShown, isSteady: steady.has(`${pid} ${session.nativeId}`) }
    })
    company.looked(seats.filter(({ isShown }) => isShown !== undefined))
    steady = new Set(seats.map(({ pid, nativeId }) => `${pid} ${nativeId}`))
    for (const team of roster.list()) {
      const mine = seats.filter(({ teams }) => teams.includes(team.name))
      await consider(team, { kind: "looked", live: mine, atMs })
      const named = await readSessionFile(team)
      if (!named) continue
      const session = await store.sessions.byNative(team.platform, named.id)
      await consider(team, { kind: "named", ...named, sessionId: session?.id ?? null, atMs })
    }
  }

  /** One that was started from here is in a pane that is known, although no hook has told of it. */
  const locate = async ({ session, pid, processStart: start, route, teams }: LiveAgent, seenAtMs: number) => {
    const key = `${pid} ${session.nativeId}`
    if (route || start === null || steady.has(key)) return
    for (const team of teams) {
      const pane = await deps.paneOf(team)
      if (pane && isUnder(pid, pane.panePid, deps.parentOf))
        return store.routes.put({ sessionId: session.id, host, pid, processStart: start, pane, seenAtMs })
    }
  }

  /** Nothing has changed at nearly all looks, and then nothing is written. */
  const consider = async (team: Team, evidence: Evidence) => {
    const { post, notice } = decide(await store.posts.byTeam(team.name), evidence, { team: team.name, ...facts })
    if (!post && (!notice || told.has(notice.key))) return
    const written = await store.transaction((tx) => weigh(tx, team, evidence, facts))
    if (written) told.add(written.key)
  }

  const sweep = async () => {
    for (const { sessionId, pid, processStart: start } of await store.routes.list(host)) {
      if (processStart(pid) === start) continue
      await store.transaction(async (tx) => {
        await tx.routes.drop(sessionId, host, pid)
        // Who said goodbye is dropped by that; this one died, or its terminal was closed.
        if ((await tx.routes.ofSession(sessionId)).length > 0) return
        const key = `gone:${sessionId}:${pid}:${start}`
        await tx.journal.append([{ kind: "session.gone", sessionId, atMs: clock.nowMs(), data: { pid }, key }])
      })
    }
  }

  return {
    hear,
    look,
    async run(signal) {
      const bell = makeBell({ store, signal })
      let nextLookMs = 0
      while (!signal.aborted) {
        try {
          await hear()
          if (performance.now() >= nextLookMs) {
            await look()
            nextLookMs = performance.now() + LOOK_MS
          }
          if (await bell.wait(nextLookMs - performance.now())) await bell.pause(GATHER_MS)
        } catch (error) {
          deps.onTrouble(error, "watching sessions")
          await bell.pause(RETRY_MS)
        }
      }
      bell.close()
    },
  }
}
