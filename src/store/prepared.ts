import type { Compilable, CompiledQuery } from "kysely"
import type { Db, StoreDialect } from "./dialect.ts"

/**
 * A query whose text is built once per database. Building costs more than running for the small queries that every call
 * makes. The parameters must appear in the query once each, in the order given.
 */
export function prepared<Parameters extends unknown[], Row>(
  build: (db: Db, ...parameters: Parameters) => Compilable<Row>,
): (db: Db, dialect: StoreDialect, ...parameters: Parameters) => Promise<Row[]> {
  const texts = new WeakMap<StoreDialect, CompiledQuery<Row>>()
  return async (db, dialect, ...parameters) => {
    let text = texts.get(dialect)
    if (!text) {
      text = build(db, ...parameters).compile()
      // Constants in the query are parameters too, and would be lost below.
      if (text.parameters.length !== parameters.length) throw new Error("a prepared query has parameters of its own")
      texts.set(dialect, text)
    }
    const { rows } = await db.executeQuery<Row>({ ...text, parameters })
    return rows
  }
}
