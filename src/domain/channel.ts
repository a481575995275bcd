import * as z from "zod"
import { payloadReader } from "./delivery.ts"
import type { RichText } from "./rich-text.ts"

/** A messenger in which people talk with sessions: one bot of it, and the chats that it is in. */
export interface Channel {
  id: string
  /** Differences are stated here, never asked by id. */
  can: ChannelCan
  /** Who the bot is. */
  self(signal?: AbortSignal): Promise<Told<ChannelSelf>>
  /** What the bot may do in a chat. */
  look(chatId: string, signal?: AbortSignal): Promise<Told<ChatLook>>
  /** Waits for what people did, so many seconds at most. Asking from `offset` on confirms everything before it. */
  poll(options: { offset: number | null; seconds: number; signal: AbortSignal }): Promise<Told<RawUpdate[]>>
  /** What a raw update says. It asks nobody, so that what was admitted can be read again after a crash. */
  read(raw: unknown): Incoming | undefined
  send(place: Place, post: ChannelPost): Promise<Told<Sent>>
  /** Of the bot's own; `unchanged` where it reads like that already. */
  edit(place: Place, messageId: number, post: Pick<ChannelPost, "body" | "buttons">): Promise<Told<void>>
  /** One mark on somebody's message instead of the one before; null takes it away. */
  react(place: Place, messageId: number, mark: ReceiptMark | null): Promise<Told<void>>
  /** Ends the waiting of a button that was pressed. */
  answerPress(pressId: string, words: { text?: string; isAlert?: boolean }): Promise<Told<void>>
  makeTopic(chatId: string, name: string): Promise<Told<{ threadId: number }>>
  changeTopic(place: TopicPlace, change: { name: string } | { isClosed: boolean }): Promise<Told<void>>
  /** With everything that was said in it. */
  removeTopic(place: TopicPlace): Promise<Told<void>>
  fetchFile(fileId: string): Promise<Told<{ name: string; bytes: Uint8Array }>>
  /** What is offered when somebody types a slash. */
  offerCommands(commands: readonly { name: string; summary: string }[]): Promise<Told<void>>
}

export interface ChannelCan {
  /** Text of one message, in UTF-16 units, and of the words under a file. */
  maxTextUnits: number
  maxCaptionUnits: number
  maxTopicNameUnits: number
  maxFileBytes: number
  maxFetchBytes: number
  maxButtonBytes: number
  /** Sends to one chat: so many a minute in a group, and no two closer than this. Edits have a budget of their own. */
  groupSendsPerMinute: number
  privateSendsPerMinute: number
  editsPerMinute: number
  /** Calls that make, rename, close or remove topics of one chat. */
  topicCallsPerMinute: number
  sendGapMs: number
}

/** A message that was taken. */
export interface Sent {
  messageId: number
  /** The topic that it is in; null outside of topics, also where one was asked for: topics may have been switched off. */
  threadId: number | null
}

/** What was asked for, or why it did not happen. Only `unclear` may have happened all the same. */
export type Told<T> = { ok: true; value: T } | { ok: false; trouble: ChannelTrouble }

export type ChannelTrouble =
  /** Too much at once: nothing more to this chat, or to any, before so long. */
  | { kind: "wait"; forMs: number }
  /** Somebody else asks for the updates of this bot. */
  | { kind: "conflict"; why: string }
  /** The token is not, or no longer, good. */
  | { kind: "unauthorised"; why: string }
  | { kind: "topic_closed"; why: string }
  | { kind: "topic_gone"; why: string }
  /** The chat has no topics, or has them no longer. */
  | { kind: "no_topics"; why: string }
  | { kind: "no_rights"; why: string }
  /** The bot is not in the chat, or there is none, or it is another one now. */
  | { kind: "no_chat"; why: string; movedTo?: string }
  | { kind: "unchanged" }
  /** The message, or the press, that it is about is not there any more. */
  | { kind: "gone"; why: string }
  /** It is not taken as it is, however often it is tried. */
  | { kind: "refused"; why: string }
  /** Not reached: it did not happen. */
  | { kind: "away"; why: string }
  /** No answer came: it may have happened. */
  | { kind: "unclear"; why: string }

export interface ChannelSelf {
  botId: string
  name: string
  username: string
  /** Topics in private chats are switched on. */
  hasPrivateTopics: boolean
  /** Sees what people write in groups without being named. */
  readsGroups: boolean
  /** How far its clock is ahead of ours, to about a second, where it tells the time. */
  clockSkewMs?: number
}

export interface ChatLook {
  kind: "group" | "private"
  title: string
  hasTopics: boolean
  isAdmin: boolean
  mayManageTopics: boolean
  mayDeleteMessages: boolean
  /** The ids of all bots that are admins of the group, this one included; empty where that is not told. */
  adminBots: string[]
}

export interface RawUpdate {
  updateId: number
  raw: unknown
}

/** A chat, or a topic of it. Thread ids are unique in their chat only. */
export interface Place {
  chatId: string
  threadId: number | null
}
export interface TopicPlace extends Place {
  threadId: number
}

export interface ChannelPost {
  body: RichText
  /** Rows of them. */
  buttons?: readonly (readonly ChannelButton[])[]
  /** With the body as the words under it. */
  file?: { name: string; bytes: Uint8Array }
  /** Comes without a sound. */
  isSilent?: boolean
  replyTo?: number
}

export interface ChannelButton {
  label: string
  /** What comes back when it is pressed: an id, never a text. */
  data: string
}

export const RECEIPT_MARKS = ["queued", "submitted", "failed"] as const
export type ReceiptMark = (typeof RECEIPT_MARKS)[number]

/** What somebody did in a chat. */
export type Incoming = IncomingMessage | IncomingPress | IncomingTopic | IncomingMove

interface IncomingBase {
  place: Place
  chatKind: "group" | "private"
  from: ChannelUser
  atMs: number
}

/** Who did it. Without an id it is nobody who could be asked about: an anonymous admin, or a channel. */
export interface ChannelUser {
  userId: string | null
  name: string
  isBot: boolean
}

export interface IncomingMessage extends IncomingBase {
  kind: "message"
  messageId: number
  /** It changes one that was sent before. */
  isEdit: boolean
  /** Or the words under a file. */
  text: string
  replyTo: { messageId: number; text: string; isOurs: boolean } | null
  files: IncomingFile[]
  /** Set for messages that were sent together. */
  albumId: string | null
  /** What it is where it is nothing that can be handed on: a sticker, a poll. */
  otherKind: string | null
  /** Whose words they are, where the sender only hands them on. */
  forwardedFrom: string | null
  /** It comes from a group that has no topics. */
  isFlat: boolean
}

export interface IncomingFile {
  kind: "photo" | "document" | "voice" | "audio" | "video"
  fileId: string
  name: string | null
  mime: string | null
  bytes: number | null
  seconds: number | null
}

export interface IncomingPress extends IncomingBase {
  kind: "press"
  pressId: string
  messageId: number
  data: string
}

export interface IncomingTopic extends IncomingBase {
  kind: "topic"
  change: "made" | "renamed" | "closed" | "reopened"
  /** The new one, where it was renamed. */
  name: string | null
}

/** A group that became another one: its topics are in the new one. */
export interface IncomingMove extends IncomingBase {
  kind: "move"
  toChatId: string
}

/** An update of a messenger as a delivery carries it: raw until it is handled. */
const admitted = z.looseObject({
  bot: z.string(),
  updateId: z.number(),
  raw: z.unknown().optional(),
  digest: z.string(),
})
export type AdmittedUpdate = z.infer<typeof admitted>
export const admittedOf = payloadReader<AdmittedUpdate>(admitted)

/** A code that pairs a person: for everything, or for one team. */
export const codeOf = payloadReader<{ team?: string }>(z.looseObject({ team: z.string().exactOptional() }))
