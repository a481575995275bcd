import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .createTable("forgotten")
    .addColumn("session_hash", "text", (c) => c.notNull())
    .addColumn("turn_hash", "text", (c) => c.notNull())
    .addColumn("at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("forgotten_key", ["session_hash", "turn_hash"])
    .execute()
}
