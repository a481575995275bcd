import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { IndexTables } from "../../src/domain/index-tables.ts"
import { openEngine } from "../../src/search/index/engine.ts"
import { sqliteIndex } from "../../src/store/dialects/index-sqlite.ts"
import { makeDocs, workAll } from "../fixtures/indexed.ts"
import { indexTablesContract } from "./index-tables.ts"

indexTablesContract("the index on SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  const path = join(folder, "index.db")
  const others: IndexTables[] = []
  const tables = sqliteIndex({ path })
  return {
    tables,
    async again() {
      const other = sqliteIndex({ path })
      others.push(other)
      await other.open()
      return other
    },
    async dispose() {
      for (const opened of [tables, ...others]) await opened.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

test("what merges and removed documents leave free is given back when the engine is idle", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  const engine = await openEngine(sqliteIndex({ path: join(folder, "index.db") }))
  const docs = makeDocs(4000)
  await engine.add(docs, 1)
  await workAll(engine)
  const { sizeBytes } = engine.facts()
  await engine.remove(docs.slice(50).map(({ ref }) => ref))
  await workAll(engine)
  expect(engine.facts()).toMatchObject({ documents: 50, memtable: 0 })
  expect(engine.facts().sizeBytes).toBeLessThan(sizeBytes * 0.7)
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

test("a file notes which shared archive it is of, and is refused for any other", async () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  const path = join(folder, "index.db")
  const open = async (archive?: string) => {
    const tables = sqliteIndex({ path, ...(archive ? { archive } : {}) })
    await tables.open()
    await tables.write({ meta: { position: archive ?? "beside" } })
    await tables.close()
  }
  const foreign = { name: "IndexUnusable", reason: "version", message: "it belongs to another archive" }
  await open("one")
  await open("one")
  for (const other of ["two", undefined]) await expect(open(other)).rejects.toMatchObject(foreign)
  await sqliteIndex({ path, archive: "two" }).clear()
  await open("two")
  rmSync(path)
  await open()
  await expect(open("one")).rejects.toMatchObject(foreign)
  rmSync(folder, { recursive: true, force: true })
})
