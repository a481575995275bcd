import { fileURLToPath } from "node:url"
import type { Session } from "../../domain/session.ts"
import type { Roster, Team } from "../../domain/team.ts"

/** The teams that a session is of: the nearest ones of its agent at or above its folder, else at its project's root. */
export function teamsOf(
  roster: Pick<Roster, "at">,
  session: Pick<Session, "platform" | "projectPath" | "rootUri">,
  dir?: string | null,
): Team[] {
  // A worktree may lie anywhere: what it belongs to is the root that it leads to.
  const root = session.rootUri === null ? null : fileURLToPath(session.rootUri)
  for (const place of [dir, session.projectPath, root]) {
    if (!place) continue
    const found = roster.at(place).filter(({ platform }) => platform === session.platform)
    if (found.length > 0) return found.filter(({ projectDir }) => projectDir === found[0]!.projectDir)
  }
  return []
}
