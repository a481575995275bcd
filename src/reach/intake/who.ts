import type { ChannelUser, Incoming, IncomingMessage } from "../../domain/channel.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Store } from "../../domain/store.ts"
import type { Answers } from "./answers.ts"
import type { Handled, Write } from "./handling.ts"
import { CODE, type Pairing, type Redeemed } from "./pairing.ts"

export interface WhoDeps {
  store: Store
  clock: Clock
  channel: string
  /** Those of the configuration. */
  users: readonly string[]
  pairing: Pairing
  answer: Answers
}

export type Known = ChannelUser & { userId: string }

const HOUR_MS = 60 * 60_000
/** Anybody can write to a bot: what strangers send is counted, and does not fill the audit. */
const FLOOD = { windowMs: HOUR_MS, most: 50 }

/** Who may talk to sessions and tap. Whoever is not named may not, and every refusal is written down. */
export function makeWho({ store, clock, channel, users, pairing, answer }: WhoDeps) {
  const isAllowed = async (user: ChannelUser): Promise<boolean> => {
    if (user.userId === null || user.isBot) return false
    if (users.includes(user.userId)) return true
    return (await store.people.list(channel)).some(({ userId }) => userId === user.userId)
  }

  const whyNot = ({ userId, isBot }: ChannelUser) =>
    userId === null ? "anonymous" : isBot ? "a bot" : "not on the list"

  /** The audit names who it was and where, never what was said. */
  const refusal =
    (incoming: Incoming, why: string): Write =>
    (tx) => {
      const { from, place, kind } = incoming
      const data = { channel, chatId: place.chatId, threadId: place.threadId, name: from.name, kind, why }
      const who = `${channel}:${from.userId ?? "anonymous"}`
      return tx.audit.tally({ atMs: clock.nowMs(), who, what: "channel.refused", data }, FLOOD)
    }

  /** Somebody says a code; undefined when what is said is none. */
  const pair = async (incoming: IncomingMessage): Promise<Redemption | undefined> => {
    const { from, text, isEdit, place, chatKind } = incoming
    const code = (PAIR.exec(text) ?? CODE.exec(text))?.[1]
    if (code === undefined || from.userId === null || from.isBot || isEdit || (await isAllowed(from))) return undefined
    const redeemed = await pairing.redeem(code, { ...from, userId: from.userId }, { ...place, chatKind })
    return { redeemed, handled: told(incoming, redeemed) }
  }

  const told = (incoming: IncomingMessage, redeemed: Redeemed): Handled => {
    if (redeemed === "paired")
      return { kind: "done", outcome: "paired", writes: [answer(incoming, `${WELCOME}, ${incoming.from.name}.`)] }
    // In a group it may be the code of another machine's bot, which answers by itself.
    const words = redeemed === "wrong" ? WRONG : TOO_OFTEN
    const said = incoming.chatKind === "private" ? [answer(incoming, words)] : []
    return {
      kind: "done",
      outcome: `pairing: ${redeemed}`,
      writes: [refusal(incoming, `code: ${redeemed}`), ...said],
    }
  }

  return {
    /** Undefined where the sender may; otherwise it is settled by that. */
    async check(incoming: Incoming, isQuiet: boolean): Promise<Handled | undefined> {
      const { from, place, kind } = incoming
      if (await isAllowed(from)) return undefined
      const paired = kind === "message" ? await pair(incoming) : undefined
      if (paired) return paired.handled
      const why = whyNot(from)
      const writes = [refusal(incoming, why)]
      const once = `refused:${place.chatId}:${from.userId}:${Math.floor(clock.nowMs() / HOUR_MS)}`
      if (kind === "message" && !isQuiet && !from.isBot)
        writes.push(answer(incoming, from.userId === null ? ANONYMOUS : STRANGER, { once }))
      return { kind: "done", outcome: `refused: ${why}`, writes }
    },
    /** Of what is said to another bot only a code that is ours counts. */
    async pair(incoming: IncomingMessage): Promise<Handled | undefined> {
      const tried = await pair(incoming)
      return tried?.redeemed === "paired" ? tried.handled : undefined
    },
    /** Where somebody is written to in private. */
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
const ANONYMOUS = "I cannot tell who is writing. Please write as yourself, not as an anonymous admin or a channel."
const WELCOME = "You are paired: write in a session's topic, and /help says what else there is. Welcome"
const WRONG = "That code is not valid, or its ten minutes are over. `throughline telegram pair` shows a new one."
const TOO_OFTEN = "Too many codes were wrong. Try again in an hour."
