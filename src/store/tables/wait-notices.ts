import type { WaitNotice, WaitNotices } from "../../domain/wait-notice.ts"
import type { Db } from "../dialects/dialect.ts"
import { many, one, select, update, upsert } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"

export function makeWaitNotices(db: Db): WaitNotices {
  return {
    byId: (id) => one(select(db, "wait_notices", { id }), toNotice),
    open(channel, sessionId) {
      const open = select(db, "wait_notices", { session_id: sessionId, channel, ended_at_ms: null })
      return many(open.orderBy("first_seq"), toNotice)
    },
    async put({ id, channel, sessionId, topicId, firstSeq, lastSeq, words, afterMs, canResume, sinceMs, endedAtMs }) {
      const place = { channel, sessionId, topicId, firstSeq, lastSeq }
      const columns = toColumns({ ...place, words, afterMs, canResume, sinceMs, endedAtMs })
      await upsert(db, "wait_notices", ["id"], { id, message_id: null, ...columns }, columns)
    },
    async sent(id, messageId) {
      await update(db, "wait_notices", { id }, { message_id: messageId })
    },
    async drop(beforeMs) {
      await db.deleteFrom("wait_notices").where("ended_at_ms", "<", beforeMs).execute()
    },
  }
}

const toNotice = rowDecoder<WaitNotice>({ flags: ["canResume"] })
