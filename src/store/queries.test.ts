import Sqlite from "better-sqlite3"
import { Kysely, SqliteDialect } from "kysely"
import { afterEach, beforeEach, expect, test } from "vitest"
import { insertNew, remove, select, update } from "./queries.ts"
import type { Tables } from "./schema.ts"

let db: Kysely<Tables>
beforeEach(async () => {
  const database = new Sqlite(":memory:")
  database.exec("create table followers (name text primary key, position integer not null)")
  db = new Kysely({ dialect: new SqliteDialect({ database }) })
  for (const name of ["a", "b"]) await insertNew(db, "followers", { name, position: 1 })
})
afterEach(() => db.destroy())

test("a condition that is undefined is refused: it would match every row", async () => {
  const missing = { name: undefined as unknown as string }
  await expect(remove(db, "followers", missing)).rejects.toThrow("undefined")
  await expect(update(db, "followers", missing, { position: 2 })).rejects.toThrow("undefined")
  expect(() => select(db, "followers", missing)).toThrow("undefined")
  expect(await select(db, "followers", { position: 1 }).execute()).toHaveLength(2)
})

test("a row that exists already is not inserted again", async () => {
  expect(await insertNew(db, "followers", { name: "a", position: 5 })).toBe(false)
  expect(await insertNew(db, "followers", { name: "c", position: 5 })).toBe(true)
})
