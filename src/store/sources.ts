import type { Selectable } from "kysely"
import type { NewSource, Source, SourceSummary } from "../domain/source.ts"
import type { Sources } from "../domain/store.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import { prepared } from "./prepared.ts"
import type { Tables } from "./tables.ts"

const sourceByKey = prepared((db, platform: string, key: string) =>
  db.selectFrom("sources").selectAll().where("platform", "=", platform).where("key", "=", key),
)

export function makeSources(db: Db, dialect: StoreDialect): Sources {
  return {
    async all() {
      const rows = await db.selectFrom("sources").selectAll().execute()
      return rows.map(toSource)
    },
    async byKey(platform, key) {
      const [row] = await sourceByKey(db, dialect, platform, key)
      return row && toSource(row)
    },
    async save(source) {
      const row = fromSource(source)
      const { id } = await db
        .insertInto("sources")
        .values(row)
        .onConflict((c) => c.columns(["platform", "key"]).doUpdateSet(row))
        .returning("id")
        .executeTakeFirstOrThrow()
      return id
    },
    async summaries() {
      const rows = await db.selectFrom("sources").selectAll().execute()
      const counts = await db
        .selectFrom("sessions")
        .select((e) => ["platform", e.fn.countAll<number>().as("sessions"), e.fn.sum<number>("turn_count").as("turns")])
        .groupBy("platform")
        .execute()
      const byPlatform = Map.groupBy(rows.map(toSource), (source) => source.platform)
      const names = new Set([...byPlatform.keys(), ...counts.map((row) => row.platform)])
      return [...names].sort().map((platform) => {
        const count = counts.find((row) => row.platform === platform)
        return summaryOf(
          platform,
          byPlatform.get(platform) ?? [],
          Number(count?.sessions ?? 0),
          Number(count?.turns ?? 0),
        )
      })
    },
  }
}

function summaryOf(platform: string, sources: Source[], sessions: number, turns: number): SourceSummary {
  const skipped: Record<string, number> = {}
  for (const source of sources) {
    for (const [kind, count] of Object.entries(source.skipped)) skipped[kind] = (skipped[kind] ?? 0) + count
  }
  const sum = (pick: (source: Source) => number) => sources.reduce((total, source) => total + pick(source), 0)
  return {
    platform,
    sources: sources.length,
    sessions,
    turns,
    sizeBytes: sum((source) => source.sizeBytes),
    lastReadAtMs: sources.length === 0 ? null : Math.max(...sources.map((source) => source.readAtMs)),
    skipped,
    unknown: sum((source) => source.unknown),
    unreadable: sum((source) => source.unreadable),
    troubles: sources.flatMap(({ path, trouble }) => (trouble === null ? [] : [{ path, trouble }])),
  }
}

function fromSource(source: NewSource) {
  return {
    platform: source.platform,
    key: source.key,
    path: source.path,
    mode: source.mode,
    inode: source.inode,
    size_bytes: source.sizeBytes,
    mtime_ms: source.mtimeMs,
    offset_bytes: source.offset,
    head_hash: source.headHash,
    tail_hash: source.tailHash,
    memory: JSON.stringify(source.memory ?? null),
    read_at_ms: source.readAtMs,
    lines: source.lines,
    skipped: JSON.stringify(source.skipped),
    unknown: source.unknown,
    unreadable: source.unreadable,
    trouble: source.trouble,
  }
}

function toSource(row: Selectable<Tables["sources"]>): Source {
  return {
    id: row.id,
    platform: row.platform,
    key: row.key,
    path: row.path,
    mode: row.mode as Source["mode"],
    inode: row.inode,
    sizeBytes: row.size_bytes,
    mtimeMs: row.mtime_ms,
    offset: row.offset_bytes,
    headHash: row.head_hash,
    tailHash: row.tail_hash,
    memory: JSON.parse(row.memory),
    readAtMs: row.read_at_ms,
    lines: row.lines,
    skipped: JSON.parse(row.skipped) as Record<string, number>,
    unknown: row.unknown,
    unreadable: row.unreadable,
    trouble: row.trouble,
  }
}
