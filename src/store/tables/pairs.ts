import type { Selectable } from "kysely"
import type { Answer, Pair, PairSession } from "../../domain/pair.ts"
import type { Pairs } from "../../domain/team-store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { insertNew, many, one, select, update } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makePairs(db: Db, dialect: StoreDialect): Pairs {
  return {
    async ensure(pair) {
      const row = toColumns({ ...pair, fromTeam: pair.fromTeam ?? "" })
      await insertNew(db, "pairs", row)
      const { from_team, to_team, thread_id } = row
      return toPair(await select(db, "pairs", { from_team, to_team, thread_id }).executeTakeFirstOrThrow())
    },
    byId: (id) => one(select(db, "pairs", { id }), toPair),
    list({ team } = {}) {
      let query = select(db, "pairs").orderBy("last_used_at_ms", "desc")
      if (team !== undefined) query = query.where((e) => e.or([e("from_team", "=", team), e("to_team", "=", team)]))
      return many(query, toPair)
    },
    async update(id, { nativeId, isMade, madeAtMs, status, platform, lastUsedAtMs }) {
      const change = toColumns({ nativeId, isMade, madeAtMs, status, platform, lastUsedAtMs })
      if (Object.keys(change).length > 0) await update(db, "pairs", { id }, change)
    },
    async count(id, atMs) {
      await db
        .updateTable("pairs")
        .set((e) => ({ message_count: e("message_count", "+", 1), last_used_at_ms: atMs }))
        .where("id", "=", id)
        .execute()
    },
    async addSession(session) {
      await insertNew(db, "pair_sessions", toColumns(session))
    },
    sessions: (pairId) => many(select(db, "pair_sessions", { pair_id: pairId }).orderBy("since_ms"), toPairSession),
    ofNative: (nativeId) => one(select(db, "pairs", { native_id: nativeId }), toPair),
    async taken(nativeIds) {
      const some = [...nativeIds, ""]
      const [now, before] = await Promise.all([
        db.selectFrom("pairs").select("native_id").where("native_id", "in", some).execute(),
        db.selectFrom("pair_sessions").select("native_id").where("native_id", "in", some).execute(),
      ])
      return [...new Set([...now, ...before].flatMap(({ native_id }) => native_id ?? []))]
    },
    async answer(answer) {
      await insertNew(db, "answers", toColumns(answer))
    },
    answerTo: (messageId) => one(select(db, "answers", { message_id: messageId }), toAnswer),
    answers({ pairId, sinceMs }) {
      let query = select(db, "answers", pairId === undefined ? {} : { pair_id: pairId }).orderBy("at_ms")
      if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs)
      return many(query, toAnswer)
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
