import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

/** Messages for agents: where they went, where sessions can be reached, and what those who sent them are told. */
export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  for (const column of ["fingerprint", "session_id", "rung"])
    await db.schema.alterTable("deliveries").addColumn(column, "text").execute()
  await db.schema
    .createIndex("deliveries_by_fingerprint")
    .on("deliveries")
    .columns(["fingerprint", "created_at_ms"])
    .execute()
  await db.schema.createIndex("deliveries_by_session").on("deliveries").columns(["session_id", "state"]).execute()
  // Most rows have neither: the leases and the times that ran out are found without reading those that wait.
  await db.schema.createIndex("deliveries_by_lease").on("deliveries").columns(["state", "lease_until_ms"]).execute()
  await db.schema.createIndex("deliveries_by_expiry").on("deliveries").columns(["state", "expires_at_ms"]).execute()
  await db.schema.createIndex("deliveries_of_lane").on("deliveries").columns(["lane", "seq"]).execute()

  await db.schema
    .createTable("routes")
    .addColumn("session_id", "text", (c) => c.notNull().references("sessions.id").onDelete("cascade"))
    .addColumn("host", "text", (c) => c.notNull())
    .addColumn("pid", types.long, (c) => c.notNull())
    .addColumn("process_start", "text", (c) => c.notNull())
    .addColumn("pane", "text")
    .addColumn("seen_at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("routes_key", ["session_id", "host", "pid"])
    .execute()

  await db.schema
    .createTable("posts")
    .addColumn("team", "text", (c) => c.primaryKey())
    .addColumn("host", "text", (c) => c.notNull())
    .addColumn("session_id", "text", (c) => c.references("sessions.id").onDelete("set null"))
    .addColumn("native_id", "text")
    .addColumn("pid", types.long, (c) => c.notNull())
    .addColumn("process_start", "text")
    .addColumn("since_ms", types.long, (c) => c.notNull())
    .addColumn("gone_at_ms", types.long)
    .addColumn("cause", "text")
    .addColumn("is_told", "integer", (c) => c.notNull())
    .addColumn("is_kept", "integer", (c) => c.notNull())
    .execute()

  await db.schema
    .createTable("updates")
    .addColumn("seq", types.counter, (c) => c.primaryKey())
    .addColumn("team", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull().unique())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("message_id", "text")
    .addColumn("session_id", "text", (c) => c.references("sessions.id").onDelete("cascade"))
    .addColumn("turn_seq", types.long)
    .addColumn("data", "text", (c) => c.notNull())
    .addColumn("at_ms", types.long, (c) => c.notNull())
    .execute()
  await db.schema.createIndex("updates_by_team").on("updates").columns(["team", "seq"]).execute()

  await db.schema
    .createTable("task_states")
    .addColumn("project_id", "text", (c) => c.notNull().references("projects.id").onDelete("cascade"))
    .addColumn("native_session_id", "text", (c) => c.notNull())
    .addColumn("current_task", "text")
    .addColumn("current_task_id", "text")
    .addColumn("last_completed_step", "text")
    .addColumn("pending_messages", "text", (c) => c.notNull())
    .addColumn("updated_at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("task_states_key", ["project_id", "native_session_id"])
    .execute()
}
