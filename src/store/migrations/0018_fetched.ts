import type { Kysely } from "kysely"
import type { Tables } from "../schema.ts"

/** Which call fetched a message, and whether an agent gave its last step as a number. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable("deliveries").addColumn("fetch_key", "text").execute()
  await db.schema
    .createIndex("deliveries_by_fetch_key")
    .on("deliveries")
    .column("fetch_key")
    .where("fetch_key", "is not", null)
    .execute()
  await db.schema
    .alterTable("task_states")
    .addColumn("is_step_number", "integer", (c) => c.notNull().defaultTo(0))
    .execute()
}
