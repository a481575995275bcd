import type { SessionId } from "../../domain/ids.ts"
import type { JournalConsumer, JournalEntry } from "../../domain/journal.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import type { Verbosity } from "../../domain/topic.ts"
import type { Turn } from "../../domain/turn.ts"
import type { Clock } from "../../lib/clock.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { DAY_MS } from "../../lib/time.ts"
import { needsNote } from "../render/notes.ts"
import { makeAudience } from "./audience.ts"
import type { EchoDeps } from "./echo.ts"
import { tellBot, tellPermission, tellRestart } from "./events.ts"
import { followChats } from "./following-chats.ts"
import { isUntold, makeEndTelling } from "./tell-end.ts"
import { makeTelling } from "./telling.ts"
import type { MirrorPlace } from "./topics.ts"
import {
  isFinalReply,
  makeTurnEndNotices,
  mayBeFinalReply,
  type TurnEndNotice,
  turnEndNoticeOf,
} from "./turn-end-notices.ts"
import { makeTurnTelling } from "./turns.ts"

export const MIRROR = "reach.mirror"

export interface MirrorSettings {
  mirror: "all" | "teams" | "off"
  verbosity: Verbosity
  atEnd: "archive" | "keep" | "delete"
  approvals: boolean
}

export interface MirrorDeps extends EchoDeps {
  store: Store
  clock: Clock
  roster: Pick<Roster, "at" | "onChange">
  settings: MirrorSettings
  /** Where a session is mirrored, or messages about none. Undefined while there is no such place; nothing is sent later then. */
  place(tx: Store, session?: Session): Promise<MirrorPlace | undefined>
  /** Whether there is any place now. */
  hasPlace(tx: Store): Promise<boolean>
  onTrouble(error: unknown, what: string): void
}

/** Shows in a messenger what happens in sessions. It only writes deliveries and never calls the messenger. */
export interface Mirror {
  consumer: JournalConsumer
  /** Before the consumer first runs: skips everything in the journal. */
  begin(): Promise<void>
  /** Tells the ends whose final reply never arrives. */
  run(signal: AbortSignal): Promise<void>
}

const LOOK_MS = 250
/** An approval request that is not sent by then has to wait. */
const STUCK_MS = 5_000
/** How many entries to search for ends that were not sent when the daemon died. */
const LOOK_BACK = 1_000
/** Older events are shown in an existing topic, but create none. */
const RECENT_MS = 30 * 60 * 1000
/** Older entries are skipped. */
const OLD_MS = DAY_MS

export function makeMirror(deps: MirrorDeps): Mirror {
  const { store, clock, settings, roster } = deps
  const audience = makeAudience(settings.mirror, roster)
  const telling = makeTelling({ clock, verbosity: settings.verbosity, place: deps.place })
  const notices = makeTurnEndNotices()
  const tellEnd = makeEndTelling({ telling, audience, notices, atEnd: settings.atEnd })
  const tellTurns = makeTurnTelling({ ...deps, telling, audience, notices, tellEnd, verbosity: settings.verbosity })

  const onHook = async (tx: Store, entry: JournalEntry, session: Session) => {
    const { data, atMs } = entry
    if (typeof data.agent_id === "string") return
    const event = String(data.event)
    if (typeof data.start === "string" && data.start !== "compact") notices.sessionContinues(session.id, atMs)
    const isRecent = clock.nowMs() - atMs <= RECENT_MS
    const type = event === "Notification" ? String(data.notification_type ?? "") : ""
    if (!NEEDS.test(type) || !isRecent || !(await audience.isTold(tx, session))) return
    const topic = await telling.ensure(tx, session)
    if (topic && !(await isAsked(tx, session)))
      await telling.note(tx, topic, `needs:${topic.id}:${entry.seq}`, needsNote(type), true)
  }

  /** An approval request says the same, unless it is stuck on its way or was rejected. */
  const isAsked = async (tx: Store, { id }: Session): Promise<boolean> => {
    if (!settings.approvals) return false
    for (const permission of await tx.permissions.waiting()) {
      if (permission.sessionId !== id) continue
      const approval = await tx.deliveries.byKey(`tg:card:${permission.id}`)
      const isOnItsWay = approval?.state === "queued" && clock.nowMs() - approval.createdAtMs < STUCK_MS
      if (approval?.state === "done" || isOnItsWay) return true
    }
    return false
  }

  const take = async (tx: Store, entry: JournalEntry) => {
    if (entry.kind.startsWith("bot.")) return tellBot(tx, deps, entry)
    if (entry.kind.startsWith("permission.")) return tellPermission(tx, { telling, settings }, entry)
    if (entry.sessionId === null || !KINDS.has(entry.kind)) return
    const session = await tx.sessions.byId(entry.sessionId as SessionId)
    if (!session) return
    if (entry.kind === "hook.received") await onHook(tx, entry, session)
    const notice = turnEndNoticeOf(entry, clock.nowMs())
    if (notice) {
      notices.add(notice)
      if (await hasFinalReply(tx, notice)) await tellEnd(tx, notice)
    } else if (entry.kind === "turns.kept") await tellTurns(tx, entry, session)
    else if (entry.kind === "session.edge") {
      const topic = await telling.find(tx, session)
      if (topic) await telling.link(tx, session, topic)
    } else if (entry.kind === "team.restarted" && (await audience.isTold(tx, session)))
      await tellRestart(tx, { telling, redact: deps.redact }, entry, session)
  }

  let hasLookedBack = false
  const lookBack = async (tx: Store) => {
    if (hasLookedBack) return
    const position = await tx.journal.position(MIRROR)
    await audience.lookBack(tx, position)
    const since = Math.max(0, position - LOOK_BACK)
    const entries = (await tx.journal.after(since, LOOK_BACK)).filter(({ seq }) => seq <= position)
    for (const entry of entries) {
      const notice = clock.nowMs() - entry.atMs <= RECENT_MS ? turnEndNoticeOf(entry, clock.nowMs()) : undefined
      if (notice && (await isUntold(tx, notice, telling))) notices.add(notice)
      if (entry.sessionId !== null && typeof entry.data.start === "string")
        notices.sessionContinues(entry.sessionId, entry.atMs)
    }
    hasLookedBack = true
  }

  /** Notices in the store are done; those whose transaction was rolled back are still pending. */
  const settle = async (tx: Store) => {
    for (const notice of notices.all()) {
      if (notice.toldAs === undefined) continue
      if (await tx.deliveries.byKey(notice.toldAs)) notices.remove(notice)
      else delete notice.toldAs
    }
  }

  return {
    consumer: {
      name: MIRROR,
      async after(entries, tx) {
        for (const entry of entries) audience.hear(entry)
        if (settings.mirror === "off" || !(await deps.hasPlace(tx))) return
        await lookBack(tx)
        await settle(tx)
        for (const entry of entries) if (clock.nowMs() - entry.atMs <= OLD_MS) await take(tx, entry)
      },
    },
    async begin() {
      if ((await store.journal.position(MIRROR)) === 0) await store.journal.advance(MIRROR, await store.journal.last())
    },
    async run(signal) {
      let hasNewChats = true
      const off = roster.onChange(() => {
        hasNewChats = true
      })
      await superviseLoop({
        name: "turn-end notices",
        signal,
        everyMs: LOOK_MS,
        onTrouble: deps.onTrouble,
        async round() {
          const nowMs = clock.nowMs()
          if (hasNewChats && settings.mirror !== "off") {
            hasNewChats = false
            await store.transaction((tx) => followChats(tx, telling, deps.channel))
          }
          if (hasLookedBack && !notices.all().some(({ dueAtMs }) => dueAtMs <= nowMs)) return
          await store.transaction(async (tx) => {
            await lookBack(tx)
            await settle(tx)
            for (const notice of notices.all()) if (notice.dueAtMs <= nowMs) await tellEnd(tx, notice)
          })
        },
      }).finally(off)
    },
  }
}

/** Whether the final reply is already sent: a reply in a later journal entry is not. */
async function hasFinalReply(tx: Store, notice: TurnEndNotice): Promise<boolean> {
  if (notice.kind !== "done") return false
  const last = await tx.turns.ofSession(notice.sessionId as SessionId, { limit: LAST_TURNS })
  const begin = last.findLastIndex(({ kind }) => kind === "prompt")
  const found =
    notice.replyHash === undefined
      ? last.slice(-1).find((turn) => mayBeFinalReply(notice, turn))
      : last.slice(begin + 1).find((turn) => isFinalReply(notice, turn))
  if (!found || (notice.replyHash === undefined && (await wasOver(tx, notice, found)))) return false
  const behind = await tx.journal.after(notice.seq, BEHIND)
  return !behind.some(
    ({ kind, sessionId, data }) =>
      kind === "turns.kept" && sessionId === notice.sessionId && (data.seqs as number[]).includes(found.seq),
  )
}

/** Whether an earlier end followed this reply: then the notice waits for another one. */
async function wasOver(tx: Store, notice: TurnEndNotice, reply: Pick<Turn, "atMs">): Promise<boolean> {
  const before = await tx.journal.after(Math.max(0, notice.seq - BEHIND), BEHIND)
  return before.some(
    (entry) =>
      entry.seq < notice.seq &&
      entry.sessionId === notice.sessionId &&
      entry.atMs >= reply.atMs &&
      turnEndNoticeOf(entry, entry.atMs)?.kind === "done",
  )
}
const BEHIND = 500
/** A reply may be followed by notices and by turns that were read out of order. */
const LAST_TURNS = 10

const KINDS = new Set(["hook.received", "turns.kept", "session.edge", "session.gone", "team.restarted"])
/** Without idle_prompt: the turn-end notice said so a minute before. */
const NEEDS = /^(?:permission_prompt|elicitation\w*|agent_needs_input)$/
