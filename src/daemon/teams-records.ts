import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { DriveWish } from "../domain/driver.ts"
import type { SourceLook } from "../domain/source.ts"
import type { Store } from "../domain/store.ts"
import type { LiveSessions } from "../reach/watching/live.ts"
import type { Briefs } from "../recall/brief/brief.ts"
import type { CaptureRoom } from "../sessions/capture/room.ts"
import type { TeamsDeps } from "../teams/room.ts"
import type { Home } from "./home.ts"

const BRIEF_TOKENS = 2_000
const KNOWN_MS = 5_000

/** What the rooms beside it know of the sessions that teams have with each other. */
export function teamsRecords({
  store,
  capture,
  briefs,
  live,
  isCaptured,
}: {
  store: Store
  capture: CaptureRoom
  briefs: Briefs
  live: LiveSessions
  isCaptured: boolean
}): Pick<TeamsDeps, "briefOf" | "isThere" | "isOpenElsewhere" | "readRecords"> {
  // All pairs are looked for at once, among tens of thousands of files.
  let known: { looks: Promise<SourceLook[]>; atMs: number } | undefined
  const looks = () => {
    if (!known || Date.now() - known.atMs > KNOWN_MS) known = { looks: store.sources.looks(), atMs: Date.now() }
    return known.looks
  }

  return {
    async briefOf(nativeId) {
      const session = await capture.byNativeId(nativeId)
      return session && (await briefs.make({ session, maxTokens: BRIEF_TOKENS }))?.brief
    },
    async isThere(platform, nativeId) {
      // Files have the session's id in their names; which folder they lie in says nothing for sure.
      const mine = (await looks()).filter((look) => look.platform === platform && look.path.includes(nativeId))
      return mine.length === 0 ? undefined : mine.some(({ path }) => existsSync(path))
    },
    async isOpenElsewhere(platform, nativeId) {
      const session = await store.sessions.byNative(platform, nativeId)
      const agent = session && (await live.ofSession(session.id))
      // One that a daemon before this one left behind has nobody at it, and is waited for by who recovers it.
      return agent !== undefined && agent.status !== "gone" && !agent.isUnattended
    },
    async readRecords(platform) {
      if (isCaptured) await capture.capturing.sync(platform)
      return isCaptured
    },
  }
}

/** Our own server, as an agent starts it that is started for a team. */
export function ownServer({ dir }: Home): DriveWish["mcp"] {
  const entry = fileURLToPath(new URL("../../bin/throughline.js", import.meta.url))
  return { command: process.execPath, args: [entry, "mcp"], env: { THROUGHLINE_HOME: dir } }
}
