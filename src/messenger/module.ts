import type { Channel, ChannelSelf, ChannelTrouble, ChatLook, Told } from "../domain/channel.ts"
import type { BotState, Hold } from "../domain/channel-store.ts"
import type { DeliveryState } from "../domain/delivery.ts"
import { Failure } from "../domain/failure.ts"
import type { SessionId } from "../domain/ids.ts"
import { plain } from "../domain/rich-text.ts"
import type { Store } from "../domain/store.ts"
import type { Roster } from "../domain/team.ts"
import { TOPIC_STATES, type TopicState } from "../domain/topic.ts"
import type { Clock } from "../lib/clock.ts"
import type { UserPairing } from "./inbound/pairing.ts"
import { makeTeamChats, type TeamChatNow } from "./team-chats.ts"

/** The owner's view of the bot: its state, a test, and who has access. */
export interface BotModule {
  /** From the store, without asking the messenger. */
  facts(): Promise<BotFacts>
  /** From the messenger: the bot and its chats. */
  look(): Promise<BotLook>
  /** Sends a message to each place, and creates and removes a topic there. */
  test(): Promise<Tried[]>
  /** A code that gives its sender access: everywhere, or in the chat of one team. */
  pair(team?: string): Promise<{ code: string; expiresAtMs: number }>
  /** The name of the session's open topic. */
  topicOf(sessionId: SessionId): Promise<string | undefined>
  people(): Promise<Allowed[]>
  /** A paired person. */
  remove(userId: string): Promise<void>
  /** The people of a removed team: a later team of that name must not inherit them. */
  removeTeam(team: string): Promise<void>
}

export interface BotFacts {
  /** Absent without a token. */
  bot?: { id: string; state: BotState | "new"; why: string | null; sinceMs: number | null }
  chatId: string | null
  /** The configured id of a group that has moved. */
  movedFrom: string | null
  people: number
  topics: Record<TopicState, number>
  /** Messages that are pending, rejected, and unconfirmed. */
  waiting: number
  failed: number
  uncertain: number
  /** Chats on hold, and why. */
  holds: Hold[]
  /** Topics that may exist twice. */
  unconfirmed: { name: string; count: number; atMs: number }[]
}

export interface BotLook {
  self?: ChannelSelf
  chat?: ChatLook
  trouble?: string
  /** The same for each team's chat. */
  teamChats: (TeamChatNow & { chat?: ChatLook; trouble?: string })[]
}

export interface Tried {
  chatId: string
  what: string
  ok: boolean
  detail: string
}

export interface Allowed {
  userId: string
  name: string | null
  /** Null for people in the configuration. */
  pairedAtMs: number | null
  /** The team whose chat they have access to; null for everywhere. */
  team: string | null
}

export interface BotDeps {
  store: Store
  clock: Clock
  /** Absent without a token. */
  channel?: Channel | undefined
  channelId: string
  botId?: string | undefined
  /** This machine's name. */
  host: string
  settings: { chat?: string | undefined; users: readonly string[] }
  roster: Pick<Roster, "list" | "byName" | "at">
  pairing: Omit<UserPairing, "redeem">
}

/** A person is waiting. */
const LOOK_MS = 10_000

export function makeBotModule(deps: BotDeps): BotModule {
  const { store, channel, channelId, botId, settings, roster, pairing, clock, host } = deps
  const chats = makeTeamChats({ roster, channel: channelId, chat: settings.chat })

  const open = (): Channel => {
    if (!channel) throw new Failure("channel_off", "there is no bot: no token is set")
    return channel
  }
  const configured = (userId: string, team: string | null) => ({ userId, name: null, pairedAtMs: null, team })
  const people = async (): Promise<Allowed[]> => {
    const paired = await pairing.list()
    const named = settings.users.filter((userId) => !paired.some((person) => person.userId === userId))
    const ofTeams = roster.list().flatMap(({ name, chat }) => (chat?.users ?? []).map((id) => configured(id, name)))
    return [
      ...named.map((userId) => configured(userId, null)),
      ...paired.map(({ userId, name, pairedAtMs }) => ({ userId, name, pairedAtMs, team: null })),
      ...ofTeams,
      ...(await pairing.ofTeams()).map(({ userId, name, pairedAtMs, team }) => ({ userId, name, pairedAtMs, team })),
    ]
  }
  const group = async () => (settings.chat === undefined ? undefined : store.topics.chatNow(channelId, settings.chat))
  /** The group, or the private chat of the first person with access. */
  const chatOf = async (): Promise<string | undefined> => {
    if (settings.chat !== undefined) return group()
    const paired = await pairing.list()
    return settings.users[0] ?? paired.find(({ chatId }) => chatId !== null)?.chatId ?? paired[0]?.userId
  }

  /** Without those of a group that has moved. A team's group may have no topics. */
  const currentHolds = async (): Promise<Hold[]> => {
    if (botId === undefined) return []
    const current: Hold[] = []
    const main = await group()
    const ofTeams = (await chats.list(store)).filter(({ chatId }) => chatId !== main)
    for (const hold of await store.holds.list(`${channelId}:${botId}`)) {
      const chatId = hold.key.split(":")[2]
      if (hold.kind === "no_topics" && ofTeams.some((one) => one.chatId === chatId)) continue
      if (chatId === undefined || (await store.topics.chatNow(channelId, chatId)) === chatId) current.push(hold)
    }
    return current
  }

  return {
    async facts() {
      const topics = await store.topics.list({ channel: channelId })
      const kept = botId === undefined ? undefined : await store.bots.byId(`${channelId}:${botId}`)
      const counts = await store.deliveries.counts(channelId)
      const chatId = (await group()) ?? null
      const sum = (state: DeliveryState) => counts.reduce((all, one) => all + (one.state === state ? one.count : 0), 0)
      const { state = "new" as const, why = null, sinceMs = null } = kept ?? {}
      return {
        ...(botId !== undefined && { bot: { id: botId, state, why, sinceMs } }),
        chatId,
        movedFrom: settings.chat === undefined || settings.chat === chatId ? null : settings.chat,
        people: (await people()).length,
        topics: Object.fromEntries(
          TOPIC_STATES.map((state) => [state, topics.filter((topic) => topic.state === state).length]),
        ) as Record<TopicState, number>,
        waiting: sum("queued"),
        failed: sum("failed"),
        uncertain: sum("uncertain"),
        holds: await currentHolds(),
        unconfirmed: topics
          .filter(({ unconfirmed }) => unconfirmed > 0)
          .map(({ name, unconfirmed, makingAtMs, createdAtMs }) => ({
            name,
            count: unconfirmed,
            atMs: makingAtMs ?? createdAtMs,
          })),
      }
    },
    async look() {
      const signal = AbortSignal.timeout(LOOK_MS)
      const self = await open().self(signal)
      if (!self.ok) return { trouble: wordsOf(self.trouble), teamChats: await chats.list(store) }
      const seen = async (chatId: string) => {
        const chat = await open().look(chatId, signal)
        return chat.ok ? { chat: chat.value } : { trouble: wordsOf(chat.trouble) }
      }
      const chatId = await chatOf()
      const teamChats: BotLook["teamChats"] = []
      for (const one of await chats.list(store)) teamChats.push({ ...one, ...(await seen(one.chatId)) })
      return { self: self.value, ...(chatId === undefined ? {} : await seen(chatId)), teamChats }
    },
    async test() {
      const at = open()
      const chatId = await chatOf()
      const teamChats = (await chats.list(store)).filter((one) => one.chatId !== chatId)
      if (chatId === undefined && teamChats.length === 0)
        throw new Failure("channel_off", "nowhere to send to: no group is configured and nobody is paired")
      const text = `Throughline on ${host} can write here (${new Date(clock.nowMs()).toISOString()}).`
      const steps = chatId === undefined ? [] : await tried(at, chatId, text)
      for (const one of teamChats) steps.push(...(await triedTeam(at, one, text)))
      return steps
    },
    async topicOf(sessionId) {
      const topics = await store.topics.ofSession(sessionId)
      return topics.find(({ state, threadId }) => state === "open" && threadId !== null)?.name
    },
    async pair(team) {
      open()
      const found = team === undefined ? undefined : roster.byName(team)
      if (team !== undefined && !found?.chat)
        throw new Failure(
          "bad_input",
          found ? `${team} has no chat of its own: set teams.${team}.chat first` : `there is no team ${team}`,
          { parameter: "team" },
        )
      return pairing.issue(team)
    },
    people,
    async remove(userId) {
      const team = roster.list().find(({ chat }) => chat?.users.includes(userId))
      const key = settings.users.includes(userId) ? "telegram.users" : team && `teams.${team.name}.chat.users`
      if (key !== undefined)
        throw new Failure("bad_input", `userId ${userId} is in ${key} of the configuration: remove it there`, {
          parameter: "userId",
        })
      if (!(await pairing.remove(userId)))
        throw new Failure("bad_input", `no paired person has userId ${userId}`, { parameter: "userId" })
    },
    removeTeam: pairing.removeTeam,
  }
}

const TEST_TOPIC = "Throughline test"

async function tried(channel: Channel, chatId: string, text: string): Promise<Tried[]> {
  const steps: Tried[] = []
  const step = <T>(what: string, told: Told<T>, detail: (value: T) => string): T | undefined => {
    steps.push({ chatId, what, ok: told.ok, detail: told.ok ? detail(told.value) : wordsOf(told.trouble) })
    return told.ok ? told.value : undefined
  }
  const said = (value: { messageId: number }) => `message ${value.messageId}`
  step("a message", await channel.send({ chatId, threadId: null }, { body: plain(text) }), said)
  const topic = step("a topic", await channel.makeTopic(chatId, TEST_TOPIC), ({ threadId }) => `topic ${threadId}`)
  if (topic === undefined) return steps
  const place = { chatId, threadId: topic.threadId }
  step("a message in it", await channel.send(place, { body: plain(text), isSilent: true }), said)
  step("the topic removed again", await channel.removeTopic(place), () => "it is gone")
  return steps
}

/** Creates a topic only where sessions get one. */
async function triedTeam(channel: Channel, { chatId, threads, teams }: TeamChatNow, text: string): Promise<Tried[]> {
  const names = teams.join(", ")
  if (threads.length === 0) {
    const look = await channel.look(chatId)
    if (look.ok && look.value.hasTopics)
      return (await tried(channel, chatId, text)).map((step) => ({ ...step, what: `${names}: ${step.what}` }))
  }
  const steps: Tried[] = []
  for (const threadId of threads.length === 0 ? [null] : threads) {
    const told = await channel.send({ chatId, threadId }, { body: plain(text) })
    const what = `${names}: a message${threadId === null ? "" : ` in thread ${threadId}`}`
    const isThere = told.ok && told.value.threadId === threadId
    const elsewhere = "it went to the chat: topics are off in it"
    const said = told.ok ? (isThere ? `message ${told.value.messageId}` : elsewhere) : wordsOf(told.trouble)
    steps.push({ chatId, what, ok: isThere, detail: said })
  }
  return steps
}

/** A trouble in words for a person. */
export function wordsOf(trouble: ChannelTrouble): string {
  if (trouble.kind === "wait") return `it asks to wait ${Math.ceil(trouble.forMs / 1000)} s`
  return trouble.kind === "unchanged" ? "it is like that already" : trouble.why
}
