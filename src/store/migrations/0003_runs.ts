import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .createTable("runs")
    .addColumn("session_id", "text", (c) => c.notNull().references("sessions.id").onDelete("cascade"))
    .addColumn("host", "text", (c) => c.notNull())
    .addColumn("pid", types.long, (c) => c.notNull())
    .addColumn("pane", "text")
    .addColumn("start", "text", (c) => c.notNull())
    .addColumn("started_at_ms", types.long, (c) => c.notNull())
    .addColumn("seen_at_ms", types.long, (c) => c.notNull())
    .addColumn("ended_at_ms", types.long)
    .addColumn("end_reason", "text")
    .addPrimaryKeyConstraint("runs_key", ["session_id", "host", "pid"])
    .execute()
  await db.schema.createIndex("runs_by_process").on("runs").columns(["host", "pid"]).execute()
  await db.schema.createIndex("runs_by_pane").on("runs").columns(["host", "pane"]).execute()
}
