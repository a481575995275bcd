import type { Kysely } from "kysely"
import type { Tables } from "../schema.ts"

/** The end of a long conversation, or one exchange of it, without reading all of it. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.createIndex("turns_by_time").on("turns").columns(["session_id", "at_ms", "seq"]).execute()
}
