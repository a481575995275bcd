import { promptHash } from "../../domain/ids.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import type { Turn } from "../../domain/turn.ts"

/** That a turn, or a session, is over: told behind what was said last, which may be kept a moment later. */
export interface TurnEndNotice {
  /** The journal's number of what said it. */
  seq: number
  sessionId: string
  kind: "done" | "failed" | "ended"
  atMs: number
  /** Not longer than until then: there may be nothing to wait for. */
  dueAtMs: number
  /** Of the reply that it follows, where the agent told it. */
  replyHash: string | undefined
  /** Why it failed or ended. */
  why: string | undefined
  /** The turn had been over before, and a hook let it go on. */
  isAgain: boolean
  /** Under which it was told, in a transaction that may not have been kept. */
  toldAs?: string
}

/** Replies reach their file within a moment; what ends may be followed by its last lines, or come back at once. */
const WAIT_MS: Record<TurnEndNotice["kind"], number> = { done: 3_000, failed: 1_500, ended: 6_000 }
/** What was said so long ago waited for the daemon, and so do the files that are to be read now. */
const AWAY_MS = 10_000
const AFTER_AWAY_MS = 15_000
/** The hook's time is the shell's, the turn's the agent's. */
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

/** Whether this is the reply that it waits for. */
export const isFinalReply = (notice: TurnEndNotice, turn: Said) =>
  mayBeFinalReply(notice, turn) && notice.replyHash !== undefined && promptHash(turn.text) === notice.replyHash

/** Where the agent does not tell which reply is the last, the newest one is. */
export const mayBeFinalReply = ({ kind, atMs }: TurnEndNotice, turn: Said | undefined) =>
  kind === "done" && turn?.kind === "reply" && turn.atMs <= atMs + CLOCKS_MS

/** Whether a turn began after it: then there is nothing more to wait for. */
export const isBefore = ({ atMs }: TurnEndNotice, turn: Said) => turn.kind === "prompt" && turn.atMs > atMs

export interface TurnEndNotices {
  add(notice: TurnEndNotice): void
  remove(notice: TurnEndNotice): void
  /** The session goes on: what was said of its end does not hold any more. */
  sessionContinues(sessionId: string, atMs: number): void
  /** In the order in which they were said. */
  ofSession(sessionId: string): TurnEndNotice[]
  all(): TurnEndNotice[]
}

/** Those that wait. Only in memory: after a start the journal is asked for them again. */
export function makeTurnEndNotices(): TurnEndNotices {
  const waiting = new Map<number, TurnEndNotice>()
  const all = () => [...waiting.values()].toSorted((a, b) => a.atMs - b.atMs || a.seq - b.seq)
  const ofSession = (sessionId: string) => all().filter((notice) => notice.sessionId === sessionId)
  return {
    add(notice) {
      if (waiting.has(notice.seq)) return
      if (notice.isAgain)
        for (const before of ofSession(notice.sessionId))
          if (before.kind === "done" && before.toldAs === undefined) waiting.delete(before.seq)
      waiting.set(notice.seq, notice)
    },
    remove: ({ seq }) => void waiting.delete(seq),
    sessionContinues(sessionId, atMs) {
      for (const notice of ofSession(sessionId))
        if (notice.kind === "ended" && notice.atMs <= atMs) waiting.delete(notice.seq)
    },
    ofSession,
    all,
  }
}
