import type { SessionId } from "../../domain/ids.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import { doneNote, endedNote, failedNote } from "../render/notes.ts"
import type { MirrorAudience } from "./audience.ts"
import type { Telling } from "./telling.ts"
import type { TurnEndNotice, TurnEndNotices } from "./turn-end-notices.ts"

export interface EndDeps {
  telling: Telling
  audience: MirrorAudience
  notices: TurnEndNotices
  atEnd: "archive" | "keep" | "delete"
}

const MOST_TOOLS = 1_000

/** Sends turn-end notices, each after the earlier ones of its session. */
export function makeEndTelling({ telling, audience, notices, atEnd }: EndDeps) {
  const tellOne = async (tx: Store, notice: TurnEndNotice) => {
    const session = await tx.sessions.byId(notice.sessionId as SessionId)
    if (!session || !(await audience.isTold(tx, session))) return notices.remove(notice)
    // An ended session gets no new topic.
    const topic = notice.kind === "ended" ? await telling.find(tx, session) : await telling.ensure(tx, session)
    if (!topic) return notices.remove(notice)
    const key = keyOf(notice, topic)
    notice.toldAs = `tg:${key}`
    if (notice.kind === "ended") {
      if (topic.state === "archived") return notices.remove(notice)
      await telling.note(tx, topic, key, endedNote(notice.why ?? ""))
      const change = atEnd === "delete" ? { isRemoved: true } : { isArchived: true }
      if (atEnd !== "keep") await telling.put(tx, topic, `${key}:topic`, { kind: "topic", topicId: topic.id, change })
      return
    }
    const body = notice.kind === "failed" ? failedNote(notice.why) : doneNote(await turnFacts(tx, session, notice))
    await telling.note(tx, topic, key, body, true)
  }
  return async (tx: Store, notice: TurnEndNotice): Promise<void> => {
    for (const one of notices.ofSession(notice.sessionId)) {
      if (one.toldAs === undefined) await tellOne(tx, one)
      if (one === notice) return
    }
  }
}

const keyOf = ({ kind, seq }: TurnEndNotice, topic: Topic) => `${kind}:${topic.id}:${seq}`

/** After a start: whether a daemon that died did not send this notice of a session with a topic. */
export async function isUntold(tx: Store, notice: TurnEndNotice, telling: Telling): Promise<boolean> {
  const session = await tx.sessions.byId(notice.sessionId as SessionId)
  const topic = session && (await telling.find(tx, session))
  return topic !== undefined && !(await tx.deliveries.byKey(`tg:${keyOf(notice, topic)}`))
}

/** Since the last prompt before it: how long it took, and how many tools it used. */
async function turnFacts(tx: Store, { id }: Session, { atMs }: TurnEndNotice) {
  const [prompt] = await tx.turns.ofSession(id, { kinds: ["prompt"], untilMs: atMs, limit: 1, maxChars: 1 })
  if (!prompt) return { durationMs: null, tools: 0 }
  const query = { kinds: ["tool_call"], untilMs: atMs, limit: MOST_TOOLS, maxChars: 1 } as const
  const tools = (await tx.turns.ofSession(id, query)).filter((turn) => turn.atMs >= prompt.atMs)
  return { durationMs: atMs - prompt.atMs, tools: tools.length }
}
