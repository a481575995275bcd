import { type Kysely, sql } from "kysely"
import type { Tables } from "../schema.ts"

/** Words are found by the search index, which is not part of the archive. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await sql`drop table if exists thought_words`.execute(db)
}
