import type { Place } from "../domain/channel.ts"
import type { TopicHome } from "../domain/channel-store.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { type Roster, type Team, teamsOf } from "../domain/team.ts"
import { isCurrent } from "../domain/topic.ts"

export interface TeamChatNow {
  chatId: string
  /** The configured id, where the group has moved. */
  movedFrom: string | null
  threads: number[]
  teams: string[]
}

export interface TeamChatDeps {
  roster: Pick<Roster, "list" | "at" | "byName">
  channel: string
  /** The configured chat. */
  chat: string | undefined
}

export type TeamChats = ReturnType<typeof makeTeamChats>

/** Which chats belong to teams: where their sessions are mirrored, and whose a place is. */
export function makeTeamChats({ roster, channel, chat }: TeamChatDeps) {
  const withChat = () => roster.list().filter((team) => team.chat !== null)
  const now = (tx: Store, chatId: string) => tx.topics.chatNow(channel, chatId)

  /** The session's team, also for sub-agents and pairs. */
  const teamOf = async (tx: Store, session: Session): Promise<Team | undefined> => {
    const pair = await tx.pairs.ofNative(session.nativeId)
    const asked = pair && roster.byName(pair.toTeam)
    if (asked) return asked
    const found = teamsOf(roster, session)
    if (found.length > 1) return (await ofSeveral(tx, session.id, found)) ?? found[0]
    if (found.length > 0 || !session.isSubagent) return found[0]
    const edge = (await tx.sessions.edges(session.id)).find(({ kind }) => kind === "subagent")
    const parent = edge && (await tx.sessions.byNative(edge.parentPlatform, edge.parentNativeId))
    return parent && !parent.isSubagent ? teamOf(tx, parent) : undefined
  }

  /** Of teams that share a folder: the one whose current session it is, or in whose chat it is shown already. */
  const ofSeveral = async (tx: Store, sessionId: SessionId, teams: readonly Team[]) => {
    for (const team of teams) if ((await tx.presence.byTeam(team.name))?.sessionId === sessionId) return team
    const topic = (await tx.topics.ofSession(sessionId)).find((one) => one.channel === channel && isCurrent(one))
    for (const team of topic ? teams : []) if (team.chat && (await now(tx, team.chat.id)) === topic!.chatId) return team
    return undefined
  }

  /** The teams of a place: by its shared thread, or else by its chat. */
  const at = async (tx: Store, { chatId, threadId }: Place): Promise<Team[]> => {
    const teams = withChat()
    if (teams.length === 0) return []
    const here = await now(tx, chatId)
    const found: Team[] = []
    for (const team of teams) if ((await now(tx, team.chat!.id)) === here) found.push(team)
    const ofThread = threadId === null ? [] : found.filter((team) => team.chat!.thread === threadId)
    return ofThread.length > 0 ? ofThread : found.filter((team) => team.chat!.thread === null)
  }

  return {
    teamOf,
    at,
    /** Where the session is mirrored; undefined where its team has no chat. */
    async home(tx: Store, session: Session): Promise<TopicHome | undefined> {
      if (withChat().length === 0) return undefined
      const own = (await teamOf(tx, session))?.chat
      return own ? { chatId: await now(tx, own.id), sharedThreadId: own.thread } : undefined
    },
    /** The same as `at`, without the chat that is shared with sessions of other teams. */
    async ownAt(tx: Store, place: Place): Promise<Team[]> {
      const teams = await at(tx, place)
      if (teams.length === 0 || chat === undefined) return teams
      const isCommon = (await now(tx, place.chatId)) === (await now(tx, chat))
      return isCommon ? teams.filter((team) => team.chat!.thread !== null) : teams
    },
    hasAny: () => withChat().length > 0,
    /** The teams' chats by their current ids. */
    async list(tx: Store): Promise<TeamChatNow[]> {
      const chats = new Map<string, TeamChatNow>()
      for (const { name, chat: own } of withChat()) {
        const chatId = await now(tx, own!.id)
        const movedFrom = chatId === own!.id ? null : own!.id
        const one = chats.get(chatId) ?? { chatId, movedFrom, threads: [], teams: [] }
        one.teams.push(name)
        if (own!.thread !== null && !one.threads.includes(own!.thread)) one.threads.push(own!.thread)
        chats.set(chatId, one)
      }
      return [...chats.values()]
    },
  }
}
