import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterAll, beforeAll, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { type PostgresServer, startPostgres } from "../fixtures/postgres.ts"

const SOON = { timeout: 60_000, interval: 200 }
const SLOW_MS = 240_000

let server: PostgresServer
let one: TestHome
let other: TestHome
beforeAll(async () => {
  server = await startPostgres()
  const url = await server.createDatabase()
  const embedder = JSON.stringify({ kind: "hashed", dimension: 64 })
  const machine = () => makeHome({ THROUGHLINE_DATABASE_URL: url, THROUGHLINE_EMBEDDER: embedder })
  one = machine()
  other = machine()
}, SLOW_MS)
afterAll(async () => {
  await one?.dispose()
  await other?.dispose()
  await server?.stop()
})

/** A conversation of this machine's agent, one prompt and reply about each bird. */
function write(home: TestHome, session: string, ...birds: string[]): void {
  const folder = join(home.env.HOME!, ".claude/projects/-w-app")
  mkdirSync(folder, { recursive: true })
  const lines = birds.flatMap((bird, at) =>
    ["user", "assistant"].map((type) => ({
      type,
      uuid: `${session}-${type}-${at}`,
      sessionId: session,
      timestamp: `2026-08-16T08:00:0${at}.000Z`,
      cwd: "/w/app",
      message: { role: type, content: `the ${bird} of ${type}` },
    })),
  )
  writeFileSync(join(folder, `${session}.jsonl`), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`)
}

const found = async (home: TestHome, word: string) =>
  (await home.json<{ hits: unknown[] }>("search", word).catch(() => ({ hits: [] }))).hits.length > 0
/** Whether the bytes of the index, its log included, have the word. */
const indexHas = (home: TestHome, word: string) =>
  readdirSync(home.dir).some(
    (name) => name.startsWith("index.db") && readFileSync(join(home.dir, name), "latin1").includes(word),
  )
function vectors(home: TestHome): number {
  const db = new Database(join(home.dir, "vectors.db"), { readonly: true })
  try {
    return db.prepare("select count(*) from vectors").pluck().get() as number
  } finally {
    db.close()
  }
}
const forget = (home: TestHome, word: string) => home.run("forget", "--containing", word, "--yes")

test("machines that share a database have an index each, and what one forgets leaves them all", {
  timeout: SLOW_MS,
}, async () => {
  write(one, "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2001", "pelican", "heron", "stork", "curlew")
  for (const home of [one, other]) expect((await home.run("start")).code).toBe(0)
  await one.run("import")
  for (const home of [one, other]) {
    await expect.poll(() => found(home, "pelican"), SOON).toBe(true)
    await expect.poll(() => vectors(home), SOON).toBe(4)
    await expect.poll(() => indexHas(home, "pelican"), SOON).toBe(true)
  }

  // Both run.
  expect((await forget(other, "heron")).code).toBe(0)
  for (const home of [other, one]) {
    await expect.poll(() => indexHas(home, "heron"), SOON).toBe(false)
    await expect.poll(() => vectors(home), SOON).toBe(3)
  }

  // One of them is off, and comes back.
  await other.run("stop")
  expect((await forget(one, "pelican")).code).toBe(0)
  expect([indexHas(one, "pelican"), indexHas(other, "pelican")]).toEqual([false, true])
  await other.run("start")
  await expect.poll(() => indexHas(other, "pelican"), SOON).toBe(false)
  await expect.poll(() => vectors(other), SOON).toBe(2)
  expect(await found(other, "stork")).toBe(true)

  // One of them lost its index meanwhile: it is filled again, and its vectors lose what was forgotten all the same.
  await other.run("stop")
  for (const suffix of ["", "-wal", "-shm"]) rmSync(join(other.dir, `index.db${suffix}`), { force: true })
  expect((await forget(one, "stork")).code).toBe(0)
  await other.run("start")
  await expect.poll(() => found(other, "curlew"), SOON).toBe(true)
  await expect.poll(() => vectors(other), SOON).toBe(1)
  expect(indexHas(other, "stork")).toBe(false)
})

test("an index of one archive is not used for another", { timeout: SLOW_MS }, async () => {
  await other.run("stop")
  other.env.THROUGHLINE_DATABASE_URL = await server.createDatabase()
  write(other, "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2002", "osprey")
  await other.run("start")
  await other.run("import")
  await expect.poll(() => found(other, "osprey"), SOON).toBe(true)
  expect(indexHas(other, "curlew")).toBe(false)
  await expect.poll(() => vectors(other), SOON).toBe(1)
})
