import type { Kysely } from "kysely"
import type { Tables } from "../schema.ts"

/** The field that a session of reasoning is about, as the agent names it. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable("sessions").addColumn("domain", "text").execute()
}
