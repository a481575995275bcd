import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { expect, test } from "vitest"
import { sqliteVectors, vectorsSqlite } from "../../src/store/dialects/vectors-sqlite.ts"
import { row, vectorTablesContract } from "./vector-tables.ts"

function open() {
  const folder = mkdtempSync(join(tmpdir(), "throughline-vectors-"))
  const db = new Database(join(folder, "index.db"))
  db.pragma("journal_mode = WAL")
  const dispose = () => {
    db.close()
    rmSync(folder, { recursive: true })
  }
  return { folder, db, tables: vectorsSqlite(db), dispose }
}

vectorTablesContract("the tables of vectors on SQLite", () => open())

test("of a vector that was removed, no byte is left in any file after purging", () => {
  const { folder, tables, dispose } = open()
  const space = tables.space({ id: "m:16", dimension: 16 })
  const secret = [..."vectors of words"].map((letter) => letter.charCodeAt(0))
  space.put([row(1, secret), ...Array.from({ length: 500 }, (_, at) => row(at + 2, secret.toReversed()))], 1)
  const bytes = () =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "latin1"))
      .join("")
  expect(bytes()).toContain("vectors of words")
  tables.remove([1])
  tables.purge()
  expect(bytes()).not.toContain("vectors of words")
  dispose()
})

test("vectors of another archive are dropped", () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-vectors-"))
  const countIn = (archive?: string) => {
    const tables = sqliteVectors({ path: join(folder, "vectors.db"), ...(archive ? { archive } : {}) })
    const space = tables.space({ id: "m:4", dimension: 4 })
    const count = space.count()
    space.put([row(1)], 1)
    tables.close()
    return count
  }
  const counts = []
  for (const archive of [undefined, undefined, "one", "one", "two", undefined]) counts.push(countIn(archive))
  expect(counts).toEqual([0, 1, 0, 1, 0, 0])
  rmSync(folder, { recursive: true })
})

test("a database that fails is a Failure of the store", () => {
  const { db, tables, dispose } = open()
  const space = tables.space({ id: "m:4", dimension: 4 })
  db.pragma("query_only = on")
  expect(() => space.put([row(1)], 1)).toThrow(expect.objectContaining({ name: "Failure", code: "store_readonly" }))
  dispose()
})
