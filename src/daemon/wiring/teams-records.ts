import { realpathSync } from "node:fs"
import { relative } from "node:path"
import type { CaptureModule } from "../../capture/module.ts"
import { Failure } from "../../domain/failure.ts"
import type { LiveSessions } from "../../domain/live.ts"
import type { Messages } from "../../domain/messages.ts"
import type { ProjectFinder } from "../../domain/project.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Briefs } from "../../search/brief/brief.ts"
import type { TeamsDeps } from "../../teams/module.ts"
import { ownProgram } from "../own-program.ts"
import { PAIR } from "../process/environment.ts"
import type { Home } from "../process/home.ts"

const BRIEF_TOKENS = 2_000
/** Of those that are older nobody is told. */
const MOST_SESSIONS = 500

/** What the modules beside it know of the sessions that teams have with each other. */
export function teamsRecords({
  store,
  capture,
  briefs,
  live,
  projects,
  messages,
  isCaptured,
}: {
  store: Store
  capture: CaptureModule
  briefs: Briefs
  live: LiveSessions
  projects: ProjectFinder
  messages: Messages
  isCaptured: boolean
}): Pick<
  TeamsDeps,
  | "briefOf"
  | "whereIs"
  | "sessionsIn"
  | "isInUse"
  | "isOpenElsewhere"
  | "readRecords"
  | "sendTo"
  | "takeBack"
  | "isIdle"
> {
  return {
    async briefOf(nativeId) {
      const session = await capture.byNativeId(nativeId)
      return session && (await briefs.make({ session, maxTokens: BRIEF_TOKENS }))?.brief
    },
    async whereIs({ platform, nativeId, sinceMs, projectDir }) {
      const isInside = (dir: string) => projectDir === null || !relative(projectDir, realOr(dir)).startsWith("..")
      try {
        const dirs = await capture.ownRecords.dirsOf(platform, nativeId, { sinceMs, isEnough: isInside })
        if (!dirs) return "gone"
        // Not every agent writes down where it works.
        return dirs.length === 0 || dirs.some(isInside) ? "here" : "elsewhere"
      } catch {
        return undefined
      }
    },
    async sessionsIn(platform, projectDir) {
      // A folder that is not there now has nobody in it.
      const project = await projects.find(projectDir).then(
        (found) => found.project,
        () => undefined,
      )
      if (!project) return []
      const filter = { projectId: project.id, platform, subagents: false, empty: false, limit: MOST_SESSIONS }
      // Of a project there may be many folders, and each agent works in its own.
      const isHere = ({ projectPath }: Session) => projectPath !== null && realOr(projectPath) === projectDir
      return (await store.sessions.list(filter)).filter(isHere)
    },
    async isInUse({ id }) {
      const agent = await live.ofSession(id)
      return agent !== undefined && agent.status !== "gone"
    },
    async isOpenElsewhere(platform, nativeId) {
      const session = await store.sessions.byNative(platform, nativeId)
      // As it is this moment: where nobody has it open, a process of our own is started on it.
      const agent = session && (await live.ofSession(session.id, { isFresh: true }))
      // One that a daemon before this one left behind has nobody at it, and is waited for by who recovers it.
      return agent !== undefined && agent.status !== "gone" && !agent.isUnattended
    },
    async sendTo(sessionId, { key, ...said }) {
      const request = { sessionId, ...said, idempotencyKey: key, allowTwin: true }
      const sent = await messages.send(request)
      if (sent.queued || sent.id !== undefined) return sent.id!
      throw new Failure("bad_input", sent.reason)
    },
    isIdle: async (sessionId) => (await live.ofSession(sessionId))?.status === "idle",
    takeBack: async (id) => (await messages.cancel(id)).cancelled,
    async readRecords(platform) {
      if (isCaptured) await capture.capturing.sync(platform)
      return isCaptured
    },
  }
}

/** Our own server, as an agent starts it that is started for a team. */
export function ownServer({ dir }: Home): TeamsDeps["mcp"] {
  const { node, entry } = ownProgram()
  return (pair) => ({
    command: node,
    args: [entry, "mcp"],
    env: { THROUGHLINE_HOME: dir, [PAIR]: pair.id },
  })
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
