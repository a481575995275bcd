import type { Selectable } from "kysely"
import type { Answer, Pair, PairSession } from "../../domain/pair.ts"
import type { Pairs } from "../../domain/team-store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makePairs(db: Db, dialect: StoreDialect): Pairs {
  const select = () => db.selectFrom("pairs").selectAll()

  return {
    async ensure(pair) {
      const row = toColumns({ ...pair, fromTeam: pair.fromTeam ?? "" })
      await db
        .insertInto("pairs")
        .values(row)
        .onConflict((c) => c.doNothing())
        .execute()
      const found = await select()
        .where("from_team", "=", row.from_team)
        .where("to_team", "=", row.to_team)
        .where("thread_id", "=", row.thread_id)
        .executeTakeFirstOrThrow()
      return toPair(found)
    },
    async byId(id) {
      const row = await select().where("id", "=", id).executeTakeFirst()
      return row && toPair(row)
    },
    async list({ team } = {}) {
      let query = select().orderBy("last_used_at_ms", "desc")
      if (team !== undefined) query = query.where((e) => e.or([e("from_team", "=", team), e("to_team", "=", team)]))
      return (await query.execute()).map(toPair)
    },
    async update(id, { nativeId, isMade, madeAtMs, status, platform, lastUsedAtMs }) {
      const change = toColumns({ nativeId, isMade, madeAtMs, status, platform, lastUsedAtMs })
      if (Object.keys(change).length > 0) await db.updateTable("pairs").set(change).where("id", "=", id).execute()
    },
    async count(id, atMs) {
      await db
        .updateTable("pairs")
        .set((e) => ({ message_count: e("message_count", "+", 1), last_used_at_ms: atMs }))
        .where("id", "=", id)
        .execute()
    },
    async addSession(session) {
      await db
        .insertInto("pair_sessions")
        .values(toColumns(session))
        .onConflict((c) => c.doNothing())
        .execute()
    },
    async sessions(pairId) {
      const rows = await db
        .selectFrom("pair_sessions")
        .selectAll()
        .where("pair_id", "=", pairId)
        .orderBy("since_ms")
        .execute()
      return rows.map(toPairSession)
    },
    async ofNative(nativeId) {
      const row = await select().where("native_id", "=", nativeId).executeTakeFirst()
      return row && toPair(row)
    },
    async taken(nativeIds) {
      const some = [...nativeIds, ""]
      const [now, before] = await Promise.all([
        db.selectFrom("pairs").select("native_id").where("native_id", "in", some).execute(),
        db.selectFrom("pair_sessions").select("native_id").where("native_id", "in", some).execute(),
      ])
      return [...new Set([...now, ...before].flatMap(({ native_id }) => native_id ?? []))]
    },
    async answer(answer) {
      await db
        .insertInto("answers")
        .values(toColumns(answer))
        .onConflict((c) => c.doNothing())
        .execute()
    },
    async answerTo(messageId) {
      const row = await db.selectFrom("answers").selectAll().where("message_id", "=", messageId).executeTakeFirst()
      return row && toAnswer(row)
    },
    async answers({ pairId, sinceMs }) {
      let query = db.selectFrom("answers").selectAll().orderBy("at_ms")
      if (pairId !== undefined) query = query.where("pair_id", "=", pairId)
      if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs)
      return (await query.execute()).map(toAnswer)
    },
    async forgetAnswers({ containing, sinceMs, untilMs, projectId, nativeIds }) {
      let query = db.deleteFrom("answers")
      if (nativeIds) query = query.where("native_id", "in", [...nativeIds, ""])
      if (projectId !== undefined)
        query = query.where("native_id", "in", (e) =>
          e.selectFrom("sessions").select("sessions.native_id").where("project_id", "=", projectId),
        )
      if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs)
      if (untilMs !== undefined) query = query.where("at_ms", "<", untilMs)
      if (containing !== undefined) query = query.where(dialect.contains("text", containing))
      return Number((await query.executeTakeFirst()).numDeletedRows)
    },
    async dropAnswers(beforeMs) {
      const result = await db.deleteFrom("answers").where("at_ms", "<", beforeMs).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}

const decode = rowDecoder<Pair>({ flags: ["isMade"] })
/** Columns of a unique key cannot be null: a sender without a team is "". */
const toPair = (row: Selectable<Tables["pairs"]>): Pair => ({ ...decode(row), fromTeam: row.from_team || null })
const toPairSession = rowDecoder<PairSession>({})
const toAnswer = rowDecoder<Answer>({ flags: ["isContextNew"] })
