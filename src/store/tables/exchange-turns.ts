import { type Selectable, type SqlBool, sql } from "kysely"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared } from "../dialects/prepared.ts"
import type { Tables } from "../schema.ts"

/** What stands from this turn up to the next prompt. Prepared: making vectors asks it once for every exchange. */
export async function exchangeFrom(
  db: Db,
  dialect: StoreDialect,
  sessionId: string,
  seq: number,
): Promise<Selectable<Tables["turns"]>[]> {
  const [first] = await timeOf(db, dialect, seq)
  if (!first) return []
  const [next] = await promptAfter(db, dialect, sessionId, first.at_ms, seq, seq)
  return next
    ? turnsBetween(db, dialect, sessionId, first.at_ms, seq, next.at_ms, next.seq)
    : turnsFrom(db, dialect, sessionId, first.at_ms, seq)
}

const timeOf = prepared((db, seq: number) => db.selectFrom("turns").select("at_ms").where("seq", "=", seq))
const standingFrom = (db: Db, sessionId: string, atMs: number, seq: number) =>
  db
    .selectFrom("turns")
    .where("session_id", "=", sessionId)
    .where("superseded_at_ms", "is", null)
    .where(sql<SqlBool>`(at_ms, seq) >= (${atMs}, ${seq})`)
    .orderBy("at_ms")
    .orderBy("seq")
const promptAfter = prepared((db, sessionId: string, atMs: number, seq: number, notSeq: number) =>
  standingFrom(db, sessionId, atMs, seq)
    .select(["at_ms", "seq"])
    .where("kind", "=", sql.lit("prompt"))
    .where("seq", "<>", notSeq)
    .limit(sql.lit(1)),
)
const turnsFrom = prepared((db, sessionId: string, atMs: number, seq: number) =>
  standingFrom(db, sessionId, atMs, seq).selectAll(),
)
const turnsBetween = prepared((db, sessionId: string, atMs: number, seq: number, nextMs: number, nextSeq: number) =>
  standingFrom(db, sessionId, atMs, seq).selectAll().where(sql<SqlBool>`(at_ms, seq) < (${nextMs}, ${nextSeq})`),
)
