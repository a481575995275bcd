import type { Channel, IncomingMessage } from "../../domain/channel.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { Failure } from "../../domain/failure.ts"
import { newMessageId } from "../../domain/ids.ts"
import type { LiveSessions } from "../../domain/live.ts"
import { type Address, lanesOf, type MessagePayload, messageOf, type Sender, targetOf } from "../../domain/message.ts"
import type { Messages } from "../../domain/messages.ts"
import { BUTTON, type MessageOrigin, type MessagePart } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import type { Team } from "../../domain/team.ts"
import type { Topic } from "../../domain/topic.ts"
import { type Clock, sleep } from "../../lib/clock.ts"
import type { Answers } from "./answers.ts"
import { type Attachments, type Brought, filesIn, folderOf } from "./attachments.ts"
import { digestOf, type Gathered, messagesBehind, partOf, settledWith } from "./fragments.ts"
import type { Handled, Write } from "./handling.ts"
import { quoted } from "./quoting.ts"
import type { Known } from "./who.ts"

export interface ToSessionDeps {
  store: Store
  clock: Clock
  channel: Channel
  messages: Pick<Messages, "send" | "byId">
  live: Pick<LiveSessions, "ofSession">
  attachments: Attachments
  answer: Answers
  /** Sessions of another machine are started there. */
  host: string
}

/** The recipient: the session of a topic, or a team's current one. */
export type Recipient = { topic: Topic; team?: undefined } | { team: Team; topic?: undefined }

export interface SayRequest {
  message: IncomingMessage
  to: Recipient
  by: Known
  text: string
  isCommand?: boolean
  priority?: "stop"
  parts?: MessagePart[]
  writes?: readonly Write[]
}

/** The files of an album arrive one by one. */
const ALBUM_MS = 1_200
const AWAY_HINT_MS = 10 * 60_000
const LOOKED_AT_MS = 2_000
const LOOK_MS = 50
/** Older messages are not edited. */
const LAST_WRITTEN = 50

export type ToSession = ReturnType<typeof makeToSession>

/** Delivers what people write, say or send in a session's topic, or in a team's group, to the agent. */
export function makeToSession(deps: ToSessionDeps) {
  const { store, clock, channel, messages, live, attachments, answer, host } = deps
  const keyOf = ({ place, messageId }: IncomingMessage) => `${channel.id}:${place.chatId}:${messageId}`

  /** The delivery that was sent for this message before, if any. */
  const sent = async (message: IncomingMessage, recipient: Recipient): Promise<Delivery | undefined> => {
    const to = addressFor(recipient)
    return to && messages.byId(newMessageId(targetOf(to), keyOf(message)))
  }

  /** Sends a text to the agent under the id of the message that it is from. */
  const say = async ({ message, to: recipient, by, text, writes = [], ...options }: SayRequest): Promise<Handled> => {
    const { isCommand, priority, parts } = options
    const to = addressFor(recipient)
    if (!to) return done("forgotten", answer(message, FORGOTTEN), ...writes)
    const { chatId, threadId } = message.place
    const { userId, name } = by
    const about = { channel: channel.id, chatId, threadId, messageId: message.messageId, userId, name }
    const origin = { ...about, ...(parts ? { parts } : {}) }
    const { forwardedFrom } = message
    // A forwarded text is not the owner's own.
    const sender: Sender =
      forwardedFrom === null
        ? { kind: "owner", name }
        : { kind: "client", name: `${forwardedFrom}, forwarded by ${name}` }
    try {
      const answered = await messages.send({
        ...(to.team === undefined ? { sessionId: to.sessionId } : { target: to.team }),
        text,
        sender,
        idempotencyKey: keyOf(message),
        allowTwin: true,
        isCommand,
        priority,
        origin,
      })
      if (!answered.queued && answered.id === undefined)
        return done(answered.reason, answer(message, `Not sent: ${answered.reason}.`), ...writes)
      return done(`message ${answered.id}`, ...writes, ...(await asleep(message, recipient)))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return done(error.code, answer(message, `Not sent: ${error.message}.`), ...writes)
    }
  }

  /** No session of the team is running: the message is stored, and its sender may resume the last session. A topic has its own notice for that. */
  const asleep = async (message: IncomingMessage, { topic, team }: Recipient): Promise<Write[]> => {
    if (topic) return []
    const sessionId = (await store.presence.byTeam(team.name))?.sessionId ?? null
    const agent = sessionId === null ? undefined : await live.ofSession(sessionId)
    if (agent && (agent.status !== "gone" || agent.route?.host !== host)) return []
    // A team that starts automatically needs no notice.
    if (team.whenAway !== "keep") return []
    const { chatId, threadId } = message.place
    const once = `away:${team.name}:${chatId}:${threadId ?? 0}:${Math.floor(clock.nowMs() / AWAY_HINT_MS)}`
    const buttons = sessionId && [[{ label: "Resume", data: `${BUTTON.resume}:${sessionId}` }]]
    return [answer(message, nobodyThere(team.name), { once, ...(buttons ? { buttons } : {}) })]
  }

  /** By the id of its first message, or of one of its parts. */
  const written = async (message: IncomingMessage, recipient: Recipient, to: Address) => {
    const first = await sent(message, recipient)
    if (first) return first
    const last = await store.deliveries.ofLanes(lanesOf(to), { last: LAST_WRITTEN })
    return last.find((one) => {
      const { origin } = messageOf(one)
      return origin?.chatId === message.place.chatId && partIn(origin, message) !== undefined
    })
  }

  const edited = async (message: IncomingMessage, recipient: Recipient): Promise<Handled> => {
    const to = addressFor(recipient)
    if (!to) return done("forgotten")
    for (const untilMs = clock.nowMs() + LOOKED_AT_MS; ; await sleep(LOOK_MS)) {
      const delivery = await written(message, recipient, to)
      if (!delivery) return done("an edit of what was not handed on")
      const payload = messageOf(delivery)
      const part = partIn(payload.origin, message)
      const isWaiting = delivery.state === "queued" && delivery.attemptStartedAtMs === null
      // Nothing to correct any more.
      if (delivery.state === "cancelled" || delivery.state === "expired") return done(`it is ${delivery.state}`)
      if (part ? part.digest === digestOf(message.text) : payload.text === message.text) return done("nothing changed")
      if (!isWaiting || clock.nowMs() > untilMs)
        return done("too late", answer(message, TOO_LATE, { part: `edit-${message.atMs}` }))
      const next = part && part.offset >= 0 ? spliced(payload, part, message) : await recomposed(payload, message)
      // The dispatcher may hold a short lease while it checks whether the message can go.
      if (await store.deliveries.rewrite(delivery.seq, next, { ifWaitingAtMs: clock.nowMs() }))
        return done(`message ${delivery.key} reads differently now`)
    }
  }

  /** With files: the caption changes, and the files stay. */
  const recomposed = async (payload: MessagePayload, message: IncomingMessage): Promise<MessagePayload> => {
    const files = message.files.length > 0 ? filesIn(payload.text) : ""
    const { origin } = payload
    const parts = origin?.parts?.map((one) => (one.messageId === message.messageId ? partOf(message, -1) : one))
    const text = `${message.text}${files}`.trim()
    return { ...payload, text, ...(origin ? { origin: { ...origin, ...(parts ? { parts } : {}) } } : {}) }
  }

  const withQuote = async (message: IncomingMessage, { sessionId }: Address) => {
    if (message.replyTo === null || isOwnNote(message.replyTo)) return message.text
    const request = { kinds: ["reply" as const], limit: 1, maxChars: 4_000 }
    const [last] = sessionId === undefined ? [] : await store.turns.ofSession(sessionId, request)
    return quoted(message.text, withoutLabel(message.replyTo.text), last?.text)
  }

  /** The messages of the album, this one first; undefined while others may still come. */
  const together = async (message: IncomingMessage, delivery: Delivery) => {
    if (message.albumId === null) return { messages: [message], rest: [] }
    if (clock.nowMs() - delivery.createdAtMs < ALBUM_MS) return undefined
    const behind = await messagesBehind(store, channel, delivery)
    const rest = behind.filter((one) => one.message.albumId === message.albumId)
    return { messages: [message, ...rest.map((one) => one.message)], rest }
  }

  const files = async (message: IncomingMessage, to: Recipient, by: Known, delivery: Delivery): Promise<Handled> => {
    const folder = to.topic ? await sessionFolder(to.topic) : { dir: to.team.projectDir }
    if (!folder) return done("forgotten", answer(message, FORGOTTEN))
    const album = await together(message, delivery)
    if (!album) return { kind: "later", why: "the rest of the album is to come", inMs: ALBUM_MS }
    const brought = await attachments.keep(album.messages, folder.dir)
    // A daemon that died after sending may have seen fewer of them: later ones are sent alone.
    const before = brought.kind === "words" ? await sent(message, to) : undefined
    const isSame = before === undefined || (brought.kind === "words" && messageOf(before).text === brought.text)
    const covered = isSame ? album.rest : []
    const writes = settledWith(
      delivery.key,
      covered.map((one) => one.delivery),
      clock.nowMs(),
    )
    const parts = [message, ...covered.map((one) => one.message)].map((one) => partOf(one, -1))
    return finish(brought, { message, to, by, parts, writes })
  }

  const finish = (brought: Brought, request: Omit<SayRequest, "text">): Promise<Handled> | Handled => {
    if (brought.kind === "later") return { kind: "later", why: brought.why, inMs: brought.inMs }
    const writes = request.writes ?? []
    if (brought.kind === "not") return done("not handed on", answer(request.message, brought.why), ...writes)
    const told = brought.told === undefined ? [] : [answer(request.message, `“${brought.told}”`, { part: "heard" })]
    return say({ ...request, text: brought.text, writes: [...told, ...writes] })
  }

  const sessionFolder = async ({ sessionId }: Topic): Promise<{ dir: string | undefined } | undefined> => {
    const session = sessionId === null ? undefined : await store.sessions.byId(sessionId)
    return session && { dir: folderOf(session) }
  }

  return {
    say,
    sent,
    async bring(
      { message, parts, rest }: Gathered,
      to: Recipient,
      by: Known,
      delivery: Delivery,
      signal: AbortSignal,
    ): Promise<Handled> {
      if (message.isEdit) return edited(message, to)
      if (message.otherKind !== null) return done(message.otherKind, answer(message, cannot(message.otherKind)))
      if (message.files.some(({ kind }) => kind === "voice"))
        return finish(await attachments.hear(message, signal), { message, to, by, parts: [partOf(message, -1)] })
      if (message.files.length > 0) return files(message, to, by, delivery)
      const writes = settledWith(delivery.key, rest, clock.nowMs())
      const address = addressFor(to)
      if (!address) return done("forgotten", answer(message, FORGOTTEN), ...writes)
      const text = await withQuote(message, address)
      const shift = text.length - message.text.length
      const shifted = parts.map((part) => ({ ...part, offset: part.offset + shift }))
      return say({ message, to, by, text, parts: shifted, writes })
    },
  }
}

/** Undefined where the topic's session was forgotten. */
function addressFor({ topic, team }: Recipient): Address | undefined {
  if (team) return { team: team.name }
  return topic.sessionId === null ? undefined : { sessionId: topic.sessionId }
}

const partIn = (origin: MessageOrigin | undefined, { messageId }: IncomingMessage) =>
  origin?.parts?.find((part) => part.messageId === messageId)

/** Replaces the part's text and shifts the parts behind it. */
function spliced(payload: MessagePayload, part: MessagePart, message: IncomingMessage): MessagePayload {
  const { offset, length } = part
  const text = `${payload.text.slice(0, offset)}${message.text}${payload.text.slice(offset + length)}`
  const parts = payload.origin!.parts!.map((one) =>
    one === part
      ? partOf(message, offset)
      : { ...one, offset: one.offset > offset ? one.offset + message.text.length - length : one.offset },
  )
  return { ...payload, text, origin: { ...payload.origin!, parts } }
}

/** Our own turn-end notice needs no quote. */
const isOwnNote = ({ isOurs, text }: NonNullable<IncomingMessage["replyTo"]>) =>
  isOurs && /^(?:▸ [^\n]*\n)?✅ done\b/.test(text)
/** Where there are no topics, messages begin with their session's name. */
const withoutLabel = (text: string) => text.replace(/^▸ [^\n]*\n/, "")

const done = (outcome: string, ...writes: Write[]): Handled => ({ kind: "done", outcome, writes })
const cannot = (kind: string) =>
  `A ${kind.replaceAll("_", " ")} cannot be forwarded to the agent; text, pictures, files and voice messages can.`
const nobodyThere = (team: string) =>
  `No session of ${team} is running. Your messages stay queued until one is: start one with /new ${team}.`
const FORGOTTEN = "This topic's session was forgotten. /new starts another."
const TOO_LATE = "The agent has that message already, as it was. Write what should be different."
