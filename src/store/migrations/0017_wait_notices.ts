import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

/** What a person was told of messages that cannot be delivered yet, so that it can be edited when they arrive. */
export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .createTable("wait_notices")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("session_id", "text", (c) => c.notNull())
    .addColumn("topic_id", "text", (c) => c.notNull())
    .addColumn("first_seq", types.long, (c) => c.notNull())
    .addColumn("last_seq", types.long, (c) => c.notNull())
    .addColumn("words", "text", (c) => c.notNull())
    .addColumn("after_ms", types.long)
    .addColumn("can_resume", "integer", (c) => c.notNull())
    .addColumn("message_id", types.long)
    .addColumn("since_ms", types.long, (c) => c.notNull())
    .addColumn("ended_at_ms", types.long)
    .execute()
  await db.schema
    .createIndex("wait_notices_by_session")
    .on("wait_notices")
    .columns(["session_id", "ended_at_ms"])
    .execute()
}
