import type { Clients } from "../../domain/caller.ts"
import { type Caller, isOwner } from "../../domain/caller.ts"
import { UNNAMED } from "../../domain/framing.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { Sender } from "../../domain/message.ts"
import { type Address, SESSION_TARGET } from "../../domain/message.ts"
import { because, type Reason } from "../../domain/reason.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import { sessionsByPrefix } from "../../lib/session-prefix.ts"

/** Whom a target means: a team by its name, or a session by its id or the beginning of it. A team's name goes first. */
export async function findTarget(
  target: string,
  { store, roster, logPlatforms = [] }: { store: Store; roster: Roster; logPlatforms?: readonly string[] | undefined },
): Promise<Address | { refused: Reason }> {
  const team = roster.byName(target)
  if (team) return { team: team.name }
  const id = target.startsWith(SESSION_TARGET) ? target.slice(SESSION_TARGET.length) : target
  const found = await sessionsByPrefix(store, id)
  const isLog = ({ platform }: Session) => logPlatforms.includes(platform)
  const isLogged = found.length === 0 && (await anyLogged(store, logPlatforms, id))
  if (isLogged || (found.length > 0 && found.every(isLog))) return { refused: because("target_log", id) }
  if (found.length > 1) return { refused: because("target_ambiguous", id) }
  return found[0] ? addressable(found[0]) : { refused: because("target_unknown", target) }
}

/** A session that is known by its whole id. */
export async function findSession(sessionId: SessionId, store: Store): Promise<Address | { refused: Reason }> {
  const session = await store.sessions.byId(sessionId)
  return session ? addressable(session) : { refused: because("target_unknown", `${SESSION_TARGET}${sessionId}`) }
}

async function anyLogged(store: Store, platforms: readonly string[], id: string): Promise<boolean> {
  for (const platform of platforms)
    if ((await store.sessions.byNative(platform, id)) ?? (await store.sessions.logged(platform, id))[0]) return true
  return false
}

const addressable = ({ id, isSubagent }: Session): Address | { refused: Reason } =>
  isSubagent ? { refused: because("target_subagent") } : { sessionId: id }

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
