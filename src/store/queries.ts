import type { Insertable, Selectable, SelectQueryBuilder, Updateable } from "kysely"
import type { Db } from "./dialects/dialect.ts"
import type { Tables } from "./schema.ts"

/** Kysely cannot resolve a table that is a type parameter: inside, one table stands for all of them. */
const ANY = "holds"
type Any = typeof ANY

type Name = keyof Tables
type Row<T extends Name> = Selectable<Tables[T]>
/** Columns that must equal these values; null is "is null". */
type Equal<T extends Name> = Partial<Row<T>>

export function select<T extends Name>(db: Db, table: T, equal?: Equal<T>): SelectQueryBuilder<Tables, T, Row<T>> {
  const all = db.selectFrom(table as Any).selectAll()
  const query = equal ? all.where((e) => e.and(defined(equal))) : all
  return query as unknown as SelectQueryBuilder<Tables, T, Row<T>>
}

/** Returns the number of deleted rows. */
export async function remove<T extends Name>(db: Db, table: T, equal: Equal<T>): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom(table as Any)
    .where((e) => e.and(defined(equal)))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Returns whether a row was updated. */
export async function update<T extends Name>(
  db: Db,
  table: T,
  equal: Equal<T>,
  set: Updateable<Tables[T]>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable(table as Any)
    .set(set as Updateable<Tables[Any]>)
    .where((e) => e.and(defined(equal)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Returns false where such a row exists already. */
export async function insertNew<T extends Name>(db: Db, table: T, row: Insertable<Tables[T]>): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto(table as Any)
    .values(row as unknown as Insertable<Tables[Any]>)
    .onConflict((c) => c.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows! > 0n
}

/** Where a row with the same key exists, it is given `change`: by default the whole row. */
export async function upsert<T extends Name>(
  db: Db,
  table: T,
  key: (keyof Tables[T] & string)[],
  row: Insertable<Tables[T]>,
  change: Updateable<Tables[T]> = row as Updateable<Tables[T]>,
): Promise<void> {
  await db
    .insertInto(table as Any)
    .values(row as unknown as Insertable<Tables[Any]>)
    .onConflict((c) => c.columns(key as never[]).doUpdateSet(change as Updateable<Tables[Any]>))
    .execute()
}

export async function many<R, V>(query: { execute(): Promise<R[]> }, decode: (row: R) => V): Promise<V[]> {
  return (await query.execute()).map((row) => decode(row))
}

export async function one<R, V>(
  query: { executeTakeFirst(): Promise<R | undefined> },
  decode: (row: R) => V,
): Promise<V | undefined> {
  const row = await query.executeTakeFirst()
  return row === undefined ? undefined : decode(row)
}

/** Kysely leaves out conditions that are undefined: such a query would match, and could delete, every row. */
function defined<T extends object>(equal: T): T {
  if (Object.values(equal).includes(undefined)) throw new Error("the value of a condition is undefined")
  return equal
}
