import { basename } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { AgentConsole } from "../../domain/agent-console.ts"
import { Failure } from "../../domain/failure.ts"
import type { LiveSessions } from "../../domain/live.ts"
import type { PaneAddress, Panes } from "../../domain/panes.ts"
import type { Resuming, Started } from "../../domain/resuming.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { plainTeam, type Roster, type Team } from "../../domain/team.ts"
import type { Clock } from "../../lib/clock.ts"
import { makeMutex } from "../../lib/mutex.ts"
import { kindOf } from "../../lib/untrusted-file.ts"

export interface ResumingDeps {
  store: Store
  clock: Clock
  roster: Roster
  panes: Panes
  consoles: readonly AgentConsole[]
  live: Pick<LiveSessions, "ofSession" | "all">
  /** Of our own tmux server. */
  socket: string
  settleMs?: number
}

const SETTLE_MS = 8_000
const LOOK_MS = 100
const LOOKED_THROUGH = 60

export function makeResuming({
  store,
  clock,
  roster,
  panes,
  consoles,
  live,
  socket,
  settleMs,
}: ResumingDeps): Resuming {
  const consoleOf = (platform: string) => consoles.find((one) => one.platform === platform)
  const attach = (name: string) => `tmux -S ${socket} attach -t ${name}`

  /** Waits until the agent accepts a prompt or asks a question. */
  const settled = async (
    terminal: AgentConsole,
    pane: PaneAddress,
    name: string,
  ): Promise<Started & { isUp: true }> => {
    const up = { isUp: true as const, how: "started" as const, attach: attach(name) }
    for (const untilMs = clock.nowMs() + (settleMs ?? SETTLE_MS); clock.nowMs() < untilMs; await sleep(LOOK_MS)) {
      const look = await panes.look(pane)
      if (!look) throw new Failure("terminal_failing", "the agent ended at once")
      const screen = terminal.screen(look)
      if (screen.kind === "dialog") return { ...up, asks: screen.what }
      if (screen.kind === "input") return up
    }
    return up
  }

  const launch = async (name: string, team: Team, resume?: string): Promise<Started> => {
    const terminal = consoleOf(team.platform)
    if (!terminal) return { isUp: false, why: `${team.platform} cannot be started in a terminal` }
    const there = await panes.find({ socket, name }).catch(() => undefined)
    if (there) return { isUp: true, how: "running", attach: attach(name) }
    try {
      const { argv, env } = terminal.launch({
        team,
        ...(resume === undefined ? {} : { resume }),
        ...(team.program === null ? {} : { program: team.program }),
      })
      const pane = await panes.start({ socket, name, cwd: team.projectDir, argv, env })
      const begun = await settled(terminal, pane, name)
      return { ...begun, how: resume === undefined ? "started" : "resumed" }
    } catch (error) {
      return { isUp: false, why: Failure.from(error).message }
    }
  }

  /** Serialised: pressing a button twice must not start two sessions. */
  const inTurn = makeMutex()

  /** A team's folder uses the team's settings. */
  const teamAt = (dir: string, platform: string | undefined): Team =>
    roster.at(dir).find((team) => platform === undefined || team.platform === platform) ??
    plainTeam(basename(dir), dir, platform)

  return {
    async resume(sessionId) {
      const session = await store.sessions.byId(sessionId)
      if (!session) return { isUp: false, why: "the session is no longer stored" }
      return inTurn(async () => {
        const agent = await live.ofSession(sessionId)
        if (agent && agent.status !== "gone") return { isUp: true, how: "running" }
        const dir = folderOf(session)
        if (dir === undefined) return { isUp: false, why: "its folder is no longer on this machine" }
        const team = { ...teamAt(dir, session.platform), projectDir: dir }
        return launch(`throughline-${session.id.slice(0, 8)}`, team, session.nativeId)
      })
    },
    async start(where, name) {
      const team = "team" in where ? roster.byName(where.team) : isFolder(where.dir) && teamAt(where.dir, undefined)
      if (!team)
        return {
          isUp: false,
          why: "team" in where ? `there is no team ${where.team}` : `there is no folder ${where.dir}`,
        }
      return inTurn(() => launch(name, "dir" in where ? { ...team, projectDir: where.dir } : team))
    },
    async ended(limit, isWanted) {
      const filter = { archived: false, subagents: false, empty: false, limit: LOOKED_THROUGH }
      const alive = new Set((await live.all()).map(({ session }) => session.id))
      const found: Session[] = []
      for (const session of await store.sessions.list(filter)) {
        if (found.length >= limit) break
        const isFit = !alive.has(session.id) && consoleOf(session.platform) && session.promptCount > 0
        if (!isFit || !(await isWanted(session))) continue
        if (folderOf(session) !== undefined && !(await store.pairs.ofNative(session.nativeId))) found.push(session)
      }
      return found
    },
  }
}

function folderOf({ projectPath, rootUri }: Session): string | undefined {
  const roots = rootUri?.startsWith("file://") ? [fileURLToPath(rootUri)] : []
  return [...(projectPath === null ? [] : [projectPath]), ...roots].find(isFolder)
}

function isFolder(path: string): boolean {
  return kindOf(path) === "folder"
}
