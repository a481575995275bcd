import type { Selectable } from "kysely"
import type { TopicChange, Topics } from "../../domain/channel-store.ts"
import type { ProgressMessage, Topic } from "../../domain/topic.ts"
import type { Db } from "../dialects/dialect.ts"
import { insertNew, many, one, remove, select, update, upsert } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makeTopics(db: Db): Topics {
  const add: Topics["add"] = async (topic) => {
    await insertNew(db, "topics", columnsOf(topic) as never)
  }
  /** None for a topic without a session. */
  const ofSessionIn = ({ channel, sessionId }: Topic, chatId: string) =>
    select(db, "topics", { channel, chat_id: chatId }).where("session_id", "=", sessionId)

  return {
    add,
    async ensure(topic) {
      await add(topic)
      const ofChat = ofSessionIn(topic, topic.chatId)
      return toTopic(await ofChat.where("state", "not in", ["gone", "left"]).executeTakeFirstOrThrow())
    },
    byId: (id) => one(select(db, "topics", { id }), toTopic),
    ofSession: (sessionId) =>
      many(select(db, "topics", { session_id: sessionId }).orderBy("created_at_ms", "desc"), toTopic),
    byThread: (channel, chatId, threadId) =>
      one(select(db, "topics", { channel, chat_id: chatId, thread_id: threadId }), toTopic),
    list({ channel, states }) {
      let query = select(db, "topics", { channel }).orderBy("created_at_ms").orderBy("id")
      if (states) query = query.where("state", "in", [...states])
      return many(query, toTopic)
    },
    async change(id, change, from, chatId) {
      const columns = columnsOf(change)
      if (Object.keys(columns).length === 0) return false
      let query = db.updateTable("topics").set(columns).where("id", "=", id)
      if (from) query = query.where("state", "in", [...from])
      if (chatId !== undefined) query = query.where("chat_id", "=", chatId)
      return (await query.executeTakeFirstOrThrow()).numUpdatedRows > 0n
    },
    async relocate(topic, to, leftId) {
      const before = await ofSessionIn(topic, to.chatId)
        .where("state", "=", "left")
        .where("thread_id", "is not", null)
        .orderBy("created_at_ms", "desc")
        .executeTakeFirst()
      const reused = before && to.sharedThreadId === null ? before : undefined
      // The thread id is unique in its chat: remove the old row first.
      if (reused) await remove(db, "topics", { id: reused.id })
      const isThere = reused !== undefined || to.sharedThreadId !== null
      const change = {
        ...to,
        threadId: reused?.thread_id ?? null,
        state: isThere ? "open" : "wanted",
        ...{ makingAtMs: null, progressMessage: null },
      } as const
      await update(db, "topics", { id: topic.id }, columnsOf(change))
      if (topic.threadId !== null) {
        const cleared = { progressMessage: null, makingAtMs: null, unconfirmed: 0 }
        await add({ ...topic, ...cleared, id: leftId, state: "left" })
      }
      return { ...topic, ...change }
    },
    async moveChat(channel, fromChatId, toChatId) {
      const move = { channel, from_chat_id: fromChatId, to_chat_id: toChatId }
      await upsert(db, "chat_moves", ["channel", "from_chat_id"], move)
      await update(db, "topics", { channel, chat_id: fromChatId }, { chat_id: toChatId })
    },
    async remember({ channel, chatId, messageId, topicId, atMs }) {
      const row = toColumns({ channel, chatId, messageId, topicId, atMs })
      await upsert(db, "topic_messages", ["channel", "chat_id", "message_id"], row)
    },
    async byMessage(channel, chatId, messageId) {
      const message = { channel, chat_id: chatId, message_id: messageId }
      const said = await select(db, "topic_messages", message).executeTakeFirst()
      return said && one(select(db, "topics", { id: said.topic_id }), toTopic)
    },
    async forgetMessages(beforeMs) {
      await db.deleteFrom("topic_messages").where("at_ms", "<", beforeMs).execute()
    },
    async chatNow(channel, chatId) {
      const passed = [chatId]
      for (;;) {
        const move = await select(db, "chat_moves", { channel, from_chat_id: passed.at(-1)! }).executeTakeFirst()
        if (!move || passed.includes(move.to_chat_id)) return passed.at(-1)!
        passed.push(move.to_chat_id)
      }
    },
  }
}

/** Two columns have the names that an earlier version gave them. */
const columnsOf = <T extends TopicChange>({ unconfirmed: doubts, progressMessage: trail, ...same }: T) => ({
  ...toColumns(same),
  ...(doubts !== undefined && { doubts }),
  ...(trail !== undefined && { trail: trail && JSON.stringify(trail) }),
})

const decoded = rowDecoder<Omit<Topic, "unconfirmed" | "progressMessage">>({ flags: ["isMuted"] })
const toTopic = ({ doubts: unconfirmed, trail, ...row }: Selectable<Tables["topics"]>): Topic => ({
  ...decoded(row),
  unconfirmed,
  progressMessage: trail === null ? null : (JSON.parse(trail) as ProgressMessage),
})
