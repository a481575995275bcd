import type { ChannelUser, Incoming, IncomingMessage, Place } from "../../domain/channel.ts"
import type { Subject } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import type { Team } from "../../domain/team.ts"
import type { Clock } from "../../lib/clock.ts"
import { HOUR_MS } from "../../lib/time.ts"
import type { TeamChats } from "../team-chats.ts"
import type { Answers } from "./answers.ts"
import type { Handled, Write } from "./handling.ts"
import { CODE, type Redeemed, type UserPairing } from "./pairing.ts"
export interface WhoDeps {
  store: Store
  clock: Clock
  channel: string
  /** From the configuration. */
  users: readonly string[]
  chats: TeamChats
  pairing: UserPairing
  answer: Answers
}

export type Known = ChannelUser & { userId: string }

const NOTHING: Scope = new Set()
/** Anybody can write to a bot: messages of strangers are counted, so that they do not fill the audit. */
const FLOOD = { windowMs: HOUR_MS, most: 50 }

/** What somebody has access to in a place: everything, or these teams. */
export type Scope = "all" | ReadonlySet<string>

/** Who has access, and where. Deny by default; every refusal is audited. */
export function makeWho({ store, clock, channel, users, chats, pairing, answer }: WhoDeps) {
  const isEverywhere = async (userId: string): Promise<boolean> =>
    users.includes(userId) || (await store.people.list(channel)).some((one) => one.userId === userId)

  /** Empty for people without access. */
  const scopeOf = async (user: ChannelUser, place: Place): Promise<Scope> => {
    const { userId } = user
    if (userId === null || user.isBot) return NOTHING
    if (await isEverywhere(userId)) return "all"
    const here = await chats.at(store, place)
    if (here.length === 0) return NOTHING
    const paired = (await store.teamPeople.list(channel)).filter((one) => one.userId === userId)
    const isOf = ({ name, chat }: Team) => chat!.users.includes(userId) || paired.some(({ team }) => team === name)
    return new Set(here.filter(isOf).map(({ name }) => name))
  }

  const isIn = async (scope: Scope, { sessionId, team }: Subject): Promise<boolean> => {
    if (scope === "all") return true
    const session = sessionId === null ? undefined : await store.sessions.byId(sessionId)
    // People of a team have no access to sessions of no team, whatever the subject claims.
    const name = session ? (await chats.teamOf(store, session))?.name : sessionId === null ? team : null
    return name != null && scope.has(name)
  }

  const whyNot = ({ userId, isBot }: ChannelUser) =>
    userId === null ? "anonymous" : isBot ? "a bot" : "not on the list"

  /** The audit has the sender and the place, never the text. */
  const refusal =
    (incoming: Incoming, why: string): Write =>
    (tx) => {
      const { from, place, kind } = incoming
      const data = { channel, chatId: place.chatId, threadId: place.threadId, name: from.name, kind, why }
      const who = `${channel}:${from.userId ?? "anonymous"}`
      return tx.audit.tally({ atMs: clock.nowMs(), who, what: "channel.refused", data }, FLOOD)
    }

  /** Redeems a code; undefined for any other text. */
  const pair = async (incoming: IncomingMessage): Promise<Redemption | undefined> => {
    const { from, text, isEdit, place, chatKind } = incoming
    const code = (PAIR.exec(text) ?? CODE.exec(text))?.[1]
    if (code === undefined || from.userId === null || from.isBot || isEdit) return undefined
    const scope = await scopeOf(from, place)
    // From people with access, a word that looks like a code is just text.
    if (scope === "all" || (scope.size > 0 && !PAIR.test(text))) return undefined
    const redeemed = await pairing.redeem(code, { ...from, userId: from.userId }, { ...place, chatKind })
    return { redeemed, handled: told(incoming, redeemed) }
  }

  const told = (incoming: IncomingMessage, redeemed: Redeemed): Handled => {
    if (redeemed === "paired")
      return { kind: "done", outcome: "paired", writes: [answer(incoming, `${WELCOME}, ${incoming.from.name}.`)] }
    // In a group it may be the code of another machine's bot, which answers itself.
    const words = redeemed === "wrong" ? WRONG : TOO_OFTEN
    const said = incoming.chatKind === "private" ? [answer(incoming, words)] : []
    return {
      kind: "done",
      outcome: `pairing: ${redeemed}`,
      writes: [refusal(incoming, `code: ${redeemed}`), ...said],
    }
  }

  return {
    /** Undefined where the sender has access; otherwise the refusal. */
    async check(incoming: Incoming, isQuiet: boolean, about?: Subject): Promise<Handled | undefined> {
      const { from, place, kind } = incoming
      const paired = kind === "message" ? await pair(incoming) : undefined
      if (paired) return paired.handled
      const scope = await scopeOf(from, place)
      const isAllowed = scope === "all" || scope.size > 0
      if (isAllowed && (about === undefined || (await isIn(scope, about)))) return undefined
      const why = isAllowed ? "another team's" : whyNot(from)
      const writes = [refusal(incoming, why)]
      const once = `refused:${place.chatId}:${from.userId}:${Math.floor(clock.nowMs() / HOUR_MS)}`
      if (kind === "message" && !isQuiet && !from.isBot)
        writes.push(answer(incoming, from.userId === null ? ANONYMOUS : isAllowed ? ANOTHERS : STRANGER, { once }))
      return { kind: "done", outcome: `refused: ${why}`, writes }
    },
    scopeOf,
    /** In messages to another bot, only our own code counts. */
    async pair(incoming: IncomingMessage): Promise<Handled | undefined> {
      const tried = await pair(incoming)
      return tried?.redeemed === "paired" ? tried.handled : undefined
    },
    /** Remembers the private chat of somebody with access everywhere. */
    async remember({ userId, name }: Known, privateChatId: string): Promise<void> {
      const person = (await store.people.list(channel)).find((one) => one.userId === userId)
      if (person && person.chatId !== privateChatId) await store.people.put({ ...person, name, chatId: privateChatId })
    },
  }
}

interface Redemption {
  redeemed: Redeemed
  handled: Handled
}

export type Who = ReturnType<typeof makeWho>

const PAIR = /^\s*\/pair(?:@\w+)?\s+(\S+)\s*$/i
const STRANGER =
  "I only talk to people I know. Whoever runs me can let you in: `throughline telegram pair` shows a code to send me."
const ANOTHERS = "This is another team's, and you may write to yours only."
const ANONYMOUS = "I cannot tell who is writing. Please write as yourself, not as an anonymous admin or a channel."
const WELCOME = "You are paired: write in a session's topic; /help lists the commands. Welcome"
const WRONG = "That code is not valid, or its ten minutes are over. `throughline telegram pair` shows a new one."
const TOO_OFTEN = "Too many codes were wrong. Try again in an hour."
