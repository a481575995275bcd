import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SpaceTables } from "../../src/domain/vector-tables.ts"
import { vectorsPostgres } from "../../src/store/dialects/vectors-postgres.ts"
import { findPgvector, type PostgresServer, startPostgres } from "../fixtures/postgres.ts"
import { row, vectorTablesContract } from "./vector-tables.ts"

const open = async (server: PostgresServer) => {
  const url = await server.createDatabase()
  const pool = new pg.Pool({ connectionString: url })
  pool.on("error", () => {})
  const dispose = async () => {
    await pool.end()
    await server.dropDatabase(url)
  }
  return { url, pool, tables: vectorsPostgres(pool), dispose }
}

describe("without pgvector", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())

  vectorTablesContract("the tables of vectors on PostgreSQL", () => open(server))

  test("it is found not to be there, so that the codes in memory rank", async () => {
    const { tables, dispose } = await open(server)
    expect((await tables.space({ id: "m:4", dimension: 4 })).nearest).toBeUndefined()
    await dispose()
  })

  test("daemons that open the tables at the same time all come up", async () => {
    const { tables, dispose } = await open(server)
    const spaces = await Promise.all([1, 2, 3, 4].map(() => tables.space({ id: "m:4", dimension: 4 })))
    await spaces[0]!.put([row(1)], 1)
    for (const space of spaces) expect(await space.count()).toBe(1)
    await dispose()
  })

  test("a server that does not answer is a store out of reach", async () => {
    const pool = new pg.Pool({ connectionString: "postgres://u:p@127.0.0.1:1/db" })
    const tables = vectorsPostgres(pool)
    for (const work of [tables.space({ id: "m:4", dimension: 4 }), tables.remove([1])])
      await expect(work).rejects.toMatchObject({ name: "Failure", code: "store_unreachable" })
    await pool.end()
  })
})

const programs = findPgvector()

// The server that the tests bring has no extensions of others. THROUGHLINE_TEST_PGVECTOR names one's folder of programs.
describe.skipIf(!programs)("with pgvector", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(programs)
  })
  afterAll(() => server?.stop())

  vectorTablesContract("the tables of vectors on PostgreSQL with pgvector", () => open(server))

  const DIMENSION = 32
  const COUNT = 3_000
  const vectorAt = (seed: number) =>
    Int8Array.from({ length: DIMENSION }, (_, at) =>
      Math.round(100 * Math.sin(seed * 12.9898 + at * 78.233 + (seed % 7) * at)),
    )
  const filled = async (space: SpaceTables) => {
    const rows = Array.from({ length: COUNT }, (_, at) => ({ ...row(at), values: vectorAt(at), scale: 0.01 }))
    for (let at = 0; at < COUNT; at += 500) await space.put(rows.slice(at, at + 500), 1)
  }
  const cosine = (a: ArrayLike<number>, b: ArrayLike<number>) => {
    let [product, one, other] = [0, 0, 0]
    for (let at = 0; at < a.length; at++) {
      product += a[at]! * b[at]!
      one += a[at]! ** 2
      other += b[at]! ** 2
    }
    return product / Math.sqrt(one * other)
  }
  const exact = (query: Float32Array, limit: number, accept: (exchange: number) => boolean) =>
    Array.from({ length: COUNT }, (_, exchange) => ({ exchange, score: cosine(query, vectorAt(exchange)) }))
      .filter(({ exchange }) => accept(exchange))
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)

  test("the database ranks, with cosines as scores, and a filter shortens no list", async () => {
    const { tables, dispose } = await open(server)
    const space = await tables.space({ id: "m:32", dimension: DIMENSION })
    await filled(space)
    await space.put([row(COUNT, Array(DIMENSION).fill(0))], 1)
    const query = Float32Array.from({ length: DIMENSION }, (_, at) => Math.cos(at * 3))
    for (const accept of [
      undefined,
      (exchange: number) => exchange % 2 === 1,
      (exchange: number) => exchange % 500 === 3,
    ]) {
      const found = await space.nearest!(query, 6, accept)
      const right = exact(query, 6, accept ?? (() => true))
      expect(found).toHaveLength(6)
      expect(found[0]!.score).toBeCloseTo(right[0]!.score, 2)
      const known = new Set(right.map(({ exchange }) => exchange))
      expect(found.filter(({ exchange }) => known.has(exchange)).length).toBeGreaterThanOrEqual(5)
    }
    expect(await space.nearest!(query, 6, () => false)).toEqual([])
    await dispose()
  })

  test("a user who may not make the extension gets the codes in memory", async () => {
    const { url, pool, dispose } = await open(server)
    await pool.query("drop role if exists plain")
    await pool.query("create role plain login password 'plain'")
    await pool.query("grant all on schema public to plain")
    await pool.query(
      "revoke create on database current_database from plain".replace(
        "current_database",
        new URL(url).pathname.slice(1),
      ),
    )
    const plain = new pg.Pool({ connectionString: url.replace("throughline:secret@", "plain:plain@") })
    const space = await vectorsPostgres(plain).space({ id: "m:4", dimension: 4 })
    expect(space.nearest).toBeUndefined()
    await space.put([row(1)], 1)
    expect(await space.count()).toBe(1)
    await plain.end()
    await pool.query("drop owned by plain")
    await pool.query("drop role plain")
    await dispose()
  })
})
