import type { SessionId } from "../../domain/ids.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import { doneNote, endedNote, failedNote } from "../render/notes.ts"
import type { Afterword, Afterwords } from "./afterwards.ts"
import type { Telling } from "./telling.ts"
import type { MirrorAudience } from "./who.ts"

export interface EndDeps {
  telling: Telling
  who: MirrorAudience
  afterwords: Afterwords
  atEnd: "archive" | "keep" | "delete"
}

const MOST_TOOLS = 1_000

/** Tells that a turn is done or broke off, or that a session ended; not before what was said of it earlier. */
export function makeEndTelling({ telling, who, afterwords, atEnd }: EndDeps) {
  const tellOne = async (tx: Store, word: Afterword) => {
    const session = await tx.sessions.byId(word.sessionId as SessionId)
    if (!session || !(await who.isTold(tx, session))) return afterwords.remove(word)
    // That something ended is no reason for a topic.
    const topic = word.kind === "ended" ? await telling.find(tx, session) : await telling.ensure(tx, session)
    if (!topic) return afterwords.remove(word)
    const key = keyOf(word, topic)
    word.toldAs = `tg:${key}`
    if (word.kind === "ended") {
      if (topic.state === "archived") return afterwords.remove(word)
      await telling.note(tx, topic, key, endedNote(word.why ?? ""))
      const change = atEnd === "delete" ? { isRemoved: true } : { isArchived: true }
      if (atEnd !== "keep") await telling.put(tx, topic, `${key}:topic`, { kind: "topic", topicId: topic.id, change })
      return
    }
    const body = word.kind === "failed" ? failedNote(word.why) : doneNote(await turnFacts(tx, session, word))
    await telling.note(tx, topic, key, body, true)
  }
  return async (tx: Store, word: Afterword): Promise<void> => {
    for (const one of afterwords.ofSession(word.sessionId)) {
      if (one.toldAs === undefined) await tellOne(tx, one)
      if (one === word) return
    }
  }
}

const keyOf = ({ kind, seq }: Afterword, topic: Topic) => `${kind}:${topic.id}:${seq}`

/** After a start: of what ended, what a daemon that died had begun to tell of its session, and did not tell. */
export async function isUntold(tx: Store, word: Afterword, telling: Telling): Promise<boolean> {
  const session = await tx.sessions.byId(word.sessionId as SessionId)
  const topic = session && (await telling.find(tx, session))
  return topic !== undefined && !(await tx.deliveries.byKey(`tg:${keyOf(word, topic)}`))
}

/** Since the last prompt before it: how long it took, and how many tools it used. */
async function turnFacts(tx: Store, { id }: Session, { atMs }: Afterword) {
  const [prompt] = await tx.turns.ofSession(id, { kinds: ["prompt"], untilMs: atMs, limit: 1, maxChars: 1 })
  if (!prompt) return { durationMs: null, tools: 0 }
  const query = { kinds: ["tool_call"], untilMs: atMs, limit: MOST_TOOLS, maxChars: 1 } as const
  const tools = (await tx.turns.ofSession(id, query)).filter((turn) => turn.atMs >= prompt.atMs)
  return { durationMs: atMs - prompt.atMs, tools: tools.length }
}
