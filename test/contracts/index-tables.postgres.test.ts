import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { IndexTables } from "../../src/domain/index-tables.ts"
import { openEngine } from "../../src/search/index/engine.ts"
import { postgresIndex } from "../../src/store/dialects/index-postgres.ts"
import { sqliteIndex } from "../../src/store/dialects/index-sqlite.ts"
import { addAll, makeDocs, makeQueries, workAll } from "../fixtures/indexed.ts"
import { type PostgresServer, startPostgres } from "../fixtures/postgres.ts"
import { indexTablesContract } from "./index-tables.ts"

let server: PostgresServer
let url: string
beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase()
})
afterAll(() => server?.stop())

indexTablesContract("the index on PostgreSQL", async () => {
  const others: IndexTables[] = []
  const tables = postgresIndex({ url })
  return {
    tables,
    async again() {
      const other = postgresIndex({ url })
      others.push(other)
      await other.open()
      return other
    },
    async dispose() {
      for (const opened of [tables, ...others]) await opened.close()
      await server.emptyDatabase(url)
    },
  }
})

describe("both databases", () => {
  test("give the same 200 lists for the same 200 queries, at every stage", async () => {
    const folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
    const docs = makeDocs(5000)
    const queries = makeQueries(200, docs)
    const both = await Promise.all(
      [postgresIndex({ url: await server.createDatabase() }), sqliteIndex({ path: join(folder, "index.db") })].map(
        (tables) => openEngine(tables),
      ),
    )
    const lists = () => Promise.all(both.map((engine) => Promise.all(queries.map((query) => engine.search(query)))))
    const same = async () => {
      const [onPostgres, onSqlite] = await lists()
      expect(onPostgres!.filter((hits) => hits.length > 0).length).toBeGreaterThan(180)
      expect(onPostgres).toEqual(onSqlite)
      expect({ ...both[0]!.facts(), sizeBytes: 0 }).toEqual({ ...both[1]!.facts(), sizeBytes: 0 })
    }
    for (const engine of both) await addAll(engine, docs.slice(0, 4000))
    await same()
    for (const engine of both) {
      await engine.remove(docs.slice(100, 300).map(({ ref }) => ref))
      await engine.hide(docs.slice(1000, 1100).map(({ ref }) => ref))
      await addAll(engine, [...docs.slice(4000), ...makeDocs(300, 9)])
    }
    await same()
    for (const engine of both) await workAll(engine)
    await same()
    for (const engine of both) await engine.purge()
    await same()
    for (const engine of both) await engine.close()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe("the tables of the index on PostgreSQL", () => {
  test("are written by one process: the other is refused, and knows what was written once it opens again", async () => {
    const own = await server.createDatabase()
    const [tables, other] = [postgresIndex({ url: own }), postgresIndex({ url: own })]
    const [one, two] = [await openEngine(tables), await openEngine(other)]
    await one.add(makeDocs(50), 50)
    await workAll(one)
    await two.add(makeDocs(50, 2, 1000), 60)
    await expect(workAll(two)).rejects.toMatchObject({ name: "Failure", code: "store_busy" })
    await two.close()
    await one.add(makeDocs(10, 3, 2000), 70)
    await workAll(one)
    const again = await openEngine(other)
    expect(again.facts()).toMatchObject({ documents: 60, position: 70 })
    await again.close()
    await one.close()
  })

  test("dropped under a running engine are missed at the next slice, and can be made anew", async () => {
    const own = await server.createDatabase()
    const tables = postgresIndex({ url: own })
    const engine = await openEngine(tables)
    await engine.add(makeDocs(100), 100)
    await workAll(engine)
    const admin = new pg.Client({ connectionString: own })
    await admin.connect()
    await admin.query("drop table index_lists")
    await admin.end()
    await expect(engine.work()).rejects.toMatchObject({ name: "IndexUnusable", reason: "gone" })
    await tables.clear()
    const anew = await openEngine(tables)
    expect(anew.facts()).toMatchObject({ documents: 0, position: 0 })
    await anew.close()
  })
})
