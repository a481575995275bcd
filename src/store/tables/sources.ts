import type { Selectable } from "kysely"
import type { Origin } from "../../domain/origin.ts"
import type { NewSource, Source, SourceSummary } from "../../domain/source.ts"
import type { Sources } from "../../domain/store.ts"
import { DAY_MS } from "../../lib/time.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared, preparedPerColumns } from "../dialects/prepared.ts"
import { rowDecoder } from "../rows.ts"
import type { Tables } from "../schema.ts"

const sourceByKey = prepared((db, platform: string, key: string) =>
  db.selectFrom("sources").selectAll().where("platform", "=", platform).where("key", "=", key),
)

type SourceRow = ReturnType<typeof fromSource>
const saveSource = preparedPerColumns<SourceRow, { id: number }>((db, row) =>
  db
    .insertInto("sources")
    .values(row as never)
    .onConflict((c) =>
      c
        .columns(["platform", "key"])
        .doUpdateSet((e) =>
          Object.fromEntries(
            Object.keys(row).map((column) => [column, e.ref(`excluded.${column as keyof SourceRow}`)]),
          ),
        ),
    )
    .returning("id"),
)

export function makeSources(db: Db, dialect: StoreDialect): Sources {
  return {
    looks: () =>
      db
        .selectFrom("sources")
        .select(["platform", "key", "path", "inode", "size_bytes as sizeBytes", "mtime_ms as mtimeMs"])
        .execute(),
    async byKey(platform, key) {
      const [row] = await sourceByKey(db, dialect, platform, key)
      return row && toSource(row)
    },
    async save(source) {
      const [row] = await saveSource(db, dialect, fromSource(source))
      return row!.id
    },
    async summaries() {
      // Without what readers remember, which is most of it.
      const rows = await db
        .selectFrom("sources")
        .select([
          "platform",
          "path",
          "size_bytes",
          "mtime_ms",
          "lines",
          "read_at_ms",
          "skipped",
          "unknown",
          "unreadable",
          "trouble",
        ])
        .execute()
      const counts = await db
        .selectFrom("sessions")
        .select((e) => ["platform", e.fn.countAll<number>().as("sessions"), e.fn.sum<number>("turn_count").as("turns")])
        .groupBy("platform")
        .execute()
      const byPlatform = Map.groupBy(rows, (row) => row.platform)
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

/** A long history must not hide that an agent writes another form since its last update. */
const RECENT_MS = 7 * DAY_MS

type SummaryRow = Pick<
  Selectable<Tables["sources"]>,
  "path" | "size_bytes" | "mtime_ms" | "lines" | "read_at_ms" | "skipped" | "unknown" | "unreadable" | "trouble"
>

function summaryOf(platform: string, rows: SummaryRow[], sessions: number, turns: number): SourceSummary {
  const skipped: Record<string, number> = {}
  for (const row of rows) {
    if (row.skipped === "{}") continue
    const kinds = JSON.parse(row.skipped) as Record<string, number>
    for (const [kind, count] of Object.entries(kinds)) skipped[kind] = (skipped[kind] ?? 0) + count
  }
  const sum = (pick: (row: SummaryRow) => number) => rows.reduce((total, row) => total + pick(row), 0)
  const newestMs = rows.reduce((last, row) => Math.max(last, row.mtime_ms), 0)
  const recent = rows.filter((row) => row.lines > 0 && row.mtime_ms > newestMs - RECENT_MS)
  return {
    platform,
    sources: rows.length,
    sessions,
    turns,
    sizeBytes: sum((row) => row.size_bytes),
    lastReadAtMs: rows.length === 0 ? null : rows.reduce((last, row) => Math.max(last, row.read_at_ms), 0),
    skipped,
    unknown: sum((row) => row.unknown),
    recent: {
      unknown: recent.reduce((total, row) => total + row.unknown, 0),
      records: recent.reduce((total, row) => total + row.lines, 0),
    },
    unreadable: sum((row) => row.unreadable),
    troubles: rows.flatMap(({ path, trouble }) => (trouble === null ? [] : [{ path, trouble }])),
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
    ...(source.origin === undefined ? {} : { origin: source.origin }),
  }
}

const decode = rowDecoder<Omit<Source, "offset" | "origin">>({ json: ["memory", "skipped"] })
const toSource = ({ offset_bytes: offset, origin, ...row }: Selectable<Tables["sources"]>): Source => ({
  ...decode(row),
  offset,
  ...(origin === null ? {} : { origin: origin as Origin }),
})
