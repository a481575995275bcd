import type { NamedSession } from "../domain/presence.ts"
import type { Team } from "../domain/team.ts"
import { rulesFor } from "../lib/path-rules.ts"
import { lookAtFile, readText } from "../lib/untrusted-file.ts"

/** What an agent without hooks says of itself: `{"id": …, "started_at": …}`. Undefined while it says nothing readable. */
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
    // Not there yet, or in the middle of being written: the next look reads it.
    return undefined
  }
}

const MAX_BYTES = 64 * 1024
/** It is shown to agents and people: words in a repository's file must not pass for a session's name. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/
