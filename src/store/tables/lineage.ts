import type { SessionId } from "../../domain/ids.ts"
import type { SessionEdge } from "../../domain/session.ts"
import type { Sessions } from "../../domain/store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared } from "../dialects/prepared.ts"
import { insertNew, many, remove, select } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"

type Lineage = Pick<Sessions, "addEdge" | "edges" | "children" | "addOrphan" | "orphans" | "dropOrphan">

const orphansOf = prepared((db, owner: string) =>
  db.selectFrom("session_edges").select(["session_id", "parent_native_id"]).where("parent_platform", "=", owner),
)

/** Which session a session was forked, resumed or started from. */
export function makeLineage(db: Db, dialect: StoreDialect): Lineage {
  return {
    addEdge: (id, edge) => insertNew(db, "session_edges", { session_id: id, ...toColumns(edge) }),
    async edges(id) {
      const edges = select(db, "session_edges", { session_id: id }).where("parent_platform", "not like", ownerOf("%"))
      return many(edges.orderBy("at_ms"), ({ session_id: _, ...row }) => toEdge(row))
    },
    children(platform, nativeId) {
      const edges = select(db, "session_edges", { parent_platform: platform, parent_native_id: nativeId })
      return many(edges.orderBy("at_ms"), (row) => ({
        id: row.session_id as SessionId,
        kind: row.kind as SessionEdge["kind"],
        atMs: row.at_ms,
      }))
    },
    async addOrphan(id, { platform, nativeTurnId, atMs }) {
      const parent = { parent_platform: ownerOf(platform), parent_native_id: nativeTurnId }
      await insertNew(db, "session_edges", { session_id: id, kind: "fork", at_ms: atMs, ...parent })
    },
    async orphans(platform) {
      const rows = await orphansOf(db, dialect, ownerOf(platform))
      return rows.map((row) => ({ id: row.session_id as SessionId, nativeTurnId: row.parent_native_id }))
    },
    async dropOrphan(id, platform) {
      await remove(db, "session_edges", { session_id: id, parent_platform: ownerOf(platform) })
    },
  }
}

const toEdge = rowDecoder<SessionEdge>({})

/** Stored as the parent's platform while the parent is unknown: then a turn of it is named instead of the session. */
const ownerOf = (platform: string) => `${platform}/turn`
