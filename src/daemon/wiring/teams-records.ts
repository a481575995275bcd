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
/** Older ones are ignored. */
const MOST_SESSIONS = 500

/** What other modules know about teams' sessions. */
export function teamsRecords(parts: {
  store: Store
  capture: CaptureModule
  briefs: Briefs
  live: LiveSessions
  projects: ProjectFinder
  messages: Messages
  isCaptured: boolean
}) {
  const { store, capture, briefs, live, projects, messages, isCaptured } = parts
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
        // Not every agent records its folder.
        return dirs.length === 0 || dirs.some(isInside) ? "here" : "elsewhere"
      } catch {
        return undefined
      }
    },
    async sessionsIn(platform, projectDir) {
      // A missing folder has no sessions.
      const project = await projects.find(projectDir).then(
        (found) => found.project,
        () => undefined,
      )
      if (!project) return []
      const filter = { projectId: project.id, platform, subagents: false, empty: false, limit: MOST_SESSIONS }
      // A project may have several folders, each with its own agent.
      const isHere = ({ projectPath }: Session) => projectPath !== null && realOr(projectPath) === projectDir
      return (await store.sessions.list(filter)).filter(isHere)
    },
    async isInUse({ id }) {
      const agent = await live.ofSession(id)
      return agent !== undefined && agent.status !== "gone"
    },
    async isOpenElsewhere(platform, nativeId) {
      const session = await store.sessions.byNative(platform, nativeId)
      // Must be current: if no one has it open, we start our own process on it.
      const agent = session && (await live.ofSession(session.id, { isFresh: true }))
      // An unattended leftover of an earlier daemon is handled by recovery.
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
  } satisfies Partial<TeamsDeps>
}

/** Our MCP server, as an agent of a team starts it. */
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
