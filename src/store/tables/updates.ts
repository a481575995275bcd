import type { Updates } from "../../domain/queue-store.ts"
import type { Update } from "../../domain/update.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { select } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import { inJson } from "./delivery-forgetting.ts"

export function makeUpdates(db: Db, dialect: StoreDialect): Updates {
  return {
    async add(updates) {
      if (updates.length === 0) return 0
      // Serialized, so that numbers become visible in order: a reader would skip a late lower number.
      await dialect.lockJournal(db)
      const added = await db
        .insertInto("updates")
        .values(updates.map((update) => toColumns(update)))
        .onConflict((c) => c.column("key").doNothing())
        .returning("seq")
        .execute()
      return added.length
    },
    async after(team, { afterSeq, sinceMs, newest, types, limit }) {
      const order = newest ? "desc" : "asc"
      let query = select(db, "updates", { team }).orderBy("seq", order).limit(limit)
      if (afterSeq !== undefined) query = query.where("seq", ">", afterSeq)
      if (sinceMs !== undefined) query = query.where("at_ms", ">", sinceMs)
      if (types) query = query.where("type", "in", [...types])
      const rows = await query.execute()
      if (newest) rows.reverse()
      return rows.map(toUpdate)
    },
    async forget({ containing, sinceMs, untilMs, projectId }) {
      let query = db.deleteFrom("updates")
      if (projectId !== undefined)
        query = query.where("session_id", "in", (e) =>
          e.selectFrom("sessions").select("sessions.id").where("project_id", "=", projectId),
        )
      if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs)
      if (untilMs !== undefined) query = query.where("at_ms", "<", untilMs)
      if (containing !== undefined) query = query.where(dialect.contains("data", inJson(containing)))
      return Number((await query.executeTakeFirst()).numDeletedRows)
    },
    async last(team) {
      const row = await db
        .selectFrom("updates")
        .select((e) => e.fn.max("seq").as("last"))
        .where("team", "=", team)
        .executeTakeFirst()
      return Number(row?.last ?? 0)
    },
  }
}

const toUpdate = rowDecoder<Update>({ json: ["data"] })
