import { type Kysely, sql } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

/** A chat per team: people of one team, a thread that sessions share, and topics that a session has left. */
export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .createTable("team_people")
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.notNull())
    .addColumn("team", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("paired_at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("team_people_key", ["channel", "user_id", "team"])
    .execute()
  await db.schema.alterTable("topics").addColumn("shared_thread_id", types.long).execute()
  await db.schema.dropIndex("topics_of_session").execute()
  await db.schema
    .createIndex("topics_of_session")
    .unique()
    .on("topics")
    .columns(["channel", "chat_id", "session_id"])
    .where(sql.ref("state"), "<>", "gone")
    .where(sql.ref("state"), "<>", "left")
    .execute()
}
