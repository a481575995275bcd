import { newTimedId } from "../../domain/ids.ts"
import { chatLane, type Outgoing, topicLane } from "../../domain/outgoing.ts"
import type { RichText } from "../../domain/rich-text.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { isCurrent, type Topic, type Verbosity } from "../../domain/topic.ts"
import type { Clock } from "../../lib/clock.ts"
import { continuesNote } from "../render/notes.ts"
import { toShow } from "../to-show.ts"
import { hostWord, type MirrorPlace, topicName, topicUrl } from "./topics.ts"
export interface TellingDeps {
  clock: Clock
  verbosity: Verbosity
  /** Where a session is mirrored, or messages about none; undefined while there is no such place. */
  place(tx: Store, session?: Session): Promise<MirrorPlace | undefined>
}

/** People look for a topic by its name. */
const RENAME_EVERY_MS = 3 * 60 * 1000

export type Telling = ReturnType<typeof makeTelling>

/** Puts messages into the lane of a session's topic, each under a key of what it tells: twice is once. */
export function makeTelling({ clock, verbosity, place }: TellingDeps) {
  const renamedAtMs = new Map<string, number>()

  const ours = async (tx: Store, session: Session, at: MirrorPlace): Promise<Topic | "another's" | undefined> => {
    const current = (await tx.topics.ofSession(session.id)).filter(
      (one) => one.channel === at.channel && isCurrent(one),
    )
    const found = current.find(({ chatId }) => chatId === at.chatId) ?? current.find(({ home }) => home === at.home)
    if (!found) return undefined
    if (found.home !== at.home) return "another's"
    if (found.chatId === at.chatId && found.sharedThreadId === at.sharedThreadId) return found
    return moved(tx, session, found, at)
  }

  /** Pending messages move with it, and approval requests are shown again: the people who may answer are in the other chat. */
  const moved = async (tx: Store, session: Session, topic: Topic, at: MirrorPlace): Promise<Topic> => {
    const { chatId, sharedThreadId } = at
    const now = await tx.topics.relocate(topic, { chatId, sharedThreadId }, newTimedId(clock.nowMs()))
    for (const { id, sessionId } of await tx.permissions.waiting()) {
      const isShown =
        sessionId === session.id && (await tx.approvalRequests.get(id, at.channel, topic.chatId)) !== undefined
      if (isShown && chatId !== topic.chatId)
        await put(tx, now, `card:${id}:${chatId}`, { kind: "approval", topicId: now.id, permissionId: id }, true)
    }
    return now
  }

  const put = async (tx: Store, topic: Topic, key: string, outgoing: Outgoing, isFirst = false): Promise<void> => {
    const lane = "chatId" in outgoing ? chatLane(outgoing.chatId) : topicLane(topic, isFirst)
    await tx.deliveries.enqueue(toShow(`tg:${key}`, lane, topic.channel, outgoing), clock.nowMs())
  }
  const note = (tx: Store, topic: Topic, key: string, body: RichText, isPing = false) =>
    put(tx, topic, key, { kind: "note", topicId: topic.id, body, isPing })

  /** Links to the session that this one continues, once both have topics. */
  const link = async (tx: Store, session: Session, topic: Topic): Promise<void> => {
    for (const { kind, parentPlatform, parentNativeId } of await tx.sessions.edges(session.id)) {
      const parent = kind === "subagent" ? undefined : await tx.sessions.byNative(parentPlatform, parentNativeId)
      const before = parent && (await tx.topics.ofSession(parent.id)).find(isCurrent)
      if (before)
        await note(
          tx,
          topic,
          `edge:${topic.id}:${before.id}`,
          continuesNote(kind, { name: before.name, url: topicUrl(before) }),
        )
    }
  }

  return {
    put,
    note,
    link,
    /** The session's topic, if this daemon has one. When the session's chat has changed, the topic moves there. */
    async find(tx: Store, session: Session): Promise<Topic | undefined> {
      const at = await place(tx, session)
      const found = at && (await ours(tx, session, at))
      return found === "another's" ? undefined : found
    },
    /** The same, or a new one. Undefined where there is no place now, or the topic is another home's. */
    async ensure(tx: Store, session: Session): Promise<Topic | undefined> {
      const at = await place(tx, session)
      const found = at && (await ours(tx, session, at))
      if (!at || found) return found === "another's" ? undefined : found
      const nowMs = clock.nowMs()
      const topic = await tx.topics.ensure({
        ...{ id: newTimedId(nowMs), channel: at.channel, home: at.home, chatId: at.chatId, threadId: null },
        ...{ sharedThreadId: at.sharedThreadId, state: at.sharedThreadId === null ? "wanted" : "open" },
        ...{ sessionId: session.id, name: topicName(session, at), verbosity, isMuted: false },
        ...{ makingAtMs: null, unconfirmed: 0, progressMessage: null, createdAtMs: nowMs, usedAtMs: nowMs },
      })
      await link(tx, session, topic)
      return topic
    },
    /** After the session's title has changed. */
    async rename(tx: Store, session: Session, topic: Topic, key: string): Promise<void> {
      const at = await place(tx, session)
      const name = at && topicName(session, at)
      // A name without our prefix was given by a person, and stays.
      if (name === undefined || name === topic.name || !topic.name.startsWith(hostWord(at!.host))) return
      const nowMs = clock.nowMs()
      if (nowMs - (renamedAtMs.get(topic.id) ?? 0) < RENAME_EVERY_MS) return
      // A topic that does not exist yet is created under its name at that time.
      if (topic.state === "wanted") return void (await tx.topics.change(topic.id, { name }, ["wanted"]))
      renamedAtMs.set(topic.id, nowMs)
      await put(tx, topic, `name:${topic.id}:${key}`, { kind: "topic", topicId: topic.id, change: { name } })
    },
  }
}
