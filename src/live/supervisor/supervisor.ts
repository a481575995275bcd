import type { AgentConsole } from "../../domain/agent-console.ts"
import { Failure } from "../../domain/failure.ts"
import type { PaneAddress } from "../../domain/panes.ts"
import type { Machine } from "../../domain/platform.ts"
import type { Presence } from "../../domain/presence.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster, Team } from "../../domain/team.ts"
import { sleep } from "../../lib/clock.ts"
import { makeMutex } from "../../lib/mutex.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { isReadableFile } from "../../lib/untrusted-file.ts"
import { type LaunchDeps, LOOK_MS, makeLauncher } from "./launching.ts"
import { afterDeath, type Lives, newLives, startedNow } from "./lives.ts"

/** The sessions that Throughline starts, each in a tmux session, and restarts when supervised. */
export interface Supervisor {
  /** Starts the team's session if none runs, and restarts it whenever it ends, until `down`. */
  up(name: string): Promise<UpAnswer>
  /** Ends it and stops supervising it. */
  down(name: string): Promise<{ wasSupervised: boolean; wasRunning: boolean; stillOpen?: string }>
  /** Starts a session for a pending message, if the team allows it and none runs. False if nothing was started. */
  wake(name: string): Promise<boolean>
  states(): Promise<SupervisedState[]>
  /** The pane of a session started here. */
  paneOf(name: string): Promise<PaneAddress | undefined>
  run(signal: AbortSignal): Promise<void>
}

export interface UpAnswer {
  /** A session was resumed or started, or one was running already, here or in another terminal. */
  how: "resumed" | "started" | "running" | "elsewhere"
  pane?: PaneAddress
  attach?: string
  /** A question on its screen, which only a person may answer. */
  asks?: string
}

export interface SupervisedState {
  team: string
  isSupervised: boolean
  state: "up" | "down" | "starting again" | "given up"
  /** Why it is not running, or what it waits for. */
  note?: string
  attach?: string
}

interface Deps extends LaunchDeps {
  store: Store
  roster: Roster
  machine: Machine
  host: string
  /** Whether the process with this start time still runs. */
  isRunning(pid: number, processStart: string | null): boolean
  onTrouble(error: unknown, what: string): void
  tickMs?: number
}

const TICK_MS = 1_000
/** Agents take up to five seconds to end. */
const END_MS = 10_000

export function makeSupervisor(deps: Deps): Supervisor {
  const { store, clock, roster, panes, consoles, machine, host, onTrouble } = deps
  const launcher = makeLauncher(deps)
  const lives = new Map<string, Lives>()
  const livesOf = (name: string) => {
    const known = lives.get(name) ?? newLives()
    lives.set(name, known)
    return known
  }
  const sessionName = (name: string) => `throughline-${name}`
  const attach = (name: string) => launcher.attach(sessionName(name))
  const paneOf = (name: string) => launcher.paneOf(sessionName(name))
  const consoleOf = ({ platform }: Team) => launcher.consoleOf(platform)

  const needed = (name: string): { team: Team; terminal: AgentConsole } => {
    const team = roster.byName(name)
    const known = roster.list().map((one) => one.name)
    if (!team) throw wrong(`there is no team ${JSON.stringify(name)} (known: ${known.join(", ") || "none"})`)
    const terminal = consoleOf(team)
    const can = consoles.map(({ platform }) => platform).join(", ")
    if (!terminal) throw wrong(`${name}'s agent, ${team.platform}, cannot be started in a terminal (these can: ${can})`)
    for (const [key, file] of [["claude_md", team.instructionsFile] as const, ["settings", team.settingsFile] as const])
      if (file !== null && !isReadableFile(file))
        throw wrong(`teams.${name}.${key} = ${JSON.stringify(file)} cannot be read`)
    return { team, terminal }
  }

  /** Whether a session of the team runs that was not started here. */
  const isElsewhere = async (presence: Presence | undefined) => {
    if (!presence || presence.host !== host || presence.goneAtMs !== null || presence.pid === 0) return false
    if (!deps.isRunning(presence.pid, presence.processStart)) return false
    const team = roster.byName(presence.team)
    const terminal = team && consoleOf(team)
    const live = (await terminal?.live(machine).catch(() => [])) ?? []
    const open = live.find(({ nativeId }) => nativeId === presence.nativeId)
    // A process that runs several sessions outlives this session, and any terminal.
    return open ? open.isShown !== false : terminal?.closeSession === undefined
  }

  /** Its last session, unless it is open: with two processes on one session, one loses its turns. */
  const resumable = async (terminal: AgentConsole, presence: Presence | undefined) => {
    const session = presence?.sessionId ? await store.sessions.byId(presence.sessionId) : undefined
    if (!session || session.platform !== terminal.platform || session.promptCount === 0) return undefined
    const open = await terminal.live(machine)
    const isOpen = open.some(
      ({ nativeId, pid, processStart, isShown }) =>
        nativeId === session.nativeId && isShown !== false && deps.isRunning(pid, processStart),
    )
    return isOpen ? undefined : session.nativeId
  }

  const start = async (name: string, options: { isNew?: boolean } = {}) => {
    const life = livesOf(name)
    startedNow(life, clock.nowMs())
    try {
      const { team, terminal } = needed(name)
      const last = options.isNew ? undefined : await resumable(terminal, await store.presence.byTeam(name))
      life.resume = last === life.failedResume ? undefined : last
      const pane = await launcher.launch(terminal, sessionName(name), team, life.resume)
      life.isUp = true
      return { pane, how: life.resume === undefined ? ("started" as const) : ("resumed" as const) }
    } catch (error) {
      life.note = Failure.from(error).message
      afterDeath(life, clock.nowMs())
      throw error
    }
  }

  const endedAtOnce = (name: string) => () => {
    const message = `${name}'s agent ended at once; it is tried again, see \`throughline teams\``
    throw new Failure("terminal_failing", message, { name })
  }

  const tend = async (presence: Presence) => {
    const name = presence.team
    const life = livesOf(name)
    const nowMs = clock.nowMs()
    if (!life.isUp && (life.givenUp !== undefined || nowMs < life.nextAtMs)) return
    const pane = await paneOf(name).catch(() => undefined)
    if (pane || (await isElsewhere(presence))) life.isUp = true
    else if (life.isUp) afterDeath(life, nowMs)
    else await start(name).catch((error: unknown) => onTrouble(error, `${name}'s session could not be started`))
    if (life.givenUp !== undefined) onTrouble(new Error(life.givenUp), `${name} is given up`)
  }

  /** Ends sessions that were started for a message, after their idle timeout. */
  const endIdle = async (team: Team, kept: ReadonlySet<string>) => {
    if (team.idleTimeoutMs === null || kept.has(team.name)) return
    // Without tmux, no session of ours runs.
    const pane = await paneOf(team.name).catch(() => undefined)
    if (!pane) return
    const session = (await consoleOf(team)?.live(machine))?.find(({ pid }) => pid === pane.panePid)
    if (session?.status !== "idle" || session.statusAtMs === null) return
    if (clock.nowMs() - session.statusAtMs > team.idleTimeoutMs) await panes.end(pane)
  }

  /** Serialised: a person's `up` and the tick must not both start a session. */
  const inTurn = makeMutex()

  const tick = async () => {
    const kept = (await store.presence.list()).filter((presence) => presence.isSupervised && presence.host === host)
    for (const presence of kept) if (roster.byName(presence.team)) await tend(presence)
    const names = new Set(kept.map(({ team }) => team))
    for (const team of roster.list()) await endIdle(team, names)
  }

  return {
    // Without tmux, no session of ours runs.
    paneOf: (name) => paneOf(name).catch(() => undefined),
    async up(name) {
      const { terminal } = needed(name)
      const begun = await inTurn(async () => {
        const presence = await store.presence.byTeam(name)
        lives.delete(name)
        await store.presence.setSupervised(name, true, clock.nowMs(), host)
        const pane = await paneOf(name)
        if (pane) return { pane, how: "running" as const }
        return (await isElsewhere(presence)) ? undefined : start(name)
      })
      if (!begun) return { how: "elsewhere" }
      livesOf(name).isUp = true
      const asks = await launcher.settled(terminal, sessionName(name), begun.pane, endedAtOnce(name))
      return { how: begun.how, pane: begun.pane, attach: attach(name), ...(asks === undefined ? {} : { asks }) }
    },
    async down(name) {
      return inTurn(async () => {
        const [presence, team] = [await store.presence.byTeam(name), roster.byName(name)]
        const wasSupervised = presence?.isSupervised ?? false
        if (wasSupervised) await store.presence.setSupervised(name, false, clock.nowMs(), host)
        lives.delete(name)
        const pane = await paneOf(name)
        const wasRunning = pane !== undefined && (await panes.end(pane))
        // Its shutdown takes a while, and must be over before the session is resumed elsewhere.
        for (let left = END_MS; wasRunning && left > 0 && deps.isRunning(pane.panePid, null); left -= LOOK_MS)
          await sleep(LOOK_MS)
        const close = wasRunning && team ? consoleOf(team)?.closeSession : undefined
        const stillOpen = close && presence?.nativeId ? await close(machine, presence.nativeId) : undefined
        // Its process runs other sessions too, so that the end of the process would not end this route.
        if (close && stillOpen === undefined && presence?.sessionId)
          for (const { pid } of await store.routes.ofSession(presence.sessionId))
            await store.routes.drop(presence.sessionId, host, pid)
        return { wasSupervised, wasRunning, ...(stillOpen !== undefined && { stillOpen }) }
      })
    },
    async wake(name) {
      const team = roster.byName(name)
      if (!team || team.whenAway === "keep" || !consoleOf(team)) return false
      return inTurn(async () => {
        const presence = await store.presence.byTeam(name)
        if (presence?.isSupervised || (await isElsewhere(presence)) || (await paneOf(name))) return false
        const life = livesOf(name)
        if (life.isUp) afterDeath(life, clock.nowMs())
        if (life.givenUp !== undefined || clock.nowMs() < life.nextAtMs) return false
        await start(name, { isNew: team.whenAway === "start" })
        return true
      })
    },
    async states() {
      const presences = new Map((await store.presence.list()).map((presence) => [presence.team, presence]))
      const names = [...new Set([...roster.list().map(({ name }) => name), ...supervisedNames(presences)])]
      return Promise.all(
        names.map(async (name) => {
          const team = roster.byName(name)
          const life = lives.get(name)
          const isSupervised = presences.get(name)?.isSupervised ?? false
          const pane = await paneOf(name).catch(() => undefined)
          const terminal = team && consoleOf(team)
          const asks = pane && terminal ? await launcher.question(terminal, pane).catch(() => undefined) : undefined
          const isUp = pane !== undefined || (await isElsewhere(presences.get(name)))
          const state = isUp ? "up" : life?.givenUp ? "given up" : isSupervised && team ? "starting again" : "down"
          const why = team ? (life?.givenUp ?? life?.note) : "it is supervised but no longer in the configuration"
          const note = asks ? `asks: ${asks}` : isUp && team ? undefined : why
          return {
            team: name,
            isSupervised,
            state,
            ...(note === undefined ? {} : { note }),
            ...(pane ? { attach: attach(name) } : {}),
          } satisfies SupervisedState
        }),
      )
    },
    async run(signal) {
      const everyMs = deps.tickMs ?? TICK_MS
      await superviseLoop({ name: "supervised sessions", signal, everyMs, round: () => inTurn(tick), onTrouble })
    },
  }
}

const supervisedNames = (presences: Map<string, Presence>) =>
  [...presences.values()].filter((presence) => presence.isSupervised).map(({ team }) => team)
const wrong = (message: string) => new Failure("bad_input", message, { parameter: "team" })
