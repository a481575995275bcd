import type { SessionId } from "../../domain/ids.ts"
import type { Origin } from "../../domain/origin.ts"
import type { Origins } from "../../domain/origin-store.ts"
import type { Db } from "../dialects/dialect.ts"

export function makeOrigins(db: Db): Origins {
  return {
    async trusted() {
      const rows = await db.selectFrom("trusted_paths").selectAll().orderBy("path").execute()
      return rows.map(({ path, at_ms }) => ({ path, atMs: at_ms }))
    },
    async trust(path, atMs) {
      await db
        .insertInto("trusted_paths")
        .values({ path, at_ms: atMs })
        .onConflict((c) => c.doNothing())
        .execute()
    },
    async distrust(path) {
      const gone = await db.deleteFrom("trusted_paths").where("path", "=", path).returning("path").execute()
      return gone.length > 0
    },
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
      await db
        .updateTable("sessions")
        .set({ origin, ...(named === undefined ? {} : { native_id: named }) })
        .where("id", "=", id)
        .execute()
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
  const { platform, native_id } = await db
    .selectFrom("sessions")
    .select(["platform", "native_id"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow()
  const taken = await db
    .selectFrom("sessions")
    .select("id")
    .where("platform", "=", platform)
    .where("native_id", "=", nativeId)
    .executeTakeFirst()
  if (taken) return native_id
  await db
    .updateTable("session_edges")
    .set({ parent_native_id: nativeId })
    .where("parent_platform", "=", platform)
    .where("parent_native_id", "=", native_id)
    .execute()
  return nativeId
}

const IDS_AT_ONCE = 5_000
