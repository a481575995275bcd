import type { SkippedCapture } from "../../../domain/capture.ts"

export type Json = Record<string, unknown>

/** The object on a line. Throws on anything else. */
export function parseLine(line: Buffer): Json {
  let from = 0
  // A crash of the machine can leave zeros in place of the last write; the next record follows them.
  while (line[from] === 0) from++
  const value = asObject(JSON.parse(line.toString("utf8", from)))
  if (!value) throw new TypeError("not an object")
  return value
}

export const asObject = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined
export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
export const asNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)
export const asObjects = (value: unknown): Json[] => asArray(value).map((item) => asObject(item) ?? {})

/** The object in a text; undefined for anything else. */
export function jsonIn(text: unknown): Json | undefined {
  try {
    return asObject(JSON.parse(String(text)))
  } catch {
    return undefined
  }
}

export function skipped(kind: string, unknown = false): SkippedCapture {
  return unknown ? { type: "skipped", kind, unknown } : { type: "skipped", kind }
}

/** The string under a key of the outermost object, without parsing; undefined if it is not in the first bytes. */
export function peekString(line: Buffer, key: string, within = 1024): string | undefined {
  const end = Math.min(line.length, within)
  let depth = 0
  let isKey = false
  for (let at = 0; at < end; at++) {
    const byte = line[at]
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--
    if (byte === OPEN_OBJECT || byte === COMMA) isKey = true
    if (byte !== QUOTE) continue
    const close = closingQuote(line, at, end)
    if (depth === 1 && isKey && close - at - 1 === key.length && line.toString("latin1", at + 1, close) === key)
      return stringAfter(line, close, end)
    isKey = false
    at = close
  }
  return undefined
}

const [QUOTE, COMMA, COLON, BACKSLASH, SPACE] = [34, 44, 58, 92, 32]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

/** `end` if the string continues past it. */
function closingQuote(line: Buffer, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    if (line[at] === BACKSLASH) at++
    else if (line[at] === QUOTE) return at
  }
  return end
}

function stringAfter(line: Buffer, keyEnd: number, end: number): string | undefined {
  let at = keyEnd + 1
  while (line[at] === COLON || line[at] === SPACE) at++
  const close = closingQuote(line, at, end)
  const value = line.toString("utf8", at + 1, close)
  return line[at] !== QUOTE || close >= end || value.includes("\\") ? undefined : value
}
