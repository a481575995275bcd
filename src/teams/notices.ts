/** Notices to teams, which wait for their next session. */
import type { Delivery } from "../domain/delivery.ts"
import { Failure } from "../domain/failure.ts"
import { nameOnOneLine, quoteLines } from "../domain/framing.ts"
import { newMessageId } from "../domain/ids.ts"
import { NOTICE_CHANNEL, type NoticePayload, noticeLane, noticeOf } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import type { Team } from "../domain/team.ts"
import type { Clock } from "../lib/clock.ts"
import { checkText, enqueue, move, type Settled } from "../lib/transitions.ts"
export interface Notices {
  put(request: NoticeRequest): Promise<{ messageId: string; expiresAtMs: number }>
  /** Takes pending notices in order, as many as fit, each once. */
  take(team: string, request: { maxChars: number; as: Settled }): Promise<TeamNotice[]>
  /** Oldest first. */
  unread(): Promise<Delivery[]>
  byId(id: string): Promise<Delivery>
  /** False if it was delivered already. */
  dismiss(id: string): Promise<boolean>
}

export interface NoticeRequest {
  fromTeam: string | null
  sender: string
  team: Team
  text: string
  ttlMs: number
  key: string | undefined
}

export interface TeamNotice {
  id: string
  /** With its sender. */
  text: string
  atMs: number
}

const MOST_AT_ONCE = 50

interface NoticesDeps {
  store: Store
  clock: Clock
  settings: { maxMessageBytes: number }
}

export function makeNotices({ store, clock, settings }: NoticesDeps): Notices {
  const byId = async (id: string): Promise<Delivery> => {
    const found = await store.deliveries.byKey(id)
    if (found?.channel === NOTICE_CHANNEL) return found
    throw new Failure("message_not_found", `there is no notice ${id}`, { id })
  }

  return {
    byId,
    async unread() {
      const nowMs = clock.nowMs()
      const waiting = await store.deliveries.ofChannel(NOTICE_CHANNEL, ["queued"])
      return waiting.filter(({ expiresAtMs }) => (expiresAtMs ?? nowMs + 1) > nowMs)
    },
    async dismiss(id) {
      const delivery = await byId(id)
      return store.transaction((tx) => move(tx, delivery, ["queued"], "cancelled", clock.nowMs(), null, "dismissed"))
    },
    async put({ fromTeam, sender, team, text, ttlMs, key }) {
      checkText(text, "message", settings.maxMessageBytes)
      const messageId = newMessageId(team.name, key)
      const nowMs = clock.nowMs()
      const payload: NoticePayload = { text, sender, fromTeam, toTeam: team.name }
      const delivery = {
        ...{ key: messageId, lane: noticeLane(team.name), channel: NOTICE_CHANNEL, payload },
        repeatable: true,
        expiresAtMs: nowMs + ttlMs,
      }
      await store.transaction((tx) => enqueue(tx, delivery, nowMs))
      const kept = await store.deliveries.byKey(messageId)
      return { messageId, expiresAtMs: kept?.expiresAtMs ?? delivery.expiresAtMs }
    },
    take: (team, { maxChars, as }) =>
      store.transaction(async (tx) => {
        const nowMs = clock.nowMs()
        const waiting = await tx.deliveries.ofLanes([noticeLane(team)], { states: ["queued"], first: MOST_AT_ONCE })
        const taken: TeamNotice[] = []
        let left = maxChars
        for (const delivery of waiting) {
          if ((delivery.expiresAtMs ?? nowMs + 1) <= nowMs) continue
          const { sender, text } = noticeOf(delivery)
          const from = `Notice ${delivery.key} from ${nameOnOneLine(sender)}, via Throughline`
          const whole = `[${from}]\n${quoteLines(text)}`
          const isPointer = whole.length > maxChars && as === "delivered"
          const shown = isPointer ? `[${from}: too long to show here. Call pull_updates to read it.]` : whole
          left -= shown.length
          // A pull returns at least one, or a notice above its limit would block all later ones.
          if (left < 0 && (as === "delivered" || taken.length > 0)) break
          if (!isPointer && !(await move(tx, delivery, ["queued"], as, nowMs))) continue
          taken.push({ id: delivery.key, text: shown, atMs: delivery.createdAtMs })
        }
        return taken
      }),
  }
}
