import type { Journal } from "../../domain/store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared, preparedInsert } from "../dialects/prepared.ts"

const lastSeq = prepared((db) => db.selectFrom("journal").select((e) => e.fn.max("seq").as("last")))

const COLUMNS = ["kind", "session_id", "project_id", "at_ms", "data", "key"] as const
const entryAppended = preparedInsert(COLUMNS, (db, row) =>
  db
    .insertInto("journal")
    .values(row)
    .onConflict((c) => c.column("key").doNothing())
    .returning("seq"),
)

const entriesAfter = prepared((db, seq: number, limit: number) =>
  db.selectFrom("journal").selectAll().where("seq", ">", seq).orderBy("seq").limit(limit),
)
const positionOf = prepared((db, consumer: string) =>
  db.selectFrom("followers").select("position").where("name", "=", consumer),
)

export function makeJournal(db: Db, dialect: StoreDialect, onMoved: () => Promise<void>): Journal {
  return {
    async append(entries) {
      if (entries.length === 0) return 0
      await dialect.lockJournal(db)
      let written = 0
      for (const { kind, sessionId, projectId, atMs, data, key } of entries) {
        const place = { session_id: sessionId ?? null, project_id: projectId ?? null }
        const row = { kind, ...place, at_ms: atMs, data: JSON.stringify(data ?? {}), key: key ?? null }
        const rows = await entryAppended(db, dialect, row)
        written += rows.length
      }
      await onMoved()
      return written
    },
    async after(seq, limit) {
      const rows = await entriesAfter(db, dialect, seq, limit)
      return rows.map((row) => ({
        seq: row.seq,
        kind: row.kind,
        sessionId: row.session_id,
        projectId: row.project_id,
        atMs: row.at_ms,
        data: JSON.parse(row.data) as Record<string, unknown>,
      }))
    },
    async last() {
      const [row] = await lastSeq(db, dialect)
      return Number(row?.last ?? 0)
    },
    async position(consumer) {
      const [row] = await positionOf(db, dialect, consumer)
      return row?.position ?? 0
    },
    async advance(consumer, seq) {
      await db
        .insertInto("followers")
        .values({ name: consumer, position: seq })
        // Never backwards: two daemons may both have handled the same entries.
        .onConflict((c) => c.column("name").doUpdateSet({ position: seq }).where("followers.position", "<", seq))
        .execute()
    },
  }
}
