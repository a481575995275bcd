import { type Kysely, sql } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

/** Each machine keeps its search index and vectors in files of its own; the shared tables held words of everyone. */
export async function up(db: Kysely<Tables>, { kind }: StoreDialect): Promise<void> {
  if (kind !== "postgres") return
  const tables = ["meta", "segments", "marks", "sessions", "terms", "lists", "vectors"].map((name) => `index_${name}`)
  await sql`drop table if exists ${sql.join(tables.map((name) => sql.table(name)))}`.execute(db)
}
