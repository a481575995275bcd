import { type Kysely, sql } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

/** Agents of which the files can be inside a repository; until it is known where each file is, none of them is trusted. */
const IN_PROJECTS = ["aider", "conversation-log"]

export async function up(db: Kysely<Tables>, { types }: StoreDialect): Promise<void> {
  await db.schema
    .alterTable("sessions")
    .addColumn("origin", "text", (c) => c.notNull().defaultTo("agent"))
    .execute()
  // Null: read before origins were kept.
  await db.schema.alterTable("sources").addColumn("origin", "text").execute()
  await db.schema
    .createTable("trusted_paths")
    .addColumn("path", "text", (c) => c.primaryKey())
    .addColumn("at_ms", types.long, (c) => c.notNull())
    .execute()
  await db.updateTable("sessions").set({ origin: "repository" }).where("platform", "in", IN_PROJECTS).execute()
  await clampTimes(db)
}

/** Times of the future were kept as files stated them. Consumers hear of each turn that changes. */
async function clampTimes(db: Kysely<Tables>): Promise<void> {
  const nowMs = Date.now()
  const turns = await db
    .updateTable("turns")
    .set({ at_ms: nowMs })
    .where("at_ms", ">", nowMs)
    .returning(["seq", "session_id"])
    .execute()
  for (const [sessionId, changed] of Map.groupBy(turns, (turn) => turn.session_id)) {
    const seqs = changed.map(({ seq }) => seq)
    await db
      .insertInto("journal")
      .values({
        kind: "turns.kept",
        session_id: sessionId,
        project_id: null,
        at_ms: nowMs,
        data: JSON.stringify({ seqs, changed: seqs }),
        key: null,
      })
      .execute()
  }
  for (const column of ["created_at_ms", "updated_at_ms"] as const)
    await db
      .updateTable("sessions")
      .set({ [column]: nowMs })
      .where(sql.ref(column), ">", nowMs)
      .execute()
}
