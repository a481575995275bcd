import { EventEmitter } from "node:events"
import { Kysely } from "kysely"
import { Migrator } from "kysely/migration"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../domain/store.ts"
import { makeAnalyticsTable } from "./analytics.ts"
import { makeBindings } from "./bindings.ts"
import { makeBots, makeBudgets, makeCards, makeHolds, makePeople, makeRoles } from "./channels.ts"
import { makeDeliveries } from "./deliveries.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import { makeForgetting } from "./forgetting.ts"
import { makeJournal } from "./journal.ts"
import { migrations } from "./migrations/list.ts"
import { makePairs } from "./pairs.ts"
import { makeAudit, makePermissions } from "./permissions.ts"
import { makePosts } from "./posts.ts"
import { makeProjects } from "./projects.ts"
import { makeRoutes } from "./routes.ts"
import { makeRuns } from "./runs.ts"
import { makeSessionTable } from "./sessions.ts"
import { makeSources } from "./sources.ts"
import type { Tables } from "./tables.ts"
import { makeTaskStates } from "./task-states.ts"
import { makeThoughts } from "./thoughts.ts"
import { makeTopics } from "./topics.ts"
import { makeTurns } from "./turns.ts"
import { makeUpdates } from "./updates.ts"

/** Opens the one Store on either database and brings its tables up to date, unless it is only read. */
export async function openStore(dialect: StoreDialect, { readOnly = false } = {}): Promise<Store> {
  const db = new Kysely<Tables>({ dialect: await dialect.open() })
  const wakes = new EventEmitter().setMaxListeners(0)
  const wake = () => wakes.emit("wake")
  let stopListening: (() => Promise<void>) | undefined
  try {
    if (!readOnly) await migrate(db, dialect)
    stopListening = await dialect.listen?.(wake)
  } catch (error) {
    await db.destroy()
    throw error
  }

  const build = (on: Db, inside: boolean): { store: Store; moved(): boolean } => {
    let moved = false
    const onMoved = async () => {
      moved = true
      if (!inside) wake()
      await dialect.notify?.(on)
    }
    const journal = makeJournal(on, dialect, onMoved)
    const deliveries = makeDeliveries(on, dialect, onMoved)
    const store: Store = {
      projects: makeProjects(on, dialect),
      sessions: makeSessionTable(on, dialect),
      runs: makeRuns(on),
      thoughts: makeThoughts(on, dialect),
      turns: makeTurns(on, dialect),
      sources: makeSources(on, dialect),
      forgetting: makeForgetting(on, dialect),
      purge: () => dialect.purge(on),
      rest: async () => dialect.rest?.(on),
      bindings: makeBindings(on, dialect),
      journal: inside
        ? journal
        : { ...journal, append: (entries) => store.transaction((tx) => tx.journal.append(entries)) },
      deliveries: inside
        ? deliveries
        : {
            ...deliveries,
            lease: (request, nowMs) => store.transaction((tx) => tx.deliveries.lease(request, nowMs)),
            cutOff: (request, nowMs) => store.transaction((tx) => tx.deliveries.cutOff(request, nowMs)),
          },
      routes: makeRoutes(on),
      posts: makePosts(on),
      updates: makeUpdates(on, dialect),
      taskStates: makeTaskStates(on),
      pairs: makePairs(on, dialect),
      permissions: makePermissions(on, dialect, onMoved),
      audit: makeAudit(on),
      analytics: makeAnalyticsTable(on, dialect),
      topics: makeTopics(on),
      bots: makeBots(on),
      people: makePeople(on),
      budgets: makeBudgets(on),
      cards: makeCards(on),
      holds: makeHolds(on),
      roles: makeRoles(on),
      async transaction(work, { readAgain = false } = {}) {
        if (inside) throw new Error("transactions do not nest")
        const run = (on: Kysely<Tables>) =>
          on.transaction().execute(async (trx) => {
            if (readAgain) await dialect.relaxInside?.(trx)
            const tx = build(trx, true)
            return { result: await work(tx.store), woke: tx.moved() }
          })
        const { result, woke } =
          readAgain && dialect.relaxAround ? await relaxed(db, dialect.relaxAround, run) : await run(db)
        if (woke) wake()
        return result
      },
      onWake(listener) {
        wakes.on("wake", listener)
        return () => wakes.off("wake", listener)
      },
      facts: async () => ({
        kind: dialect.kind,
        place: dialect.place,
        ...(await dialect.facts(on)),
        ...(await counts(on)),
      }),
      async close() {
        wakes.removeAllListeners()
        await stopListening?.()
        await db.destroy()
      },
    }
    return { store, moved: () => moved }
  }
  return build(db, false).store
}

/** The setting is the connection's, so nobody else may use the connection meanwhile. */
function relaxed<T>(
  db: Kysely<Tables>,
  set: (on: Db, relaxed: boolean) => Promise<void>,
  run: (on: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (on) => {
    await set(on, true)
    try {
      return await run(on)
    } finally {
      await set(on, false)
    }
  })
}

async function migrate(db: Kysely<Tables>, dialect: StoreDialect): Promise<void> {
  const migrator = new Migrator({
    db,
    migrationTableName: "migrations",
    migrationLockTableName: "migrations_lock",
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(migrations).map(([name, { up }]) => [name, { up: (on: Kysely<Tables>) => up(on, dialect) }]),
        ),
    },
  })
  const { error } = await migrator.migrateToLatest()
  if (!error) return
  if (
    error instanceof Error &&
    /corrupted migrations: previously executed migration .* is missing/.test(error.message)
  ) {
    throw new Failure("store_newer", "the database was written by a newer Throughline", {}, { cause: error })
  }
  throw dialect.translate(error) ?? error
}

async function counts(db: Db): Promise<{ sessions: number; thoughts: number; journal: number }> {
  const count = async (table: "sessions" | "thoughts" | "journal") => {
    const row = await db
      .selectFrom(table)
      .select((e) => e.fn.countAll<number>().as("n"))
      .executeTakeFirstOrThrow()
    return Number(row.n)
  }
  return { sessions: await count("sessions"), thoughts: await count("thoughts"), journal: await count("journal") }
}
