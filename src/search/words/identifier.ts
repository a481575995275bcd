import { stem } from "./stem.ts"

export interface Identifier {
  /** The whole as one word; may be "". */
  word: string
  /** Null for a simple word. */
  parts: readonly string[] | null
  /** Start and end of each part, alternating. */
  bounds: readonly number[]
}

/** Splits an ASCII identifier: getUserById is also get, user, by and id. */
export const identifier = cached(split)

/** A compound as one word, without its joints: well-known and well_known are the same. */
export const joined = cached((raw) => stem(lowered(raw)))

/** Whether the character classes change too often for handwritten text: base64, hashes, keys. */
export function mostlyNoise(text: string, start: number, end: number): boolean {
  let letters = 0
  let turns = 0
  let last = 0
  for (let at = start; at < end; at++) {
    const kind = KIND[text.charCodeAt(at) & 127]!
    if (kind !== 0) {
      letters++
      if (last !== 0 && kind !== last && !(last === UPPER && kind === LOWER)) turns++
    }
    last = kind
  }
  return turns > letters * 0.28
}

export function isHex(text: string, start: number, end: number): boolean {
  return /^[\da-f]+$/i.test(text.slice(start, end))
}

const LONGEST_WORD = 64
const CACHED = 16_384
/** An identifier that changes between letters and digits more often is a short hash or the like. */
const MOST_TURNS = 3

const DIGIT = 1
const LOWER = 2
const UPPER = 3
const KIND = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 48 && code <= 57) return DIGIT
  if (code >= 97 && code <= 122) return LOWER
  return code >= 65 && code <= 90 ? UPPER : 0
})

/** Two bounded generations: hits move to the young one, the old one is dropped as a whole. */
function cached<Value>(make: (raw: string) => Value): (raw: string) => Value {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  return (raw) => {
    const found = young.get(raw)
    if (found !== undefined) return found
    const value = old.get(raw) ?? make(raw)
    if (young.size >= CACHED) {
      old = young
      young = new Map()
    }
    young.set(copied(raw), value)
    return value
  }
}

/** A slice would keep the whole text in memory. */
function copied(slice: string): string {
  return Buffer.from(slice, "latin1").toString("latin1")
}

function lowered(raw: string): string {
  const plain = copied(raw).toLowerCase().replace(/[-_]/g, "")
  return plain.length > LONGEST_WORD ? copied(plain.slice(0, LONGEST_WORD)) : plain
}

function split(raw: string): Identifier {
  const word = stem(lowered(raw))
  const bounds = boundsOf(raw)
  const isOne = bounds.length === 2 && bounds[1]! - bounds[0]! === raw.length
  if (isOne || isShortHash(raw)) return { word, parts: null, bounds: [] }
  const kept: number[] = []
  const parts: string[] = []
  for (let i = 0; i < bounds.length; i += 2) {
    const part = stem(lowered(raw.slice(bounds[i]!, bounds[i + 1]!)))
    // A single letter between two other parts means nothing.
    if (part === word || (part.length === 1 && part > "9")) continue
    parts.push(part)
    kept.push(bounds[i]!, bounds[i + 1]!)
  }
  return { word, parts: parts.length === 0 ? null : parts, bounds: kept }
}

/** Parts begin after an underscore, at aB, at ABc, and between letters and digits. */
function boundsOf(raw: string): number[] {
  const bounds: number[] = []
  let start = 0
  let last = 0
  for (let at = 0; at <= raw.length; at++) {
    const kind = at < raw.length ? KIND[raw.charCodeAt(at)]! : 0
    const isNew =
      kind !== last &&
      (kind === 0 || last === 0 || kind === DIGIT || last === DIGIT || (last === LOWER && kind === UPPER))
    const isAcronymsEnd = last === UPPER && kind === LOWER && at - start > 1 && !isPlural(raw, at)
    if (isNew || isAcronymsEnd) {
      const end = isAcronymsEnd ? at - 1 : at
      if (last !== 0 && end > start) bounds.push(start, end)
      start = end
    }
    last = kind
  }
  return bounds
}

/** The s of URLs and IDs. */
function isPlural(raw: string, at: number): boolean {
  return raw[at] === "s" && (at + 1 === raw.length || KIND[raw.charCodeAt(at + 1)] !== LOWER)
}

function isShortHash(raw: string): boolean {
  let turns = 0
  let last = 0
  for (let at = 0; at < raw.length; at++) {
    const kind = KIND[raw.charCodeAt(at)]! === DIGIT ? DIGIT : LOWER
    if (last !== 0 && kind !== last) turns++
    last = kind
  }
  return turns > MOST_TURNS || (raw.length >= 12 && mostlyNoise(raw, 0, raw.length))
}
