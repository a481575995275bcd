import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  const nullable = ["model", "git_branch", "agent_version", "project_path"] as const
  for (const name of nullable) await db.schema.alterTable("sessions").addColumn(name, "text").execute()
  for (const name of ["title_rank", "turn_count", "prompt_count", "is_subagent"] as const) {
    await db.schema
      .alterTable("sessions")
      .addColumn(name, "integer", (c) => c.notNull().defaultTo(0))
      .execute()
  }

  await db.schema
    .createTable("sources")
    .addColumn("id", types.counter, (c) => c.primaryKey())
    .addColumn("platform", "text", (c) => c.notNull())
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("path", "text", (c) => c.notNull())
    .addColumn("mode", "text", (c) => c.notNull())
    .addColumn("inode", "text", (c) => c.notNull())
    .addColumn("size_bytes", types.long, (c) => c.notNull())
    .addColumn("mtime_ms", types.long, (c) => c.notNull())
    .addColumn("offset_bytes", types.long, (c) => c.notNull())
    .addColumn("head_hash", "text", (c) => c.notNull())
    .addColumn("tail_hash", "text", (c) => c.notNull())
    .addColumn("memory", "text", (c) => c.notNull())
    .addColumn("read_at_ms", types.long, (c) => c.notNull())
    .addColumn("lines", types.long, (c) => c.notNull())
    .addColumn("skipped", "text", (c) => c.notNull())
    .addColumn("unknown", types.long, (c) => c.notNull())
    .addColumn("unreadable", types.long, (c) => c.notNull())
    .addColumn("trouble", "text")
    .addUniqueConstraint("sources_key", ["platform", "key"])
    .execute()

  await db.schema
    .createTable("turns")
    .addColumn("seq", types.counter, (c) => c.primaryKey())
    .addColumn("session_id", "text", (c) => c.notNull().references("sessions.id").onDelete("cascade"))
    .addColumn("native_id", "text", (c) => c.notNull())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("text", "text", (c) => c.notNull())
    .addColumn("at_ms", types.long, (c) => c.notNull())
    .addColumn("model", "text")
    .addColumn("tool_name", "text")
    .addColumn("tool_call_id", "text")
    .addColumn("is_error", "integer", (c) => c.notNull())
    .addColumn("is_fallback", "integer", (c) => c.notNull())
    .addColumn("usage", "text")
    .addColumn("source_id", types.long)
    .addColumn("superseded_at_ms", types.long)
    .addUniqueConstraint("turns_native", ["session_id", "native_id"])
    .execute()
  await db.schema.createIndex("turns_by_source").on("turns").column("source_id").execute()

  await db.schema
    .createTable("session_edges")
    .addColumn("session_id", "text", (c) => c.notNull().references("sessions.id").onDelete("cascade"))
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("parent_platform", "text", (c) => c.notNull())
    .addColumn("parent_native_id", "text", (c) => c.notNull())
    .addColumn("at_ms", types.long, (c) => c.notNull())
    .addPrimaryKeyConstraint("session_edges_key", ["session_id", "kind", "parent_platform", "parent_native_id"])
    .execute()
  await db.schema
    .createIndex("session_edges_by_parent")
    .on("session_edges")
    .columns(["parent_platform", "parent_native_id"])
    .execute()
}
