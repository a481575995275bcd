import type { NamedSession } from "../domain/presence.ts"
import type { Team } from "../domain/team.ts"
import { rulesFor } from "../lib/path-rules.ts"
import { lookAtFile, readText } from "../lib/untrusted-file.ts"

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
