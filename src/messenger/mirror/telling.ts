/** Puts what is to be told into the topic's lane, under a key of what it tells: twice is once. */
import { newTimedId } from "../../domain/ids.ts"
import { chatLane, type Outgoing, topicLane } from "../../domain/outgoing.ts"
import type { RichText } from "../../domain/rich-text.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { isCurrent, type Topic, type Verbosity } from "../../domain/topic.ts"
import type { Clock } from "../../lib/clock.ts"
import { MAX_ATTEMPTS } from "../../lib/transitions.ts"
import { continuesNote } from "../render/notes.ts"
import { hostWord, type MirrorPlace, topicName, topicUrl } from "./topics.ts"
export interface Telling {
  /** The session's topic, if it has one and it is ours. If its chat is another one now, it moves there. */
  find(tx: Store, session: Session): Promise<Topic | undefined>
  /** The same, or a new one. Undefined if there is no place for it now, or it is another daemon's. */
  ensure(tx: Store, session: Session): Promise<Topic | undefined>
  put(tx: Store, topic: Topic, key: string, outgoing: Outgoing, isFirst?: boolean): Promise<void>
  note(tx: Store, topic: Topic, key: string, body: RichText, isPing?: boolean): Promise<void>
  /** That it goes on where another one was, once both have their topics. */
  link(tx: Store, session: Session, topic: Topic): Promise<void>
  /** The title was not known, or is another one now. */
  rename(tx: Store, session: Session, topic: Topic, key: string): Promise<void>
}

export interface TellingDeps {
  clock: Clock
  verbosity: Verbosity
  /** Where a session is told, or what is about none; undefined while there is no such place. */
  place(tx: Store, session?: Session): Promise<MirrorPlace | undefined>
}

/** People look for a topic by its name. */
const RENAME_EVERY_MS = 3 * 60 * 1000

export function makeTelling({ clock, verbosity, place }: TellingDeps): Telling {
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

  /** What is still to be said goes with it, and so does what waits for an answer: those who may give it are in the other chat. */
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

  const put: Telling["put"] = async (tx, topic, key, outgoing, isFirst = false) => {
    await tx.deliveries.enqueue(
      {
        key: `tg:${key}`,
        lane: "chatId" in outgoing ? chatLane(outgoing.chatId) : topicLane(topic, isFirst),
        channel: topic.channel,
        payload: { ...outgoing },
        // What changes a message or a topic may be done twice; what is said may not.
        repeatable: outgoing.kind === "topic" || outgoing.kind === "decided",
        maxAttempts: MAX_ATTEMPTS,
      },
      clock.nowMs(),
    )
  }
  const note: Telling["note"] = (tx, topic, key, body, isPing = false) =>
    put(tx, topic, key, { kind: "note", topicId: topic.id, body, isPing })

  const link: Telling["link"] = async (tx, session, topic) => {
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
    async find(tx, session) {
      const at = await place(tx, session)
      const found = at && (await ours(tx, session, at))
      return found === "another's" ? undefined : found
    },
    async ensure(tx, session) {
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
    async rename(tx, session, topic, key) {
      const at = await place(tx, session)
      const name = at && topicName(session, at)
      // A name that does not begin as ours do was given by a person, and stays.
      if (name === undefined || name === topic.name || !topic.name.startsWith(hostWord(at!.host))) return
      const nowMs = clock.nowMs()
      if (nowMs - (renamedAtMs.get(topic.id) ?? 0) < RENAME_EVERY_MS) return
      // One that is not made yet is made under its name of then.
      if (topic.state === "wanted") return void (await tx.topics.change(topic.id, { name }, ["wanted"]))
      renamedAtMs.set(topic.id, nowMs)
      await put(tx, topic, `name:${topic.id}:${key}`, { kind: "topic", topicId: topic.id, change: { name } })
    },
  }
}
