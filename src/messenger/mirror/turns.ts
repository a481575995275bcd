import type { JournalEntry } from "../../domain/journal.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic, Verbosity } from "../../domain/topic.ts"
import type { Turn } from "../../domain/turn.ts"
import { DAY_MS } from "../../lib/time.ts"
import { compactedNote } from "../render/notes.ts"
import type { MirrorAudience } from "./audience.ts"
import { type EchoDeps, isEcho } from "./echo.ts"
import type { Telling } from "./telling.ts"
import { isBefore, isFinalReply, mayBeFinalReply, type TurnEndNotice, type TurnEndNotices } from "./turn-end-notices.ts"

export interface MirrorTurnDeps extends EchoDeps {
  telling: Telling
  audience: MirrorAudience
  verbosity: Verbosity
  notices: TurnEndNotices
  tellEnd(tx: Store, notice: TurnEndNotice): Promise<void>
}

/** Turns that were stored later than this come from an import. In a session with a topic, the daemon was away. */
const RECENT_MS = 30 * 60 * 1000
const RECENT_IN_TOPIC_MS = DAY_MS

/** Shows turns and tool calls in order, with the ends in between. */
export function makeTurnTelling(deps: MirrorTurnDeps) {
  const { telling, audience, notices, tellEnd } = deps

  const fresh = async (tx: Store, entry: JournalEntry, session: Session, withinMs: number): Promise<Turn[]> => {
    // Cheap check first: turns of an import are not even read.
    if (entry.atMs - session.updatedAtMs > withinMs) return []
    const changed = new Set((entry.data.changed ?? []) as number[])
    const seqs = ((entry.data.seqs ?? []) as number[]).filter((seq) => !changed.has(seq))
    const turns = await tx.turns.bySeqs(seqs)
    return turns
      .filter((turn) => turn.supersededAtMs === null && !turn.isFallback && entry.atMs - turn.atMs <= withinMs)
      .toSorted((a, b) => a.atMs - b.atMs || a.seq - b.seq)
  }

  const tell = async (tx: Store, topic: Topic, turn: Turn) => {
    const key = `${topic.id}:${turn.seq}`
    if (turn.kind === "reset") return telling.note(tx, topic, `turn:${key}`, compactedNote())
    if (turn.kind === "tool_call" || turn.kind === "tool_result")
      return telling.put(tx, topic, `line:${key}`, { kind: "line", topicId: topic.id, seq: turn.seq })
    return telling.put(tx, topic, `turn:${key}`, { kind: "turn", topicId: topic.id, seq: turn.seq, isPing: false })
  }

  const ofSubagent = async (tx: Store, entry: JournalEntry, session: Session) => {
    const edge = (await tx.sessions.edges(session.id)).find(({ kind }) => kind === "subagent")
    const parent = edge && (await tx.sessions.byNative(edge.parentPlatform, edge.parentNativeId))
    const topic = parent && (await telling.find(tx, parent))
    if (topic?.verbosity !== "verbose" || !(await audience.isTold(tx, parent!))) return
    for (const turn of await fresh(tx, entry, session, RECENT_IN_TOPIC_MS))
      if (turn.kind === "tool_call" || (turn.kind === "tool_result" && turn.isError)) await tell(tx, topic, turn)
  }

  return async (tx: Store, entry: JournalEntry, session: Session): Promise<void> => {
    // In an import nearly all entries are old.
    if (entry.atMs - session.updatedAtMs > RECENT_IN_TOPIC_MS) return
    if (session.isSubagent) return ofSubagent(tx, entry, session)
    if (!(await audience.isTold(tx, session))) return
    let topic = await telling.find(tx, session)
    const teams = audience.teamsOf(session)
    let last: Turn | undefined
    for (const turn of await fresh(tx, entry, session, topic ? RECENT_IN_TOPIC_MS : RECENT_MS)) {
      for (const notice of notices.ofSession(session.id)) if (isBefore(notice, turn)) await tellEnd(tx, notice)
      last = turn
      if (isWanted(turn, topic?.verbosity ?? deps.verbosity)) {
        const isOwn =
          turn.kind === "prompt" && (await isEcho(tx, turn, { platform: session.platform, teams, topic }, deps))
        if (!isOwn) topic ??= await telling.ensure(tx, session)
        if (!isOwn && topic) await tell(tx, topic, turn)
      }
      const [notice] = notices.ofSession(session.id).filter(({ toldAs }) => toldAs === undefined)
      if (notice && isFinalReply(notice, turn)) await tellEnd(tx, notice)
    }
    const [notice] = notices.ofSession(session.id).filter(({ toldAs }) => toldAs === undefined)
    if (notice && notice.replyHash === undefined && mayBeFinalReply(notice, last)) await tellEnd(tx, notice)
    if (topic) await telling.rename(tx, session, topic, String(entry.seq))
  }
}

function isWanted({ kind, text, isError }: Turn, verbosity: Verbosity): boolean {
  if (verbosity === "quiet" || (text.trim() === "" && !kind.startsWith("tool") && kind !== "reset")) return false
  if (kind === "reasoning") return verbosity === "verbose"
  if (kind === "tool_result") return isError || verbosity === "verbose"
  return kind !== "summary"
}
