import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { IndexTables } from "../../src/domain/index-tables.ts"
import { openEngine } from "../../src/search/index/engine.ts"
import { sqliteIndex } from "../../src/store/dialects/index-sqlite.ts"
import { makeDocs, workAll } from "../fixtures/indexed.ts"
import { indexTablesContract } from "./index-tables.ts"

indexTablesContract("the index on SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  const path = join(folder, "index.db")
  const others: IndexTables[] = []
  const tables = sqliteIndex({ path })
  return {
    tables,
    again() {
      const other = sqliteIndex({ path })
      others.push(other)
      other.open()
      return other
    },
    dispose() {
      for (const opened of [tables, ...others]) opened.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

test("what merges and removed documents leave free is given back when the engine is idle", () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  const engine = openEngine(sqliteIndex({ path: join(folder, "index.db") }))
  const docs = makeDocs(4000)
  engine.add(docs, 1)
  workAll(engine)
  const { sizeBytes } = engine.facts()
  engine.remove(docs.slice(50).map(({ ref }) => ref))
  workAll(engine)
  expect(engine.facts()).toMatchObject({ documents: 50, memtable: 0 })
  expect(engine.facts().sizeBytes).toBeLessThan(sizeBytes * 0.7)
  engine.close()
  rmSync(folder, { recursive: true, force: true })
})

test("a file notes which shared archive it is of, and is refused for any other", () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  const path = join(folder, "index.db")
  const open = (archive?: string) => {
    const tables = sqliteIndex({ path, ...(archive ? { archive } : {}) })
    tables.open()
    tables.write({ meta: { position: archive ?? "beside" } })
    tables.close()
  }
  const foreign = { name: "IndexUnusable", reason: "version", message: "it belongs to another archive" }
  open("one")
  open("one")
  for (const other of ["two", undefined]) expect(() => open(other)).toThrow(expect.objectContaining(foreign))
  sqliteIndex({ path, archive: "two" }).clear()
  open("two")
  rmSync(path)
  open()
  expect(() => open("one")).toThrow(expect.objectContaining(foreign))
  rmSync(folder, { recursive: true, force: true })
})
