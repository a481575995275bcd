import type { Compilable, CompiledQuery } from "kysely"
import type { Db, StoreDialect } from "./dialect.ts"

/**
 * A query whose text is built once per database. Building costs more than running for the small queries that every call
 * makes. The parameters must appear in the query once each, in the order given.
 */
export function prepared<Parameters extends unknown[], Row>(
  build: (db: Db, ...parameters: Parameters) => Compilable<Row>,
): (db: Db, dialect: StoreDialect, ...parameters: Parameters) => Promise<Row[]> {
  const texts = new WeakMap<StoreDialect, { query: CompiledQuery<Row>; how: { isRead: boolean } }>()
  return async (db, dialect, ...parameters) => {
    let text = texts.get(dialect)
    if (!text) {
      const query = build(db, ...parameters).compile()
      // Constants in the query are parameters too, and would be lost below.
      if (query.parameters.length !== parameters.length) throw new Error("a prepared query has parameters of its own")
      if (query.parameters.some((value, at) => value !== parameters[at]))
        throw new Error("a prepared query has its parameters in another order")
      text = { query, how: { isRead: query.query.kind === "SelectQueryNode" } }
      texts.set(dialect, text)
    }
    const atOnce = dialect.runAtOnce?.(db, text.query.sql, parameters, text.how)
    if (atOnce) return atOnce as Row[]
    const { rows } = await db.executeQuery<Row>({ ...text.query, parameters })
    return rows
  }
}

/** The same for one row; `columns` are all that it has. */
export function preparedInsert<Column extends string, Row>(
  columns: readonly Column[],
  build: (db: Db, row: Record<Column, never>) => Compilable<Row>,
): (db: Db, dialect: StoreDialect, row: Record<Column, string | number | null>) => Promise<Row[]> {
  const insert = prepared((db, ...values: (string | number | null)[]) =>
    build(db, Object.fromEntries(columns.map((column, at) => [column, values[at]])) as Record<Column, never>),
  )
  return (db, dialect, row) => insert(db, dialect, ...columns.map((column) => row[column]))
}

/** The same for a row that may have some columns or others, one text for each set of them. Parameters after it follow it. */
export function preparedPerColumns<Columns extends object, Row = unknown, Parameters extends unknown[] = []>(
  build: (db: Db, row: Columns, ...parameters: Parameters) => Compilable<Row>,
): (db: Db, dialect: StoreDialect, row: Columns, ...parameters: Parameters) => Promise<Row[]> {
  const queries = new Map<string, ReturnType<typeof prepared<unknown[], Row>>>()
  return (db, dialect, row, ...parameters) => {
    const columns = Object.keys(row)
    const key = columns.join()
    let query = queries.get(key)
    if (!query) {
      query = prepared((on, ...given: unknown[]) => {
        const values = Object.fromEntries(columns.map((column, at) => [column, given[at]])) as Columns
        return build(on, values, ...(given.slice(columns.length) as Parameters))
      })
      queries.set(key, query)
    }
    return query(db, dialect, ...Object.values(row), ...parameters)
  }
}

const RUNS = [8, 32, 128, 512]

/** The same with any number of values for one parameter: in runs of a few lengths, the last value repeated to fill one. */
export function preparedRuns<Value, Row>(
  build: (db: Db, values: Value[]) => Compilable<Row>,
): (db: Db, dialect: StoreDialect, values: readonly Value[]) => Promise<Row[]> {
  const runs = new Map(RUNS.map((length) => [length, prepared((db, ...values: Value[]) => build(db, values))]))
  return async (db, dialect, values) => {
    const found: Row[] = []
    for (let at = 0; at < values.length; ) {
      const length = RUNS.find((each) => each >= values.length - at) ?? RUNS.at(-1)!
      const some = Array.from({ length }, (_, index) => values[Math.min(at + index, values.length - 1)]!)
      found.push(...(await runs.get(length)!(db, dialect, ...some)))
      at += length
    }
    return found
  }
}
