import type { WaitNotice, WaitNotices } from "../../domain/wait-notice.ts"
import type { Db } from "../dialects/dialect.ts"
import { rowDecoder, toColumns } from "../rows.ts"

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
      const place = { channel, sessionId, topicId, firstSeq, lastSeq }
      const columns = toColumns({ ...place, words, afterMs, canResume, sinceMs, endedAtMs })
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

const toNotice = rowDecoder<WaitNotice>({ flags: ["canResume"] })
