import type { Kysely } from "kysely"
import type { Tables } from "../schema.ts"

/** Sources of Codex were known by their paths, which change when a session is archived; now by home and file name. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const rows = await db
    .selectFrom("sources")
    .select(["id", "key"])
    .where("platform", "=", "codex")
    .orderBy("read_at_ms", "desc")
    .orderBy("id", "desc")
    .execute()
  const moved = ({ key }: { key: string }) =>
    /^(.*[\\/])(?:archived_)?sessions[\\/](?:\d+[\\/])*([^\\/]+)$/.exec(key)?.slice(1).join("")
  const taken = new Map(rows.flatMap((row) => (moved(row) === undefined ? [[row.key, row.id]] : [])))
  for (const row of rows) {
    const [id, next] = [row.id, moved(row)]
    if (next === undefined) continue
    const newer = taken.get(next)
    if (newer === undefined) {
      taken.set(next, id)
      await db.updateTable("sources").set({ key: next }).where("id", "=", id).execute()
      continue
    }
    // It was read before and after it was moved: what was read last stands for both.
    await db.updateTable("turns").set({ source_id: newer }).where("source_id", "=", id).execute()
    await db.deleteFrom("sources").where("id", "=", id).execute()
  }
}
