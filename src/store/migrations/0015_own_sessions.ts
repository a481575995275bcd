import type { Kysely } from "kysely"
import type { Tables } from "../schema.ts"

/** Whether a caller wrote into the session it chose last, or only read it. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable("bindings")
    .addColumn("is_own", "integer", (c) => c.notNull().defaultTo(0))
    .execute()
}
