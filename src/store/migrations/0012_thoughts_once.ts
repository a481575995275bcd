import type { Kysely } from "kysely"
import type { Tables } from "../schema.ts"

/** Each thought waits for every index that it is written to. The one of numbers finds a session's thoughts as well. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.dropIndex("thoughts_by_session").execute()
}
