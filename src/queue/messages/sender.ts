import { type Caller, isOwner } from "../../domain/caller.ts"
import type { Clients } from "../../domain/clients.ts"
import { UNNAMED } from "../../domain/framing.ts"
import type { Sender } from "../../domain/message.ts"
import type { Session } from "../../domain/session.ts"
import type { Roster } from "../../domain/team.ts"

/**
 * Whose words they are. A team's name is given to agents on this machine only: by the session that is known of them, or
 * else by the folder that they work in. What somebody with the token says of itself names no team.
 */
export function senderOf(
  caller: Caller,
  {
    roster,
    clients,
    session,
  }: {
    roster: Pick<Roster, "at" | "list">
    clients: Pick<Clients, "claimed" | "agent">
    session?: Pick<Session, "projectPath"> | undefined
  },
): Sender {
  if (isOwner(caller)) return { kind: "owner", name: "the owner" }
  const { agentShell, nativeSession, projectDir, cwd, client, isRemote } = caller
  const teams = roster.list().map(({ name }) => name)
  const claimed = clients.claimed(client?.name ?? nativeSession?.platform, teams)
  // A name that may not be repeated is not kept either.
  const said = client !== undefined && claimed !== UNNAMED ? { client } : {}
  if (isRemote) return { kind: "client", name: claimed, ...said }
  const isAgent = nativeSession !== undefined || projectDir !== undefined || agentShell !== undefined
  if (!isAgent) return { kind: "client", name: claimed, ...said }
  const dir = session?.projectPath ?? projectDir ?? cwd
  const [team] = dir === undefined ? [] : roster.at(dir)
  // Whoever reaches the socket writes these two as well: they are names that may be repeated, or none.
  const agent = nativeSession?.platform ?? agentShell
  const name = team?.name ?? (agent === undefined ? claimed : clients.agent(agent, teams))
  return { kind: "agent", name, ...said }
}
