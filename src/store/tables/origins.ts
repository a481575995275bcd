import type { SessionId } from "../../domain/ids.ts"
import type { Origin, Origins } from "../../domain/origin.ts"
import type { Db } from "../dialects/dialect.ts"
import { insertNew, many, remove, select, update } from "../queries.ts"

export function makeOrigins(db: Db): Origins {
  return {
    trusted: () => many(select(db, "trusted_paths").orderBy("path"), ({ path, at_ms: atMs }) => ({ path, atMs })),
    async trust(path, atMs) {
      await insertNew(db, "trusted_paths", { path, at_ms: atMs })
    },
    distrust: async (path) => (await remove(db, "trusted_paths", { path })) > 0,
    async sources() {
      const rows = await db
        .selectFrom("sources")
        .select(["id", "platform", "path", "origin"])
        .where((e) => e.or([e("origin", "is", null), e("origin", "<>", "agent")]))
        .orderBy("path")
        .execute()
      return rows.map((row) => ({ ...row, origin: row.origin as Origin | null }))
    },
    async place(ids, origin) {
      for (let at = 0; at < ids.length; at += IDS_AT_ONCE)
        await db
          .updateTable("sources")
          .set({ origin })
          .where("id", "in", ids.slice(at, at + IDS_AT_ONCE))
          .execute()
    },
    async sessionsOf(sourceId) {
      const rows = await db
        .selectFrom("sessions")
        .select(["id", "native_id as nativeId", "origin"])
        .where("id", "in", (e) => e.selectFrom("turns").select("session_id").where("source_id", "=", sourceId))
        .execute()
      return rows.map((row) => ({ ...row, id: row.id as SessionId, origin: row.origin as Origin }))
    },
    async mark(id, origin, nativeId) {
      const named = nativeId === undefined ? undefined : await renamed(db, id, nativeId)
      await update(db, "sessions", { id }, { origin, ...(named === undefined ? {} : { native_id: named }) })
    },
    async settle() {
      const has = (origin: Origin) =>
        db
          .selectFrom("turns as t")
          .innerJoin("sources as o", "o.id", "t.source_id")
          .select("t.session_id")
          .where("o.origin", "=", origin)
      const change = db.updateTable("sessions").where("origin", "<>", "agent")
      await change.set({ origin: "repository" }).execute()
      await change
        .set({ origin: "vouched" })
        .where("id", "in", has("vouched"))
        .where("id", "not in", has("repository"))
        .execute()
    },
  }
}

/** Renames it in the edges of sessions that come from it too. */
async function renamed(db: Db, id: SessionId, nativeId: string): Promise<string> {
  const { platform, native_id } = await select(db, "sessions", { id }).executeTakeFirstOrThrow()
  if (await select(db, "sessions", { platform, native_id: nativeId }).executeTakeFirst()) return native_id
  const parent = { parent_platform: platform, parent_native_id: native_id }
  await update(db, "session_edges", parent, { parent_native_id: nativeId })
  return nativeId
}

const IDS_AT_ONCE = 5_000
