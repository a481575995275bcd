import { promptHash } from "../../domain/ids.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import type { Turn } from "../../domain/turn.ts"

/** A turn or a session is over. The notice goes below the final reply, which may be stored a moment later. */
export interface TurnEndNotice {
  /** The journal entry. */
  seq: number
  sessionId: string
  kind: "done" | "failed" | "ended"
  atMs: number
  /** The latest time to send it: there may be no reply to wait for. */
  dueAtMs: number
  /** Of the final reply, where the agent reports it. */
  replyHash: string | undefined
  /** Why it failed or ended. */
  why: string | undefined
  /** The turn was over before, and a hook let it continue. */
  isAgain: boolean
  /** The key that it was sent under, in a transaction that may have been rolled back. */
  toldAs?: string
}

/** Replies reach their file within a moment. After an end the last lines may follow, or the session may resume at once. */
const WAIT_MS: Record<TurnEndNotice["kind"], number> = { done: 3_000, failed: 1_500, ended: 6_000 }
/** An older entry waited for the daemon, and so do the files that are still to be read. */
const AWAY_MS = 10_000
const AFTER_AWAY_MS = 15_000
/** A hook has the shell's time, a turn the agent's. */
const CLOCKS_MS = 2_000
const DONE = /^(?:stop|AfterAgent|session\.idle)$/i

/** Undefined for other entries. Sub-agents end within their session. */
export function turnEndNoticeOf(
  { seq, kind, sessionId, atMs, data }: JournalEntry,
  nowMs: number,
): TurnEndNotice | undefined {
  if (sessionId === null || typeof data.agent_id === "string") return undefined
  const word = (name: string) => (typeof data[name] === "string" ? (data[name] as string) : undefined)
  const about = (what: TurnEndNotice["kind"], why?: string): TurnEndNotice => ({
    ...{ seq, sessionId, kind: what, atMs, why },
    dueAtMs: nowMs + (nowMs - atMs > AWAY_MS ? AFTER_AWAY_MS : WAIT_MS[what]),
    replyHash: word("reply_hash"),
    isAgain: word("stop_hook_active") === "true",
  })
  if (kind === "session.gone") return about("ended", "gone")
  if (kind !== "hook.received") return undefined
  const event = word("event") ?? ""
  if (DONE.test(event)) return about("done")
  if (event === "StopFailure") return about("failed", word("error"))
  return word("end") === undefined ? undefined : about("ended", word("end"))
}

type Said = Pick<Turn, "kind" | "text" | "atMs">

/** Whether this is the reply that the notice waits for. */
export const isFinalReply = (notice: TurnEndNotice, turn: Said) =>
  mayBeFinalReply(notice, turn) && notice.replyHash !== undefined && promptHash(turn.text) === notice.replyHash

/** Where the agent does not report its final reply, the newest one counts. */
export const mayBeFinalReply = ({ kind, atMs }: TurnEndNotice, turn: Said | undefined) =>
  kind === "done" && turn?.kind === "reply" && turn.atMs <= atMs + CLOCKS_MS

/** Whether the turn began later: then there is nothing more to wait for. */
export const isBefore = ({ atMs }: TurnEndNotice, turn: Said) => turn.kind === "prompt" && turn.atMs > atMs

export type TurnEndNotices = ReturnType<typeof makeTurnEndNotices>

/** The pending notices. Only in memory: after a start they are read from the journal again. */
export function makeTurnEndNotices() {
  const waiting = new Map<number, TurnEndNotice>()
  const all = () => [...waiting.values()].toSorted((a, b) => a.atMs - b.atMs || a.seq - b.seq)
  const ofSession = (sessionId: string) => all().filter((notice) => notice.sessionId === sessionId)
  return {
    add(notice: TurnEndNotice): void {
      if (waiting.has(notice.seq)) return
      if (notice.isAgain)
        for (const before of ofSession(notice.sessionId))
          if (before.kind === "done" && before.toldAs === undefined) waiting.delete(before.seq)
      waiting.set(notice.seq, notice)
    },
    remove: ({ seq }: TurnEndNotice): void => void waiting.delete(seq),
    /** Whatever was said of the session's end is outdated. */
    sessionContinues(sessionId: string, atMs: number): void {
      for (const notice of ofSession(sessionId))
        if (notice.kind === "ended" && notice.atMs <= atMs) waiting.delete(notice.seq)
    },
    /** In the order in which they came. */
    ofSession,
    all,
  }
}
