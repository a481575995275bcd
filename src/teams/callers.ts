import type { Clients } from "../domain/caller.ts"
import { type Caller, isOwner } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { Pair } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import type { Roster, Team } from "../domain/team.ts"
import type { Asking } from "./asking.ts"

/** The sender of a question, as its recipient sees it. */
export interface Asker {
  /** Null for a person, and for an agent outside the roster. */
  team: string | null
  name: string
  /** The teams waiting for its current work, itself last. */
  chain: string[]
  /** The person at this machine, who may act for every team. */
  isOwner: boolean
}

export interface CallersDeps {
  store: Store
  roster: Roster
  clients: Clients
  /** The questions that a pair's agent, or all agents of a team, are working on. */
  asking: Pick<Asking, "current" | "currentOf">
  /** Whether each of the agent's sessions has its own MCP server, which then identifies the caller. */
  hasOwnServer(platform: string): boolean
}

export function makeCallers({ store, roster, clients, asking, hasOwnServer }: CallersDeps) {
  const teamNamed = (name: string, parameter: string): Team => {
    const team = roster.byName(name)
    if (team) return team
    const known = roster.list().map((one) => one.name)
    throw new Failure(
      "bad_input",
      `${parameter}: there is no team ${JSON.stringify(name)} (known: ${known.join(", ") || "none"})`,
      { parameter },
    )
  }

  /** An agent acts for its own team only. */
  const ownOf = (own: readonly string[], fromTeam: string | undefined): string | undefined => {
    if (fromTeam === undefined || own.length === 0 || own.includes(fromTeam)) return fromTeam ?? own[0]
    throw new Failure("bad_input", `fromTeam is ${JSON.stringify(fromTeam)}, but you are of ${own.join(", ")}`, {
      parameter: "fromTeam",
    })
  }

  /** The teams waiting for the pair's agent, or for any agent of its team if they share a server. */
  const waitingFor = ({ id, toTeam, platform }: Pair): string[] => {
    const chains = hasOwnServer(platform) ? [asking.current(id)] : asking.currentOf(toTeam)
    return [...new Set(chains.flatMap((ask) => ask?.chain ?? []))]
  }

  return {
    teamNamed,
    async whoAsks(caller: Caller, fromTeam?: string): Promise<Asker> {
      const { surface, nativeSession, projectDir, cwd, client, isRemote } = caller
      if (fromTeam !== undefined) teamNamed(fromTeam, "fromTeam")
      if (isOwner(caller)) {
        const chain = fromTeam === undefined ? [] : [fromTeam]
        return { team: fromTeam ?? null, name: fromTeam ?? "the owner", chain, isOwner: true }
      }
      if (isRemote) {
        if (fromTeam !== undefined)
          throw new Failure("bad_input", "fromTeam: only agents on this machine and the owner speak for a team", {
            parameter: "fromTeam",
          })
        const teams = roster.list().map(({ name }) => name)
        const name = clients.claimed(client?.name ?? nativeSession?.platform, teams)
        return { team: null, name, chain: [], isOwner: false }
      }
      const pair =
        (caller.pair === undefined ? undefined : await store.pairs.byId(caller.pair)) ??
        (nativeSession && (await store.pairs.ofNative(nativeSession.id)))
      if (pair) {
        const team = ownOf([pair.toTeam], fromTeam)!
        return { team, name: team, chain: [...waitingFor(pair), team], isOwner: false }
      }
      const dir = projectDir ?? (surface === "http" ? undefined : cwd)
      const nearest = dir === undefined ? [] : roster.at(dir)
      const own = nearest.filter(({ projectDir }) => projectDir === nearest[0]!.projectDir).map(({ name }) => name)
      const team = ownOf(own, fromTeam)
      return {
        team: team ?? null,
        name:
          team ??
          clients.claimed(
            client?.name,
            roster.list().map((one) => one.name),
          ),
        chain: team === undefined ? [] : [team],
        isOwner: false,
      }
    },
    /** A team that waits for this answer cannot be asked: that would be a deadlock. */
    checkChain({ chain }: Asker, team: string): void {
      if (!chain.includes(team)) return
      const path = [...chain, team].join(" → ")
      throw new Failure(
        "ask_loop",
        chain.length === 1 ? `${team} cannot ask itself` : `${path}: ${team} waits for this answer already`,
        { chain: [...chain, team] },
      )
    },
  }
}
