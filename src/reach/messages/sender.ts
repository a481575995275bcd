import { type Caller, isOwner } from "../../domain/caller.ts"
import type { Sender } from "../../domain/message.ts"
import type { Roster } from "../../domain/team.ts"

/** Whose words they are. */
export function senderOf(caller: Caller, roster: Pick<Roster, "at">): Sender {
  if (isOwner(caller)) return { kind: "owner", name: "the owner" }
  const { agentShell, nativeSession, projectDir, cwd, client } = caller
  const dir = projectDir ?? cwd
  const isAgent = nativeSession !== undefined || projectDir !== undefined || agentShell !== undefined
  const [team] = isAgent && dir !== undefined ? roster.at(dir) : []
  const name = team?.name ?? client?.name ?? nativeSession?.platform ?? agentShell
  return { kind: isAgent ? "agent" : "client", name: name ?? "an unnamed client" }
}
