import type { LiveSessions } from "../domain/live.ts"
import type { Hookless, NamedSession } from "../domain/presence.ts"
import type { Store } from "../domain/store.ts"
import type { Team } from "../domain/team.ts"
import type { Clock } from "../lib/clock.ts"
import { rulesFor } from "../lib/path-rules.ts"
import { lookAtFile, readText } from "../lib/untrusted-file.ts"
import { GRACE_MS } from "./presence.ts"

export function makeHookless({
  store,
  clock,
  live,
  host,
}: {
  store: Pick<Store, "presence">
  clock: Clock
  live: Pick<LiveSessions, "ofTeam">
  host: string
}): Hookless {
  // Decided by the owner's setting alone, never by the file: the repository's author may have written that.
  const fetches = async (team: Team) => {
    if (team.sessionFile === null || (await live.ofTeam(team)).length > 0) return false
    const presence = await store.presence.byTeam(team.name)
    if (!presence || presence.nativeId === null || presence.pid === 0) return true
    if (presence.goneAtMs === null) return false
    return presence.host !== host || clock.nowMs() - presence.goneAtMs >= GRACE_MS
  }
  return {
    fetches,
    async named(team) {
      const said = (await fetches(team)) ? readSessionFile(team) : undefined
      const presence = await store.presence.byTeam(team.name)
      // A session seen since then is better evidence.
      const isOld =
        said !== undefined && presence !== undefined && presence.pid > 0 && said.writtenAtMs <= (presence.goneAtMs ?? 0)
      return isOld || !said ? undefined : { ...said, writtenAtMs: Math.min(said.writtenAtMs, clock.nowMs()) }
    },
  }
}

/** The session that an agent without hooks reports in a file: `{"id": …, "started_at": …}`. Undefined if unreadable. */
export function readSessionFile({
  sessionFile: path,
  projectDir,
}: Pick<Team, "sessionFile" | "projectDir">): NamedSession | undefined {
  if (path === null) return undefined
  const rules = rulesFor(path, projectDir)
  try {
    const { id } = JSON.parse(readText(path, { ...rules, maxBytes: MAX_BYTES })) as { id?: unknown }
    const mtimeMs = lookAtFile(path, rules)?.mtimeMs
    if (typeof id !== "string" || !ID.test(id) || mtimeMs === undefined) return undefined
    return { id, writtenAtMs: mtimeMs }
  } catch {
    // Missing, or being written: the next scan reads it.
    return undefined
  }
}

const MAX_BYTES = 64 * 1024
/** It is shown to agents and people: a repository's file must not smuggle text in. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/
