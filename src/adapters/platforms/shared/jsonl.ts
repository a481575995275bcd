export type Json = Record<string, unknown>

/** The object on a line. Throws on a torn line, on garbage, and on JSON that is no object. */
export function parseLine(line: Buffer): Json {
  const value: unknown = JSON.parse(line.toString("utf8"))
  if (!isObject(value)) throw new TypeError("not an object")
  return value
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export const asObject = (value: unknown): Json | undefined => (isObject(value) ? value : undefined)
export const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
export const asNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)
export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/**
 * The string under a key of the outermost object, without parsing the line; undefined where it does not come within
 * the first bytes, so that the line must be parsed. Only for keys and values without escapes.
 */
export function peekString(line: Buffer, key: string, within = 1024): string | undefined {
  const end = Math.min(line.length, within)
  let depth = 0
  let expectsKey = false
  for (let at = 0; at < end; at++) {
    const byte = line[at]!
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++
      expectsKey = byte === OPEN_OBJECT
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--
    else if (byte === COMMA) expectsKey = true
    else if (byte === QUOTE) {
      const close = closingQuote(line, at, end)
      if (close < 0) return undefined
      if (depth === 1 && expectsKey && close - at - 1 === key.length && line.latin1Slice(at + 1, close) === key)
        return stringAfterColon(line, close + 1, end)
      expectsKey = false
      at = close
    }
  }
  return undefined
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const SPACE = 32

function closingQuote(line: Buffer, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    if (line[at] === BACKSLASH) at++
    else if (line[at] === QUOTE) return at
  }
  return -1
}

function stringAfterColon(line: Buffer, from: number, end: number): string | undefined {
  let at = from
  while (at < end && (line[at] === COLON || line[at] === SPACE)) at++
  if (line[at] !== QUOTE) return undefined
  const close = closingQuote(line, at, end)
  return close < 0 ? undefined : line.toString("utf8", at + 1, close)
}
