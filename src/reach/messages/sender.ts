import { type Caller, isOwner } from "../../domain/caller.ts"
import { claimedName } from "../../domain/framing.ts"
import type { Sender } from "../../domain/message.ts"
import type { Session } from "../../domain/session.ts"
import type { Roster } from "../../domain/team.ts"

/**
 * Whose words they are. A team's name is given to agents on this machine only: by the session that is known of them, or
 * else by the folder that they work in. What somebody with the token says of itself names no team.
 */
export function senderOf(
  caller: Caller,
  { roster, session }: { roster: Pick<Roster, "at" | "list">; session?: Pick<Session, "projectPath"> | undefined },
): Sender {
  if (isOwner(caller)) return { kind: "owner", name: "the owner" }
  const { agentShell, nativeSession, projectDir, cwd, client, isRemote } = caller
  const teams = roster.list().map(({ name }) => name)
  const claimed = claimedName(client?.name ?? nativeSession?.platform, teams)
  if (isRemote) return { kind: "client", name: claimed }
  const isAgent = nativeSession !== undefined || projectDir !== undefined || agentShell !== undefined
  if (!isAgent) return { kind: "client", name: claimed }
  const dir = session?.projectPath ?? projectDir ?? cwd
  const [team] = dir === undefined ? [] : roster.at(dir)
  return { kind: "agent", name: team?.name ?? nativeSession?.platform ?? agentShell ?? claimed }
}
