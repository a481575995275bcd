import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../dialects/sqlite.ts"
import { type Handling, WORD_COLUMNS } from "../dialects/word-columns.ts"
import { openStore } from "../open.ts"

const WORD = 'zebra"secret'
let dir: string
let store: Store
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "words-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const handlings = WORD_COLUMNS as Record<string, Record<string, Handling>>
const isLeftOut = (name: string) => name.startsWith("sqlite_") || name.startsWith("migration")

/** As the database has it, not as we describe it. */
function textColumns(database: Database.Database): { table: string; column: string }[] {
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[]
  return tables
    .filter(({ name }) => !isLeftOut(name))
    .flatMap(({ name: table }) =>
      (database.prepare(`pragma table_info("${table}")`).all() as { name: string; type: string }[])
        .filter(({ type }) => /text|char/i.test(type))
        .map(({ name: column }) => ({ table, column })),
    )
}

test("every column of text is handled, or left alone for a reason", () => {
  const database = new Database(join(dir, "t.db"), { readonly: true })
  const columns = textColumns(database)
  database.close()
  expect(columns.length).toBeGreaterThan(100)
  const missing = columns.filter(({ table, column }) => handlings[table]?.[column] === undefined)
  expect(missing, "say in word-columns.ts what becomes of these").toEqual([])
})

test("a forgotten text is in none of them afterwards, and in no byte of the files", async () => {
  const database = new Database(join(dir, "t.db"))
  database.pragma("foreign_keys = off")
  const byTable = Map.groupBy(textColumns(database), ({ table }) => table)
  for (const [table, columns] of byTable) {
    const all = database.prepare(`pragma table_info("${table}")`).all() as { name: string; type: string; pk: number }[]
    const isText = (name: string) => columns.some(({ column }) => column === name)
    // Numbers that the database gives by itself are left to it.
    const filled = all.filter(({ name, type, pk }) => isText(name) || !(pk === 1 && /int/i.test(type)))
    const values = filled.map(({ name }) => (isText(name) ? valueFor(handlings[table]![name]!) : 0))
    const names = filled.map(({ name }) => `"${name}"`).join(", ")
    database.prepare(`insert into "${table}" (${names}) values (${filled.map(() => "?").join(", ")})`).run(values)
  }
  const planted = await bytes()
  expect(planted.includes("zebra")).toBe(true)
  database.close()

  expect(await store.transaction((tx) => tx.forgetting.word(WORD))).toBeGreaterThan(40)
  await store.purge()
  expect((await bytes()).includes("zebra")).toBe(false)
  expect((await bytes()).includes("beside it")).toBe(true)
  const again = new Database(join(dir, "t.db"), { readonly: true })
  for (const { table, column } of textColumns(again)) {
    if (handlings[table]![column] !== "json") continue
    const rows = again.prepare(`select "${column}" as value from "${table}"`).all() as { value: string }[]
    for (const { value } of rows) expect(() => JSON.parse(value), `${table}.${column}`).not.toThrow()
  }
  again.close()
})

function valueFor(handling: Handling): string {
  if (handling === "json") return JSON.stringify({ [`${WORD} key`]: [`beside it ${WORD}`], number: 1 })
  return typeof handling === "string" ? `${WORD} beside it` : "plain"
}

async function bytes(): Promise<Buffer> {
  return Buffer.concat(readdirSync(dir).map((name) => readFileSync(join(dir, name))))
}
