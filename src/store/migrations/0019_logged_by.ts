import type { Kysely } from "kysely"
import type { Tables } from "../schema.ts"

/** The agent that logged a session by hand, where it is one whose own files are read too. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable("sessions").addColumn("logged_by", "text").execute()
  await db.schema
    .createIndex("sessions_logged_by")
    .on("sessions")
    .column("logged_by")
    .where("logged_by", "is not", null)
    .execute()
}
