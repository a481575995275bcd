import { createHash, randomInt } from "node:crypto"
import { type ChannelUser, codeOf, type Place } from "../../domain/channel.ts"
import type { Person, TeamPerson } from "../../domain/channel-store.ts"
import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts"

/** Gives people access beside those of the configuration: by a code that is shown in the terminal and sent to the bot. */
export interface UserPairing {
  /** A code for access everywhere, or to the chats of one team. */
  issue(team?: string): Promise<{ code: string; expiresAtMs: number }>
  /** Each code works once, and guesses are limited. */
  redeem(code: string, user: ChannelUser & { userId: string }, place: PairingPlace): Promise<Redeemed>
  list(): Promise<Person[]>
  ofTeams(): Promise<TeamPerson[]>
  remove(userId: string): Promise<boolean>
  /** All people with access to that team only. */
  removeTeam(team: string): Promise<void>
}

export type PairingPlace = Place & { chatKind: "group" | "private" }
export type Redeemed = "paired" | "wrong" | "too often"

export interface UserPairingDeps {
  store: Store
  clock: Clock
  /** The messenger's id. */
  channel: string
}

/** Without letters and digits that look alike. */
const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
const CODE_CHARS = 8
export const CODE = new RegExp(`^\\s*([${LETTERS}]{${CODE_CHARS}})\\s*$`, "i")
const VALID_MS = 10 * MINUTE_MS
const MOST_PENDING = 3
const MOST_TRIES = 5
const TRIES_MS = HOUR_MS

export function makePairing({ store, clock, channel }: UserPairingDeps): UserPairing {
  // Codes are in the store: the daemon that issues one may not be the one that receives it.
  const lane = `pairing:${channel}`
  const keyOf = (code: string) =>
    `${lane}:${createHash("sha256").update(`${channel}\0${code.toUpperCase()}`).digest("hex")}`

  return {
    async issue(team) {
      const nowMs = clock.nowMs()
      const code = Array.from({ length: CODE_CHARS }, () => LETTERS[randomInt(LETTERS.length)]).join("")
      const expiresAtMs = nowMs + VALID_MS
      await store.transaction(async (tx) => {
        await tx.deliveries.expire(lane, nowMs)
        if ((await tx.deliveries.pending(lane)).length >= MOST_PENDING)
          throw new Failure(
            "bad_input",
            `${MOST_PENDING} codes wait already; each is good for ${VALID_MS / MINUTE_MS} minutes`,
          )
        await tx.deliveries.enqueue(
          {
            key: keyOf(code),
            lane,
            channel: lane,
            payload: team === undefined ? {} : { team },
            repeatable: true,
            expiresAtMs,
          },
          nowMs,
        )
        await tx.audit.add({
          atMs: nowMs,
          who: "the owner",
          what: "channel.code",
          data: { channel, ...(team !== undefined && { team }) },
        })
      })
      return { code, expiresAtMs }
    },

    async redeem(code, { userId, name }, { chatId, chatKind }) {
      const nowMs = clock.nowMs()
      return store.transaction(async (tx) => {
        const tries = `${lane}:${userId}`
        const { sentAtMs } = await tx.budgets.get(tries)
        const recent = sentAtMs.filter((atMs) => nowMs - atMs < TRIES_MS)
        if (recent.length >= MOST_TRIES) return "too often"
        await tx.deliveries.expire(lane, nowMs)
        const waiting = await tx.deliveries.byKey(keyOf(code))
        if (!waiting || !(await tx.deliveries.move(waiting.seq, ["queued"], "done", "redeemed", nowMs))) {
          await tx.budgets.put(tries, { sentAtMs: [...recent, nowMs], blockedUntilMs: 0 })
          return "wrong"
        }
        const { team } = codeOf(waiting)
        const privateChat = chatKind === "private" ? chatId : null
        if (team !== undefined) await tx.teamPeople.put({ channel, userId, team, name, pairedAtMs: nowMs })
        else await tx.people.put({ channel, userId, name, chatId: privateChat, pairedAtMs: nowMs })
        const data = { channel, userId, name, chatId, ...(team !== undefined && { team }) }
        await tx.audit.add({ atMs: nowMs, who: `${channel}:${userId}`, what: "channel.paired", data })
        return "paired"
      })
    },

    list: () => store.people.list(channel),
    ofTeams: () => store.teamPeople.list(channel),
    async removeTeam(team) {
      await store.transaction(async (tx) => {
        const people = await tx.teamPeople.removeTeam(channel, team)
        if (people === 0) return
        const data = { channel, team, people }
        await tx.audit.add({ atMs: clock.nowMs(), who: "the owner", what: "channel.unpaired", data })
      })
    },
    async remove(userId) {
      return store.transaction(async (tx) => {
        const wasEverywhere = await tx.people.remove(channel, userId)
        if (!(await tx.teamPeople.remove(channel, userId)) && !wasEverywhere) return false
        const data = { channel, userId }
        await tx.audit.add({ atMs: clock.nowMs(), who: "the owner", what: "channel.unpaired", data })
        return true
      })
    },
  }
}
