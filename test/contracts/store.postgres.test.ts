import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import type { Store } from "../../src/domain/store.ts"
import { postgres } from "../../src/store/dialects/postgres.ts"
import { openStore } from "../../src/store/open.ts"
import { type PostgresServer, startPostgres } from "../fixtures/postgres.ts"
import { afterCodexSources, migrateCodexSources } from "./store/codex-sources.ts"
import { addSession, LEASE_MS, leasedKeys, leaseFor, NOW, newDelivery, newThought, range } from "./store/examples.ts"
import { storeContract } from "./store.ts"

let server: PostgresServer
let sharedUrl: string
beforeAll(async () => {
  server = await startPostgres()
  sharedUrl = await server.createDatabase()
})
afterAll(() => server?.stop())

storeContract("the Store on PostgreSQL", async () => {
  const open = () => openStore(postgres({ url: sharedUrl }))
  const store = await open()
  let current = store
  return {
    store,
    async reopen() {
      await current.close()
      current = await open()
      return current
    },
    async dispose() {
      await current.close()
      await server.emptyDatabase(sharedUrl)
    },
  }
})

describe("the PostgreSQL server", () => {
  let url: string
  let stores: Store[]
  beforeEach(async () => {
    url = await server.createDatabase()
    stores = []
  })
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await server.dropDatabase(url)
  })
  const open = async () => {
    const store = await openStore(postgres({ url }))
    stores.push(store)
    return store
  }

  test("daemons that start at the same time on an empty database all come up", async () => {
    const opened = await Promise.all(range(5).map(open))
    const { id } = await addSession(opened[0]!)
    for (const store of opened) expect((await store.sessions.byId(id))?.id).toBe(id)
  })

  test("a wake in one daemon reaches the other", async () => {
    const [one, other] = [await open(), await open()]
    const listener = vi.fn()
    other.onWake(listener)
    await one.transaction((tx) => tx.journal.append([{ kind: "made", atMs: NOW }]))
    await vi.waitFor(() => expect(listener).toHaveBeenCalled(), 3000)
    listener.mockClear()
    await one.deliveries.enqueue(newDelivery("a1"), NOW)
    await vi.waitFor(() => expect(listener).toHaveBeenCalled(), 3000)
  })

  test("two daemons never lease the same delivery", async () => {
    const daemons = [await open(), await open()]
    for (const index of range(40))
      await daemons[0]!.deliveries.enqueue(newDelivery(`${index}`, { lane: `${index}` }), NOW)
    const keys: string[] = []
    for (let round = 0; keys.length < 40 && round < 40; round++) {
      const leases = range(10).map((index) => leasedKeys(daemons[index % 2]!, `daemon ${index % 2}`, NOW, { limit: 2 }))
      keys.push(...(await Promise.all(leases)).flat())
    }
    expect(keys).toHaveLength(40)
    expect(new Set(keys).size).toBe(40)
  })

  test("a lane stays one at a time when an earlier delivery is committed late", async () => {
    const store = await open()
    await store.transaction(async (tx) => {
      await tx.deliveries.enqueue(newDelivery("a1"), NOW)
      await store.deliveries.enqueue(newDelivery("a2"), NOW)
      expect(await leasedKeys(store, "me")).toEqual(["a2"])
    })
    expect(await leasedKeys(store, "you")).toEqual([])
    const [a2] = (await store.deliveries.pending("a")).filter((delivery) => delivery.key === "a2")
    await store.deliveries.settle(a2!.seq, "me", "done", null, NOW)
    expect(await leasedKeys(store, "you")).toEqual(["a1"])
  })

  test("a lane stays one at a time when two daemons lease in the same moment", async () => {
    const store = await open()
    const [enqueued, leased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const [commitEnqueue, commitLease] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const early = store.transaction(async (tx) => {
      await tx.deliveries.enqueue(newDelivery("a1"), NOW)
      enqueued.resolve()
      await commitEnqueue.promise
    })
    await enqueued.promise
    await store.deliveries.enqueue(newDelivery("a2"), NOW)
    const mine = store.transaction(async (tx) => {
      const keys = await leasedKeys(tx, "me")
      leased.resolve()
      await commitLease.promise
      return keys
    })
    await leased.promise
    commitEnqueue.resolve()
    await early
    const yours = leasedKeys(store, "you")
    await sleep(100)
    commitLease.resolve()
    expect([await mine, await yours]).toEqual([["a2"], []])
  })

  test("a lease neither waits for a delivery that is being settled nor takes it", async () => {
    const store = await open()
    for (const key of ["a1", "b1"]) await store.deliveries.enqueue(newDelivery(key), NOW)
    const [a1] = await store.deliveries.lease(leaseFor("me", { limit: 1 }), NOW)
    await store.transaction(async (tx) => {
      await tx.deliveries.settle(a1!.seq, "me", "done", null, NOW)
      expect(await leasedKeys(store, "you", NOW + LEASE_MS)).toEqual(["b1"])
    })
    expect((await store.deliveries.byKey("a1"))?.state).toBe("done")
  })

  test("when the server cuts every connection, the transaction fails, the store goes on and wakes come again", async () => {
    const [store, other] = [await open(), await open()]
    const { id } = await addSession(store)
    const listener = vi.fn()
    other.onWake(listener)
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    const cut = store.transaction(async (tx) => {
      await tx.thoughts.add(newThought(id, 1))
      await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      )
      await sleep(100)
      await tx.thoughts.add(newThought(id, 2))
    })
    await expect(cut).rejects.toMatchObject({ name: "Failure", code: "store_unreachable" })
    await admin.end()
    expect(await store.thoughts.all(id)).toEqual([])

    await vi.waitFor(() => expect(listener, "told that it may have missed something").toHaveBeenCalled(), 60_000)
    listener.mockClear()
    await store.journal.append([{ kind: "made", atMs: NOW }])
    await vi.waitFor(() => expect(listener).toHaveBeenCalled(), 3000)
  })

  test("a wrong password is a store out of reach, and no place shows the right one", async () => {
    const store = await open()
    expect((await store.facts()).place).toMatch(/^postgres:\/\/throughline:\*\*\*@127\.0\.0\.1:\d+\/t\d+$/)
    const wrong = openStore(postgres({ url: url.replace(":secret@", ":guess@") }))
    await expect(wrong).rejects.toMatchObject({ name: "Failure", code: "store_unreachable" })
    expect(postgres({ url: "postgres://h/db?user=u&password=secret" }).place).not.toContain("secret")
  })

  test("a database in which sources of Codex were known by their paths knows them by their names", async () => {
    await migrateCodexSources(await open(), postgres({ url }))
    await afterCodexSources(await open())
  })

  test("tables of an index that was shared once are dropped, with every word in them", async () => {
    await open()
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query("delete from migrations where name >= '0022'")
    for (const table of ["index_terms", "index_vectors"]) await admin.query(`create table ${table} (word text)`)
    await open()
    const { rows } = await admin.query("select tablename from pg_tables where tablename like 'index%'")
    expect(rows).toEqual([])
    await admin.end()
  })

  test("a database that a newer Throughline has written is left alone", async () => {
    await open()
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query("insert into migrations (name, timestamp) values ('9999_future', '2030-01-01')")
    await admin.end()
    await expect(openStore(postgres({ url }))).rejects.toMatchObject({ name: "Failure", code: "store_newer" })
  })
})

describe("a PostgreSQL server out of reach", () => {
  test.each([
    ["no server", (right: string) => right.replace(/:\d+\//, ":1/")],
    ["no such database", (right: string) => `${right}_none`],
    ["no such host", (right: string) => right.replace("127.0.0.1", "nowhere.invalid")],
  ])("%s is a Failure that says so", async (_, wrong) => {
    await expect(openStore(postgres({ url: wrong(sharedUrl) }))).rejects.toMatchObject({
      name: "Failure",
      code: "store_unreachable",
    })
  })

  test.each(["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN", "EPIPE", "57P01", "08006"])(
    "the error %s is a Failure that says so",
    (code) => {
      const failure = postgres({ url: sharedUrl }).translate(Object.assign(new Error("network"), { code }))
      expect(failure?.code).toBe("store_unreachable")
    },
  )
})
