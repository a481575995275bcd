import type { Kysely } from "kysely"
import type { Tables } from "../tables.ts"

/** Whether an agent gave its last step as a number. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable("task_states")
    .addColumn("is_step_number", "integer", (c) => c.notNull().defaultTo(0))
    .execute()
}
