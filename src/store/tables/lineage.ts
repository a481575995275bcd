import type { SessionId } from "../../domain/ids.ts"
import type { SessionEdge } from "../../domain/session.ts"
import type { Sessions } from "../../domain/store.ts"
import type { Db } from "../dialects/dialect.ts"
import { rowDecoder, toColumns } from "../rows.ts"

type Lineage = Pick<Sessions, "addEdge" | "edges" | "children" | "addOrphan" | "orphans" | "dropOrphan">

/** Which session a session was forked, resumed or started from. */
export function makeLineage(db: Db): Lineage {
  return {
    async addEdge(id, edge) {
      const added = await db
        .insertInto("session_edges")
        .values({ session_id: id, ...toColumns(edge) })
        .onConflict((c) => c.doNothing())
        .returning("session_id")
        .executeTakeFirst()
      return added !== undefined
    },
    async edges(id) {
      const rows = await db
        .selectFrom("session_edges")
        .selectAll()
        .where("session_id", "=", id)
        .where("parent_platform", "not like", ownerOf("%"))
        .orderBy("at_ms")
        .execute()
      return rows.map(({ session_id: _, ...row }) => toEdge(row))
    },
    async children(platform, nativeId) {
      const rows = await db
        .selectFrom("session_edges")
        .select(["session_id", "kind", "at_ms"])
        .where("parent_platform", "=", platform)
        .where("parent_native_id", "=", nativeId)
        .orderBy("at_ms")
        .execute()
      return rows.map((row) => ({
        id: row.session_id as SessionId,
        kind: row.kind as SessionEdge["kind"],
        atMs: row.at_ms,
      }))
    },
    async addOrphan(id, { platform, nativeTurnId, atMs }) {
      await db
        .insertInto("session_edges")
        .values({
          ...{ session_id: id, kind: "fork", at_ms: atMs },
          ...{ parent_platform: ownerOf(platform), parent_native_id: nativeTurnId },
        })
        .onConflict((c) => c.doNothing())
        .execute()
    },
    async orphans(platform) {
      const rows = await db
        .selectFrom("session_edges")
        .select(["session_id", "parent_native_id"])
        .where("parent_platform", "=", ownerOf(platform))
        .execute()
      return rows.map((row) => ({ id: row.session_id as SessionId, nativeTurnId: row.parent_native_id }))
    },
    async dropOrphan(id, platform) {
      await db
        .deleteFrom("session_edges")
        .where("session_id", "=", id)
        .where("parent_platform", "=", ownerOf(platform))
        .execute()
    },
  }
}

const toEdge = rowDecoder<SessionEdge>({})

/** Stored as the parent's platform while the parent is unknown: then a turn of it is named instead of the session. */
const ownerOf = (platform: string) => `${platform}/turn`
