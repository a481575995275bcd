import type { Selectable } from "kysely"
import type { TopicChange, Topics } from "../../domain/channel-store.ts"
import type { ProgressMessage, Topic } from "../../domain/topic.ts"
import type { Db } from "../dialects/dialect.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makeTopics(db: Db): Topics {
  const select = () => db.selectFrom("topics").selectAll()

  const add: Topics["add"] = async (topic) => {
    await db
      .insertInto("topics")
      .values(columnsOf(topic) as never)
      .onConflict((c) => c.doNothing())
      .execute()
  }

  return {
    add,
    async ensure(topic) {
      await add(topic)
      const row = await select()
        .where("channel", "=", topic.channel)
        .where("chat_id", "=", topic.chatId)
        .where("session_id", "=", topic.sessionId)
        .where("state", "not in", ["gone", "left"])
        .executeTakeFirstOrThrow()
      return toTopic(row)
    },
    async byId(id) {
      const row = await select().where("id", "=", id).executeTakeFirst()
      return row && toTopic(row)
    },
    async ofSession(sessionId) {
      const rows = await select().where("session_id", "=", sessionId).orderBy("created_at_ms", "desc").execute()
      return rows.map(toTopic)
    },
    async byThread(channel, chatId, threadId) {
      const row = await select()
        .where("channel", "=", channel)
        .where("chat_id", "=", chatId)
        .where("thread_id", "=", threadId)
        .executeTakeFirst()
      return row && toTopic(row)
    },
    async list({ channel, states }) {
      let query = select().where("channel", "=", channel).orderBy("created_at_ms").orderBy("id")
      if (states) query = query.where("state", "in", [...states])
      return (await query.execute()).map(toTopic)
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
      const before = await select()
        .where("channel", "=", topic.channel)
        .where("chat_id", "=", to.chatId)
        .where("session_id", "=", topic.sessionId)
        .where("state", "=", "left")
        .where("thread_id", "is not", null)
        .orderBy("created_at_ms", "desc")
        .executeTakeFirst()
      const reused = before && to.sharedThreadId === null ? before : undefined
      // The thread id is unique in its chat: remove the old row first.
      if (reused) await db.deleteFrom("topics").where("id", "=", reused.id).execute()
      const isThere = reused !== undefined || to.sharedThreadId !== null
      const change = {
        ...to,
        threadId: reused?.thread_id ?? null,
        state: isThere ? "open" : "wanted",
        ...{ makingAtMs: null, progressMessage: null },
      } as const
      await db.updateTable("topics").set(columnsOf(change)).where("id", "=", topic.id).execute()
      if (topic.threadId !== null) {
        const left: Topic = {
          ...topic,
          id: leftId,
          state: "left",
          progressMessage: null,
          makingAtMs: null,
          unconfirmed: 0,
        }
        await add(left)
      }
      return { ...topic, ...change }
    },
    async moveChat(channel, fromChatId, toChatId) {
      await db
        .insertInto("chat_moves")
        .values({ channel, from_chat_id: fromChatId, to_chat_id: toChatId })
        .onConflict((c) => c.columns(["channel", "from_chat_id"]).doUpdateSet({ to_chat_id: toChatId }))
        .execute()
      await db
        .updateTable("topics")
        .set({ chat_id: toChatId })
        .where("channel", "=", channel)
        .where("chat_id", "=", fromChatId)
        .execute()
    },
    async remember({ channel, chatId, messageId, topicId, atMs }) {
      const columns = { topic_id: topicId, at_ms: atMs }
      await db
        .insertInto("topic_messages")
        .values({ channel, chat_id: chatId, message_id: messageId, ...columns })
        .onConflict((c) => c.columns(["channel", "chat_id", "message_id"]).doUpdateSet(columns))
        .execute()
    },
    async byMessage(channel, chatId, messageId) {
      const said = await db
        .selectFrom("topic_messages")
        .select("topic_id")
        .where("channel", "=", channel)
        .where("chat_id", "=", chatId)
        .where("message_id", "=", messageId)
        .executeTakeFirst()
      const row = said && (await select().where("id", "=", said.topic_id).executeTakeFirst())
      return row && toTopic(row)
    },
    async forgetMessages(beforeMs) {
      await db.deleteFrom("topic_messages").where("at_ms", "<", beforeMs).execute()
    },
    async chatNow(channel, chatId) {
      const passed = [chatId]
      for (;;) {
        const move = await db
          .selectFrom("chat_moves")
          .select("to_chat_id")
          .where("channel", "=", channel)
          .where("from_chat_id", "=", passed.at(-1)!)
          .executeTakeFirst()
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
