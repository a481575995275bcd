import type { Dialect, Kysely, RawBuilder, SqlBool, Transaction } from "kysely"
import type { Failure } from "../../domain/failure.ts"
import type { PutTurn } from "../../domain/store.ts"
import type { Tables } from "../schema.ts"
import type { TurnRow } from "../tables/turns.ts"

export type Db = Kysely<Tables> | Transaction<Tables>

/** Where the two databases differ. A query that must differ, differs here and nowhere else. */
export interface StoreDialect {
  kind: string
  /** What a person is shown: a path, or a URL without its password. */
  place: string
  /** Column types for the migrations: a number that counts up, and a 64-bit integer. */
  types: { counter: "integer" | "bigserial"; long: "integer" | "bigint" }
  open(): Promise<Dialect>
  /** Turns the driver's error into a Failure, or leaves it to be a bug. */
  translate(error: unknown): Failure | undefined
  /** Stops waiting for the disk at commits: around a transaction, or inside one. */
  relaxAround?(db: Db, relaxed: boolean): Promise<void>
  relaxInside?(db: Db): Promise<void>
  /**
   * The rows of a query that need not wait for its turn on the connection; undefined when it must. Waiting costs more than
   * the query, even when nobody is in front.
   */
  runAtOnce?(db: Db, text: string, parameters: readonly unknown[], how: { isRead: boolean }): unknown[] | undefined
  /** Journal numbers must become visible in order, or a consumer steps over one. */
  lockJournal(db: Db): Promise<void>
  lockSession(db: Db, sessionId: string): Promise<void>
  /** Two daemons that lease at the same moment must see each other's leases. */
  lockLeases(db: Db): Promise<void>
  /** Appended to the query that picks deliveries, so that two daemons never wait for each other. */
  skipLocked: boolean
  /** A substring, by its exact characters. */
  contains(column: string, text: string): RawBuilder<SqlBool>
  /** A number in a column that holds JSON; null where it is not there. */
  jsonNumber(column: string, key: string): RawBuilder<number | null>
  /** Overwrites what deleted rows left behind. */
  purge(db: Db): Promise<void>
  /** Where a write-ahead log of our own lies beside the database: false while somebody reads from it. */
  emptyLog?(db: Db): Promise<boolean>
  /** Drops what is cached in this process, where something is. */
  rest?(db: Db): Promise<void>
  /** Inserts, or updates where something reads differently; the fastest way there is, because imports wait for it. */
  putTurns(db: Db, rows: TurnRow[], options: { isTimeLent: boolean }): Promise<PutTurn[]>
  facts(db: Db): Promise<{ sizeBytes: number; version: string }>
  /** Tells other daemons on the same store; part of the transaction it is called in. */
  notify?(db: Db): Promise<void>
  listen?(onWake: () => void): Promise<() => Promise<void>>
}
