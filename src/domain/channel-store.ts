import type { SessionId } from "./ids.ts"
import type { Topic, TopicState } from "./topic.ts"

/** The part of the Store that is about messengers: bots, who may talk to them, topics, and how much was sent. */
export interface Topics {
  /** The session's current topic in this chat, or this one: however many want it at once, there is one. */
  ensure(topic: Topic): Promise<Topic>
  /** One for the ledger: gone, or left. */
  add(topic: Topic): Promise<void>
  byId(id: string): Promise<Topic | undefined>
  /** Newest first; gone ones too. */
  ofSession(sessionId: SessionId): Promise<Topic[]>
  byThread(channel: string, chatId: string, threadId: number): Promise<Topic | undefined>
  /** Oldest first. */
  list(filter: { channel: string; states?: readonly TopicState[] }): Promise<Topic[]>
  /** True when it was in one of these states, and in this chat. */
  change(id: string, change: TopicChange, from?: readonly TopicState[], chatId?: string): Promise<boolean>
  /**
   * The session is told elsewhere from now on. The row, and with it the lane, goes there, to the topic that the session had
   * there before if there is one; the topic that it leaves stays in the ledger.
   */
  relocate(topic: Topic, to: TopicHome, leftId: string): Promise<Topic>
  /** The group became another one, and its topics with it. That is remembered. */
  moveChat(channel: string, fromChatId: string, toChatId: string): Promise<void>
  /** What the chat is now, however often it became another one. */
  chatNow(channel: string, chatId: string): Promise<string>
  /** A message of a session was sent: where there are no topics, a reply to it finds its session by this. */
  remember(said: SaidMessage): Promise<void>
  byMessage(channel: string, chatId: string, messageId: number): Promise<Topic | undefined>
  /** Those that were sent before. */
  forgetMessages(beforeMs: number): Promise<void>
}

export interface SaidMessage {
  channel: string
  chatId: string
  messageId: number
  topicId: string
  atMs: number
}

/** A chat, and the thread of it that a team's sessions share, if they do. */
export interface TopicHome {
  chatId: string
  sharedThreadId: number | null
}

export type TopicChange = Partial<Omit<Topic, "id" | "channel" | "home" | "sessionId" | "createdAtMs">>

export const BOT_STATES = ["ok", "conflict", "unauthorised", "away"] as const
export type BotState = (typeof BOT_STATES)[number]

/** One account on a messenger, and how far its updates were taken. */
export interface Bot {
  /** channel:botId */
  id: string
  /** From where on to ask next; null before the first. */
  nextOffset: number | null
  state: BotState
  why: string | null
  /** Since when it is in this state. */
  sinceMs: number
}

export interface Bots {
  byId(id: string): Promise<Bot | undefined>
  list(): Promise<Bot[]>
  /** In the transaction that admits the updates before it. */
  moveOffset(id: string, nextOffset: number, nowMs: number): Promise<void>
  /** True when it was in another state. */
  setState(id: string, state: BotState, why: string | null, nowMs: number): Promise<boolean>
}

/** Somebody who may talk to sessions by a messenger: deny is the default. */
export interface Person {
  channel: string
  userId: string
  name: string
  /** Where they are written to in private. */
  chatId: string | null
  pairedAtMs: number
}

export interface People {
  /** Again under the same id changes name and chat. */
  put(person: Person): Promise<void>
  remove(channel: string, userId: string): Promise<boolean>
  list(channel: string): Promise<Person[]>
}

/** Somebody who may act in the chats of one team, and nowhere else. */
export interface TeamPerson {
  channel: string
  userId: string
  team: string
  name: string
  pairedAtMs: number
}

export interface TeamPeople {
  /** Again for the same team changes the name. */
  put(person: TeamPerson): Promise<void>
  /** Of all teams. */
  remove(channel: string, userId: string): Promise<boolean>
  /** All people of a team; how many there were. */
  removeTeam(channel: string, team: string): Promise<number>
  list(channel: string): Promise<TeamPerson[]>
}

/** How much was sent to a chat: survives a crash, so that a restart sends no burst. */
export interface Budget {
  /** When it was sent, oldest first; what is older than a minute does not count. */
  sentAtMs: number[]
  /** Nothing before then: the messenger said so. */
  blockedUntilMs: number
}

export interface Budgets {
  get(key: string): Promise<Budget>
  put(key: string, budget: Budget): Promise<void>
}

/** Where a permission is shown, so that its message can say later what became of it. */
export interface ApprovalRequest {
  permissionId: string
  channel: string
  chatId: string
  threadId: number | null
  messageId: number
}

export interface ApprovalRequests {
  /** Again in the same chat: the newer one stands. */
  put(approval: ApprovalRequest): Promise<void>
  get(permissionId: string, channel: string, chatId: string): Promise<ApprovalRequest | undefined>
  byMessage(channel: string, chatId: string, messageId: number): Promise<ApprovalRequest | undefined>
  /** In every chat that shows it. */
  ofPermission(permissionId: string, channel: string): Promise<ApprovalRequest[]>
}

/** Why nothing, or no topic, goes to a chat for now, or nothing of a bot's to any. */
export interface Hold {
  /** channel:botId, or with :chatId, or with :chatId:topics */
  key: string
  /** Of the messenger's troubles. */
  kind: string
  why: string
  sinceMs: number
  /** When it is tried again. */
  nextAtMs: number
}

export interface Holds {
  put(hold: Hold): Promise<void>
  remove(key: string): Promise<boolean>
  /** Those whose key begins so. */
  list(beginning: string): Promise<Hold[]>
}

/** What one daemon does for all that share a store: held for a time, and taken by another when it is not renewed. */
export interface Roles {
  /** True when the owner has it now: it was free, its time was over, or it is renewed. */
  hold(name: string, owner: string, leaseMs: number, nowMs: number): Promise<boolean>
  release(name: string, owner: string): Promise<void>
  list(): Promise<{ name: string; owner: string; untilMs: number }[]>
}
