import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

/** Which session a message in a chat is of: where topics are switched off, nothing else says it. */
export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .createTable("topic_messages")
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("chat_id", "text", (c) => c.notNull())
    .addColumn("message_id", types.long, (c) => c.notNull())
    .addColumn("topic_id", "text", (c) => c.notNull())
    .addColumn("at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("topic_messages_key", ["channel", "chat_id", "message_id"])
    .execute()
}
