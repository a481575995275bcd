import { type Kysely, sql } from "kysely"
import type { Tables } from "../schema.ts"

/** What was settled long ago is found without reading all that is kept. A group that became another one stays known as it was. */
export async function up(db: Kysely<Tables>): Promise<void> {
  // What teams asked stays for good, and must not be read through each time.
  await db.schema
    .createIndex("deliveries_by_settling")
    .on("deliveries")
    .column("settled_at_ms")
    .where(sql.ref("channel"), "<>", "pair")
    .execute()
  await db.schema
    .createTable("chat_moves")
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("from_chat_id", "text", (c) => c.notNull())
    .addColumn("to_chat_id", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("chat_moves_key", ["channel", "from_chat_id"])
    .execute()
}
