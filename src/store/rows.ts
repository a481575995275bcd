/** Columns are in snake_case with JSON as text and flags as 0 or 1; values are in camelCase with objects and booleans. */
type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : S
type Columns<T> = { [K in keyof T & string as Snake<K>]: unknown }
/** The columns of a domain type as the database has them: without its brands and literals. */
export type ColumnsOf<T> = { [K in keyof T & string as Snake<K>]: Plain<T[K]> }
type Plain<V> = V extends boolean | number ? number : V extends null ? null : string
type Encoded<V> = V extends boolean ? number : V extends number | string | null | undefined ? V : string

/** How a row of this type is decoded: which of its fields are JSON, and which are flags. */
export function rowDecoder<T>({
  json = [],
  flags = [],
}: {
  json?: (keyof T & string)[]
  flags?: (keyof T & string)[]
}) {
  const decode = (name: string, value: unknown) => {
    if (value === null) return null
    if ((json as string[]).includes(name)) return JSON.parse(value as string)
    return (flags as string[]).includes(name) ? value === 1 : value
  }
  return (row: Columns<T>): T =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => {
        const name = camelOf(column)
        return [name, decode(name, value)]
      }),
    ) as T
}

/** The columns of a value; fields that are undefined are left out. */
export function toColumns<T extends object>(value: T): { [K in keyof T & string as Snake<K>]: Encoded<T[K]> } {
  const encode = (field: unknown) =>
    typeof field === "boolean" ? Number(field) : typeof field === "object" && field ? JSON.stringify(field) : field
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [[snakeOf(name), encode(field)]])),
  ) as ReturnType<typeof toColumns<T>>
}

const names = new Map<string, string>()
function camelOf(column: string): string {
  const known = names.get(column)
  if (known !== undefined) return known
  const name = column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  names.set(column, name)
  return name
}

const snakeOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
