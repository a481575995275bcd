import { readFile, stat } from "node:fs/promises"
import type { Team } from "../../domain/team.ts"

export interface NamedSession {
  id: string
  writtenAtMs: number
}

/** What an agent without hooks says of itself: `{"id": …, "started_at": …}`. Undefined while it says nothing readable. */
export async function readSessionFile({
  sessionFile: path,
}: Pick<Team, "sessionFile">): Promise<NamedSession | undefined> {
  if (path === null) return undefined
  try {
    const { id } = JSON.parse(await readFile(path, "utf8")) as { id?: unknown }
    if (typeof id !== "string" || id.trim() === "") return undefined
    return { id, writtenAtMs: (await stat(path)).mtimeMs }
  } catch {
    // Not there yet, or in the middle of being written: the next look reads it.
    return undefined
  }
}
