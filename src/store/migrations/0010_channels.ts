import { type Kysely, sql } from "kysely"
import type { StoreDialect } from "../dialect.ts"
import type { Tables } from "../tables.ts"

/** Messengers: where sessions are in them, who may talk there, and how much was sent. */
export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .createTable("topics")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("home", "text", (c) => c.notNull())
    .addColumn("chat_id", "text", (c) => c.notNull())
    .addColumn("thread_id", types.long)
    // The ledger outlives the session: nothing else knows that the topic is there.
    .addColumn("session_id", "text", (c) => c.references("sessions.id").onDelete("set null"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("verbosity", "text", (c) => c.notNull())
    .addColumn("is_muted", "integer", (c) => c.notNull())
    .addColumn("making_at_ms", types.long)
    .addColumn("doubts", "integer", (c) => c.notNull())
    .addColumn("trail", "text")
    .addColumn("created_at_ms", types.long, (c) => c.notNull())
    .addColumn("used_at_ms", types.long, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex("topics_of_session")
    .unique()
    .on("topics")
    .columns(["channel", "chat_id", "session_id"])
    .where(sql.ref("state"), "<>", "gone")
    .execute()
  await db.schema
    .createIndex("topics_by_thread")
    .unique()
    .on("topics")
    .columns(["channel", "chat_id", "thread_id"])
    .execute()
  await db.schema.createIndex("topics_by_session").on("topics").column("session_id").execute()
  await db.schema
    .createTable("bots")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("next_offset", types.long)
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("why", "text")
    .addColumn("since_ms", types.long, (c) => c.notNull())
    .execute()
  await db.schema
    .createTable("people")
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("user_id", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("chat_id", "text")
    .addColumn("paired_at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("people_key", ["channel", "user_id"])
    .execute()
  await db.schema
    .createTable("budgets")
    .addColumn("key", "text", (c) => c.primaryKey())
    .addColumn("sent_at_ms", "text", (c) => c.notNull())
    .addColumn("blocked_until_ms", types.long, (c) => c.notNull())
    .execute()
  await db.schema
    .createTable("cards")
    .addColumn("permission_id", "text", (c) => c.notNull())
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("chat_id", "text", (c) => c.notNull())
    .addColumn("thread_id", types.long)
    .addColumn("message_id", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("cards_key", ["permission_id", "channel", "chat_id"])
    .execute()
  await db.schema
    .createTable("holds")
    .addColumn("key", "text", (c) => c.primaryKey())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("why", "text", (c) => c.notNull())
    .addColumn("since_ms", types.long, (c) => c.notNull())
    .addColumn("next_at_ms", types.long, (c) => c.notNull())
    .execute()
  await db.schema
    .createTable("roles")
    .addColumn("name", "text", (c) => c.primaryKey())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("until_ms", types.long, (c) => c.notNull())
    .execute()
}
