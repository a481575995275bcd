import { EventEmitter } from "node:events"
import { Kysely, sql } from "kysely"
import { Migrator } from "kysely/migration"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../domain/store.ts"
import { after } from "../lib/clock.ts"
import { type AllTables, allTables, tablesWhenAsked } from "./all-tables.ts"
import type { Db, StoreDialect } from "./dialects/dialect.ts"
import { migrations } from "./migrations/list.ts"
import type { Tables } from "./schema.ts"

/** Opens the one Store on either database and brings its tables up to date, unless it is only read. */
export async function openStore(dialect: StoreDialect, { readOnly = false } = {}): Promise<Store> {
  const db = new Kysely<Tables>({ dialect: await dialect.open() })
  const wakeUps = makeWakeUps()
  let stopListening: (() => Promise<void>) | undefined
  try {
    if (!readOnly) await migrate(db, dialect)
    stopListening = await dialect.listen?.(wakeUps.ring)
  } catch (error) {
    await db.destroy()
    throw error
  }

  /** What must be one step is a transaction of its own when none is open. */
  const allOutside = (on: Db, onMoved: () => Promise<void>): AllTables => {
    const tables = allTables(on, dialect, onMoved)
    return {
      ...tables,
      journal: { ...tables.journal, append: (entries) => store.transaction((tx) => tx.journal.append(entries)) },
      deliveries: {
        ...tables.deliveries,
        lease: (request, nowMs) => store.transaction((tx) => tx.deliveries.lease(request, nowMs)),
        cutOff: (request, nowMs) => store.transaction((tx) => tx.deliveries.cutOff(request, nowMs)),
      },
    }
  }

  const build = (on: Db, inside: boolean): { store: Store; moved(): boolean } => {
    let moved = false
    const onMoved = async () => {
      moved = true
      if (!inside) wakeUps.ring()
      await dialect.notify?.(on)
    }
    const tables = inside ? tablesWhenAsked(on, dialect, onMoved) : allOutside(on, onMoved)
    const rest: Omit<Store, keyof AllTables> = {
      purge: () => dialect.purge(on),
      emptyLog: async () => (await dialect.emptyLog?.(on)) ?? true,
      rest: async () => dialect.rest?.(on),
      async transaction(work, { durability = "full" } = {}) {
        if (inside) throw new Error("transactions do not nest")
        const run = (on: Kysely<Tables>) =>
          on.transaction().execute(async (trx) => {
            if (durability === "relaxed") await dialect.relaxInside?.(trx)
            const tx = build(trx, true)
            return { result: await work(tx.store), woke: tx.moved() }
          })
        const { result, woke } =
          durability === "relaxed" && dialect.relaxAround ? await relaxed(db, dialect.relaxAround, run) : await run(db)
        if (woke) wakeUps.ring()
        return result
      },
      onWake: wakeUps.on,
      async id() {
        const { rows } = await sql<{ timestamp: string }>`select min(timestamp) as timestamp from migrations`.execute(
          on,
        )
        return rows[0]!.timestamp
      },
      about: { kind: dialect.kind, place: dialect.place },
      facts: async () => ({
        kind: dialect.kind,
        place: dialect.place,
        ...(await dialect.facts(on)),
        ...(await counts(on)),
      }),
      async close() {
        wakeUps.close()
        await stopListening?.()
        await db.destroy()
      },
    }
    return { store: Object.assign(tables, rest), moved: () => moved }
  }
  const { store } = build(db, false)
  return store
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

/** Throttle: the first of a burst is reported at once, the rest together after this. */
const GATHER_MS = 10

export interface WakeUps {
  /** Wakes the listeners after the current response is out: it must not wait for their work. */
  ring(): void
  on(listener: () => void): () => void
  close(): void
}

export function makeWakeUps(): WakeUps {
  const listeners = new EventEmitter().setMaxListeners(0)
  let isPending = false
  let emittedAtMs = Number.NEGATIVE_INFINITY
  const emit = () => {
    isPending = false
    emittedAtMs = performance.now()
    listeners.emit("wake")
  }
  return {
    ring() {
      if (isPending) return
      isPending = true
      const leftMs = emittedAtMs + GATHER_MS - performance.now()
      if (leftMs <= 0) setImmediate(emit)
      else after(leftMs, emit)
    },
    on(listener) {
      listeners.on("wake", listener)
      return () => listeners.off("wake", listener)
    },
    close: () => void listeners.removeAllListeners(),
  }
}
