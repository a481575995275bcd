/** The object without its undefined properties, for types in which an optional property may not be undefined. */
export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

type Missing<T> = { [K in keyof T]-?: [Extract<T[K], null | undefined>] extends [never] ? never : K }[keyof T]

/** The object without its null and undefined properties: in an answer, absent means none. */
export function present<T extends object>(values: T): Omit<T, Missing<T>> & { [K in Missing<T>]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as never
}
