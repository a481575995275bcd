import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

/** Folders in which an agent may begin a conversation log although nothing was said there yet, and what logs say of exchanges. */
export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .createTable("followed_folders")
    .addColumn("host", "text", (c) => c.notNull())
    .addColumn("path", "text", (c) => c.notNull())
    .addColumn("seen_at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("followed_folders_pk", ["host", "path"])
    .execute()
  await db.schema.alterTable("turns").addColumn("metadata", "text").execute()
}
