import type { Caller } from "../../domain/caller.ts"
import type { Sender } from "../../domain/message.ts"
import type { Roster } from "../../domain/team.ts"

/** Whose words they are. Only what is typed at this machine, and not in an agent's own shell, is the owner's. */
export function senderOf(caller: Caller, roster: Pick<Roster, "at">): Sender {
  const { surface, agentShell, nativeSession, projectDir, cwd, client } = caller
  if (surface === "cli" && agentShell === undefined) return { kind: "owner", name: "the owner" }
  const dir = projectDir ?? cwd
  const isAgent = nativeSession !== undefined || projectDir !== undefined || agentShell !== undefined
  const [team] = isAgent && dir !== undefined ? roster.at(dir) : []
  const name = team?.name ?? client?.name ?? nativeSession?.platform ?? agentShell
  return { kind: isAgent ? "agent" : "client", name: name ?? "an unnamed client" }
}
