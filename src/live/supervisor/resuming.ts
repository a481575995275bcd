import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { Failure } from "../../domain/failure.ts"
import type { LiveSessions } from "../../domain/live.ts"
import type { Resuming, Started } from "../../domain/resuming.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { plainTeam, type Roster, type Team } from "../../domain/team.ts"
import { makeMutex } from "../../lib/mutex.ts"
import { kindOf } from "../../lib/untrusted-file.ts"
import { type LaunchDeps, makeLauncher } from "./launching.ts"

export interface ResumingDeps extends LaunchDeps {
  store: Store
  roster: Roster
  live: Pick<LiveSessions, "ofSession" | "all">
}

const LOOKED_THROUGH = 60

export function makeResuming({ store, roster, live, ...deps }: ResumingDeps): Resuming {
  const launcher = makeLauncher(deps)

  const launch = async (name: string, team: Team, resume?: string): Promise<Started> => {
    const terminal = launcher.consoleOf(team.platform)
    if (!terminal) return { isUp: false, why: `${team.platform} cannot be started in a terminal` }
    const attach = launcher.attach(name)
    if (await launcher.paneOf(name).catch(() => undefined)) return { isUp: true, how: "running", attach }
    try {
      const pane = await launcher.launch(terminal, name, team, resume)
      const asks = await launcher.settled(terminal, name, pane, endedAtOnce)
      const how = resume === undefined ? "started" : "resumed"
      return { isUp: true, how, attach, ...(asks === undefined ? {} : { asks }) }
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
        const isFit = !alive.has(session.id) && launcher.consoleOf(session.platform) && session.promptCount > 0
        if (!isFit || !(await isWanted(session))) continue
        if (folderOf(session) !== undefined && !(await store.pairs.ofNative(session.nativeId))) found.push(session)
      }
      return found
    },
  }
}

function endedAtOnce(): never {
  throw new Failure("terminal_failing", "the agent ended at once")
}

function folderOf({ projectPath, rootUri }: Session): string | undefined {
  const roots = rootUri?.startsWith("file://") ? [fileURLToPath(rootUri)] : []
  return [...(projectPath === null ? [] : [projectPath]), ...roots].find(isFolder)
}

function isFolder(path: string): boolean {
  return kindOf(path) === "folder"
}
