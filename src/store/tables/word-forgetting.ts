import { createHash } from "node:crypto"
import { type SqlBool, sql } from "kysely"
import type { SourceName } from "../../domain/forgetting.ts"
import { type ProjectId, type SessionId, withoutScope } from "../../domain/ids.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { WORD_COLUMNS } from "../dialects/word-columns.ts"
import { select, update } from "../queries.ts"
import { inJson } from "./delivery-forgetting.ts"

export const FORGOTTEN_MARK = "[forgotten]"

/** Removes a text from every column that could contain it, and keeps the rest of each value. Returns how many changed. */
export async function forgetWord(db: Db, dialect: StoreDialect, word: string, projectId?: ProjectId): Promise<number> {
  let changed = 0
  for (const { table, column, handling } of swept()) {
    const held = heldBy(table, projectId)
    if (held === undefined) continue
    const inside = handling === "json" ? inJson(word) : word
    const { rows } = await sql<{ value: string }>`
      select distinct ${sql.ref(column)} as value from ${sql.table(table)}
      where ${dialect.contains(column, inside)} and ${held}`.execute(db)
    for (const { value } of rows) {
      const clean = without(word, value, handling)
      if (clean === value) continue
      await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${clean}
        where ${sql.ref(column)} = ${value} and ${held}`.execute(db)
      changed++
    }
  }
  return changed
}

export async function countMentions(
  db: Db,
  dialect: StoreDialect,
  word: string,
  projectId?: ProjectId,
): Promise<number> {
  let count = 0
  for (const { table, column, handling } of swept()) {
    const held = heldBy(table, projectId)
    if (held === undefined || isOfMessage(table, column)) continue
    const inside = handling === "json" ? inJson(word) : word
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from ${sql.table(table)} where ${dialect.contains(column, inside)} and ${held}`.execute(db)
    count += Number(rows[0]?.n ?? 0)
  }
  return count
}

/** A turn or thought that contains the text is deleted as a whole, and counted separately. */
const isOfMessage = (table: string, column: string) =>
  (table === "turns" && (column === "text" || column === "metadata")) || (table === "thoughts" && column === "text")

function* swept(): Generator<{ table: string; column: string; handling: "text" | "json" | "hash" }> {
  for (const [table, columns] of Object.entries(WORD_COLUMNS))
    for (const [column, handling] of Object.entries(columns))
      if (typeof handling === "string") yield { table, column, handling }
}

const OF_SESSION = new Set(["thoughts", "turns", "runs", "journal", "deliveries", "updates", "permissions", "topics"])

/** For one project: only rows that belong to its sessions. */
function heldBy(table: string, projectId: ProjectId | undefined) {
  if (projectId === undefined) return sql<SqlBool>`1 = 1`
  if (table === "sessions" || table === "task_states") return sql<SqlBool>`project_id = ${projectId}`
  if (!OF_SESSION.has(table)) return undefined
  return sql<SqlBool>`session_id in (select id from sessions where project_id = ${projectId})`
}

function without(word: string, value: string, handling: "text" | "json" | "hash"): string {
  if (handling === "hash") return `forgotten:${createHash("sha256").update(value).digest("base64url")}`
  if (handling === "text") return value.replaceAll(word, FORGOTTEN_MARK)
  const clean = (inner: unknown): unknown => {
    if (typeof inner === "string") return inner.replaceAll(word, FORGOTTEN_MARK)
    if (Array.isArray(inner)) return inner.map(clean)
    if (typeof inner !== "object" || inner === null) return inner
    return Object.fromEntries(
      Object.entries(inner).map(([key, one]) => [key.replaceAll(word, FORGOTTEN_MARK), clean(one)]),
    )
  }
  try {
    return JSON.stringify(clean(JSON.parse(value)))
  } catch {
    return value.replaceAll(inJson(word), FORGOTTEN_MARK)
  }
}

/** Replaces the names of deleted files by the row's id, which stays unique. */
export async function forgetNames(db: Db, word: string, sources: readonly SourceName[]): Promise<void> {
  const clean = (name: string) => (name.includes(word) ? sql<string>`'forgotten:' || id` : name)
  for (const { platform, key, path } of sources)
    await db
      .updateTable("sources")
      .set({ key: clean(key), path: clean(path) })
      .where((e) => e.and({ platform, key }))
      .execute()
}

/** Replaces ids that agents chose for our own log. The session keeps its turns; new entries under that id start another. */
export async function forgetLoggedIds(
  db: Db,
  dialect: StoreDialect,
  { text, platform, except }: { text: string; platform: string; except: readonly string[] },
): Promise<void> {
  const holding = await select(db, "sessions", { platform }).where(dialect.contains("native_id", text)).execute()
  for (const { id, native_id } of holding)
    if (!except.includes(withoutScope(native_id)))
      await update(db, "sessions", { id }, { native_id: `forgotten:${id}` })
}

/** Clears a deleted session's name and text in rows that outlive it: topics, and the readers' memory. */
export async function forgetTraces(db: Db, sessionIds: readonly SessionId[]): Promise<void> {
  if (sessionIds.length === 0) return
  await db
    .updateTable("topics")
    .set({ name: FORGOTTEN_MARK, trail: null })
    .where("session_id", "in", sessionIds)
    .execute()
  const sources = await db
    .selectFrom("turns")
    .select("source_id")
    .distinct()
    .where("session_id", "in", sessionIds)
    .where("source_id", "is not", null)
    .execute()
  for (const { source_id } of sources) {
    const other = await db
      .selectFrom("turns")
      .select("seq")
      .where("source_id", "=", source_id)
      .where("session_id", "not in", sessionIds)
      .limit(1)
      .executeTakeFirst()
    if (!other) await update(db, "sources", { id: source_id! }, { memory: "null" })
  }
}
