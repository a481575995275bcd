import { Failure } from "./failure.ts"

export type Redact = (text: string) => string

/** The same value with every string in it changed, names included. */
export function inStrings<T>(value: T, change: (text: string) => string): T {
  const inside = (inner: unknown): unknown => {
    if (typeof inner === "string") return change(inner)
    if (Array.isArray(inner)) return inner.map(inside)
    if (typeof inner !== "object" || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([name, one]) => [change(name), inside(one)]))
  }
  return inside(value) as T
}

/** A secret in data is recognised by its form, or by the name before it. */
export function redactInside(data: Record<string, unknown>, redact: Redact): Record<string, unknown> {
  let named = data
  try {
    named = JSON.parse(redact(JSON.stringify(data))) as Record<string, unknown>
  } catch {
    // What was taken out had a quotation mark at its edge; text by text is left.
  }
  return inStrings(named, redact)
}

/** Nothing can be taken out of an id: it would be another one. The value is not in the message, which may be logged. */
export function refuseSecret(parameter: string, value: string, redact: Redact): void {
  if (redact(value) === value) return
  const why = `${parameter} looks like a secret, and ids are stored unredacted: choose another`
  throw new Failure("bad_input", why, { parameter })
}
