import type {
  Channel,
  Incoming,
  IncomingMessage,
  IncomingMove,
  IncomingPress,
  IncomingTopic,
} from "../../domain/channel.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { type ButtonHandler, chatLane } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Team } from "../../domain/team.ts"
import type { Topic, TopicState } from "../../domain/topic.ts"
import type { Clock } from "../../lib/clock.ts"
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts"
import type { ApprovalReply } from "../approvals/replies.ts"
import type { TeamChats } from "../team-chats.ts"
import { toShow } from "../to-show.ts"
import type { Answers } from "./answers.ts"
import { type Commands, isCommand } from "./commands.ts"
import type { Election } from "./election.ts"
import { type Fragments, settledWith } from "./fragments.ts"
import type { Handled, Write } from "./handling.ts"
import type { Recipient, ToSession } from "./to-session.ts"
import type { Known, Scope, Who } from "./who.ts"
export interface IncomingDeps {
  store: Store
  clock: Clock
  channel: Channel
  /** The configured group. */
  chat: string | undefined
  chats: TeamChats
  /** channel:botId */
  bot: string
  fragments: Fragments
  who: Who
  election: Election
  commands: Commands
  toSession: ToSession
  buttons: readonly ButtonHandler[]
  approvalReply?: ApprovalReply | undefined
  answer: Answers
  onTrouble(error: unknown, what: string): void
}

const LOOK_AGAIN_MS = 5_000
/** A long text arrives in several messages. */
const LOOK_FOR_MORE_MS = 300
/** People may also talk with each other there. */
const FLAT_HINT_MS = 5 * MINUTE_MS

/** Handles one update. Every write has its own key, so handling it twice has one effect. */
export function makeIncoming(deps: IncomingDeps) {
  const { store, clock, channel, chats, who, election, commands, toSession, fragments, answer } = deps

  /** A configured group, or one with our topics: a group that moved has another id. */
  const isOurs = async (chatId: string) =>
    chatId === deps.chat ||
    (deps.chat !== undefined && chatId === (await store.topics.chatNow(channel.id, deps.chat))) ||
    (await chats.list(store)).some((one) => one.chatId === chatId || one.movedFrom === chatId) ||
    (await store.topics.list({ channel: channel.id })).some((topic) => topic.chatId === chatId)

  const pressed = async (press: IncomingPress): Promise<Handled> => {
    const say = async (text: string | undefined, isAlert = false) => {
      const told = await channel.answerPress(press.pressId, { ...(text === undefined ? {} : { text }), isAlert })
      if (!told.ok && told.trouble.kind !== "gone")
        deps.onTrouble(told.trouble, `the press ${press.pressId} was not answered`)
    }
    const [beginning = "", ...rest] = press.data.split(":")
    const handler = deps.buttons.find((one) => one.beginning === beginning)
    const refused = await who.check(press, true, await handler?.about(rest.join(":")))
    if (refused) {
      await say("You are not on the list of people who may do this.", true)
      return refused
    }
    const by = { userId: press.from.userId!, name: press.from.name }
    const words = handler
      ? await handler.press(rest.join(":"), by, { ...press.place, messageId: press.messageId })
      : { text: "This button is outdated.", isAlert: true }
    await say(words.text, words.isAlert)
    return { kind: "done", outcome: handler ? `pressed ${beginning}` : "an unknown button" }
  }

  /** People close, reopen and rename topics in the app. Changes by a bot are known already. */
  const topicChanged = async ({ place, change, name, from }: IncomingTopic): Promise<Handled> => {
    const topic = place.threadId === null || from.isBot ? undefined : await topicAt(place.chatId, place.threadId)
    if (!topic || change === "made") return done("a topic of somebody else")
    const to: TopicState | undefined = change === "closed" ? "closed" : change === "reopened" ? "open" : undefined
    const states: TopicState[] = change === "closed" ? ["open"] : ["closed", "archived"]
    const write: (tx: Store) => Promise<unknown> =
      to === undefined
        ? (tx) => tx.topics.change(topic.id, name === null ? {} : { name })
        : (tx) => tx.topics.change(topic.id, { state: to }, states)
    return { kind: "done", outcome: `topic ${change}`, writes: [write] }
  }

  const moved = async ({ place, toChatId }: IncomingMove): Promise<Handled> => {
    if (!(await isOurs(place.chatId))) return done("a group of somebody else")
    const nowMs = clock.nowMs()
    const data = { channel: channel.id, from: place.chatId, to: toChatId }
    const body = plain(`This group has a new number, ${toChatId}. Everything continues here; you need not do anything.`)
    const note = { kind: "answer" as const, chatId: toChatId, threadId: null, body }
    return {
      kind: "done",
      outcome: `the group is ${toChatId} now`,
      writes: [
        (tx) => tx.topics.moveChat(channel.id, place.chatId, toChatId),
        // Both groups report it.
        (tx) => tx.journal.append([{ kind: "chat.moved", atMs: nowMs, data, key: `chat.moved:${toChatId}` }]),
        (tx) =>
          tx.deliveries.enqueue(toShow(`${channel.id}:moved:${toChatId}`, chatLane(toChatId), channel.id, note), nowMs),
      ],
    }
  }

  /** Without topics, a reply to a session's message is for that session. */
  const repliedTopic = async ({ place, replyTo }: IncomingMessage): Promise<Topic | undefined> =>
    replyTo?.isOurs ? store.topics.byMessage(channel.id, place.chatId, replyTo.messageId) : undefined

  const isFlat = async ({ isFlat: hasNoTopics, place, chatKind }: IncomingMessage) =>
    hasNoTopics ||
    (chatKind === "private" &&
      (await store.holds.list(`${deps.bot}:${place.chatId}`)).some(({ kind }) => kind === "no_topics"))

  /** The team of a place outside of topics. Among several, the intended one is unknown. */
  const teamAt = async (message: IncomingMessage): Promise<Team | undefined> => {
    const [team, other] = await chats.ownAt(store, message.place)
    return other ? undefined : team
  }

  /** A thread that a team's sessions share is like a chat without topics. */
  const isSharedThread = async ({ place }: IncomingMessage) =>
    place.threadId !== null && (await chats.at(store, place)).some(({ chat }) => chat!.thread === place.threadId)

  const topicAt = (chatId: string, threadId: number) => store.topics.byThread(channel.id, chatId, threadId)

  /** Whether it is for this bot: messages in unknown topics may be for another machine's. */
  const isForUs = async (message: IncomingMessage, topic: Topic | undefined): Promise<boolean | undefined> => {
    const named = await election.isNamed(message)
    if (named === false) return false
    if (message.chatKind === "private" || topic) return true
    if (!(await isOurs(message.place.chatId))) return false
    if (named || (message.place.threadId !== null && !(await isSharedThread(message)))) return named ?? false
    return election.isElected(message.place.chatId)
  }

  /** The scope of commands: in a team's group, and for people of a team, that team. */
  const scopeAt = async ({ place, from }: IncomingMessage): Promise<Scope> => {
    const scope = await who.scopeOf(from, place)
    const own = (await chats.ownAt(store, place)).map(({ name }) => name)
    if (scope !== "all") return scope
    return own.length > 0 ? new Set(own) : "all"
  }

  const said = async (message: IncomingMessage, delivery: Delivery, signal: AbortSignal): Promise<Handled> => {
    const { chatId, threadId } = message.place
    const own = threadId === null ? undefined : await topicAt(chatId, threadId)
    const topic =
      own ?? (threadId === null || (await isSharedThread(message)) ? await repliedTopic(message) : undefined)
    const forUs = await isForUs(message, topic)
    if (forUs === undefined) return { kind: "later", why: "the messenger is away", inMs: LOOK_AGAIN_MS }
    if (!forUs) {
      // A code is for the one machine that knows it, whoever else receives it.
      const paired = threadId === null && (await isOurs(chatId)) ? await who.pair(message) : undefined
      return paired ?? done("for somebody else")
    }
    const team = topic ? undefined : await teamAt(message)
    const isOwnWord = !message.isEdit && message.forwardedFrom === null
    const approval = isOwnWord ? await deps.approvalReply?.about(message) : undefined
    const about =
      approval ?? (topic ? { sessionId: topic.sessionId, team: null } : team && { sessionId: null, team: team.name })
    const refused = await who.check(message, false, about)
    if (refused) return refused
    const by = message.from as Known
    if (message.chatKind === "private") await who.remember(by, chatId)
    const to: Recipient | undefined = topic ? { topic } : team && { team }
    const sent = to && (await toSession.sent(message, to))
    const gathered = await fragments.gather(message, delivery, sent)
    if (!gathered) return { kind: "later", why: "the rest of a long text may be to come", inMs: LOOK_FOR_MORE_MS }
    const { message: whole, rest } = gathered
    const together = settledWith(delivery.key, rest, clock.nowMs())
    if (isCommand(whole)) {
      const scope = await scopeAt(message)
      return withWrites(await commands.run(whole, { to, scope, by }), together)
    }
    const replied = approval ? await deps.approvalReply?.reply(whole, by) : undefined
    if (replied !== undefined)
      return {
        kind: "done",
        outcome: "an approval request was answered",
        writes: [answer(message, replied), ...together],
      }
    if (to) return toSession.bring(gathered, to, by, delivery, signal)
    if (message.isEdit) return done("an edit of what was for no session")
    if ((await isFlat(message)) || (await isSharedThread(message))) {
      const once = `flat:${chatId}:${by.userId}:${Math.floor(clock.nowMs() / FLAT_HINT_MS)}`
      return {
        kind: "done",
        outcome: "no session is meant",
        writes: [
          answer(message, (await chats.ownAt(store, message.place)).length > 1 ? SHARED_HINT : FLAT_HINT, { once }),
          ...together,
        ],
      }
    }
    const once = `hint:${chatId}:${threadId ?? 0}:${by.userId}:${Math.floor(clock.nowMs() / HOUR_MS)}`
    return { kind: "done", outcome: "no session is meant", writes: [answer(message, HINT, { once }), ...together] }
  }

  return (incoming: Incoming, delivery: Delivery, signal: AbortSignal): Promise<Handled> => {
    if (incoming.kind === "press") return pressed(incoming)
    if (incoming.kind === "topic") return topicChanged(incoming)
    if (incoming.kind === "move") return moved(incoming)
    return said(incoming, delivery, signal)
  }
}

const HINT = "Here I only take commands, such as /sessions. What you write in a session's topic goes to its agent."
const SHARED_HINT =
  "Several teams are in this chat, so I cannot tell which one you mean. Reply to one of its messages; /sessions lists those that are live."
const FLAT_HINT =
  "This chat has no topics, so I cannot tell which session you mean. Reply to one of its messages; /sessions lists those that are live. To have a topic for each: group → Edit → Topics."
const withWrites = (handled: Handled, writes: readonly Write[]): Handled =>
  handled.kind === "done" ? { ...handled, writes: [...(handled.writes ?? []), ...writes] } : handled
const done = (outcome: string): Handled => ({ kind: "done", outcome })
