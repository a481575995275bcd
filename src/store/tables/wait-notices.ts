import type { Selectable } from "kysely"
import type { SessionId } from "../../domain/ids.ts"
import type { WaitNotice, WaitNotices } from "../../domain/wait-notice.ts"
import type { Db } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export function makeWaitNotices(db: Db): WaitNotices {
  return {
    async byId(id) {
      const row = await db.selectFrom("wait_notices").selectAll().where("id", "=", id).executeTakeFirst()
      return row && toNotice(row)
    },
    async open(channel, sessionId) {
      const rows = await db
        .selectFrom("wait_notices")
        .selectAll()
        .where("session_id", "=", sessionId)
        .where("channel", "=", channel)
        .where("ended_at_ms", "is", null)
        .orderBy("first_seq")
        .execute()
      return rows.map(toNotice)
    },
    async put({ id, channel, sessionId, topicId, firstSeq, lastSeq, words, afterMs, canResume, sinceMs, endedAtMs }) {
      const columns = {
        ...{ channel, session_id: sessionId, topic_id: topicId, first_seq: firstSeq, last_seq: lastSeq, words },
        ...{ after_ms: afterMs, can_resume: Number(canResume), since_ms: sinceMs, ended_at_ms: endedAtMs },
      }
      await db
        .insertInto("wait_notices")
        .values({ id, message_id: null, ...columns })
        .onConflict((c) => c.column("id").doUpdateSet(columns))
        .execute()
    },
    async sent(id, messageId) {
      await db.updateTable("wait_notices").set({ message_id: messageId }).where("id", "=", id).execute()
    },
    async drop(beforeMs) {
      await db.deleteFrom("wait_notices").where("ended_at_ms", "<", beforeMs).execute()
    },
  }
}

const toNotice = (row: Selectable<Tables["wait_notices"]>): WaitNotice => ({
  id: row.id,
  channel: row.channel,
  sessionId: row.session_id as SessionId,
  topicId: row.topic_id,
  firstSeq: row.first_seq,
  lastSeq: row.last_seq,
  words: row.words,
  afterMs: row.after_ms,
  canResume: row.can_resume === 1,
  messageId: row.message_id,
  sinceMs: row.since_ms,
  endedAtMs: row.ended_at_ms,
})
