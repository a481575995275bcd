import { TopK } from "../../lib/top-k.ts"
import { BLOCK, BLOCKS_AT_ONCE, LARGEST, makeScan } from "./scan.ts"

/** Vectors in memory, two bits per component: 96 bytes for 384 components. */
export interface Codes {
  readonly size: number
  has(exchange: number): boolean
  put(exchange: number, values: Int8Array): void
  remove(exchange: number): void
  /** The most promising exchanges, unordered. `accept` is called only for those that would be among them. */
  best(query: Float32Array, count: number, accept?: (exchange: number) => boolean): number[]
}

/** Codes allocated at once. */
const AT_ONCE = BLOCKS_AT_ONCE * BLOCK
const PER_BYTE = 4

export function makeCodes(dimension: number): Codes {
  const codeBytes = Math.ceil(dimension / PER_BYTE)
  const scan = makeScan(codeBytes)
  /** By slot. */
  const exchanges: number[] = []
  const slots = new Map<number, number>()
  let room = 0

  /** The place of a code's first byte; the next ones follow at a block's width. */
  const placeOf = (slot: number) => Math.floor(slot / BLOCK) * BLOCK * codeBytes + (slot % BLOCK)

  return {
    get size() {
      return exchanges.length
    },
    has: (exchange) => slots.has(exchange),
    put(exchange, values) {
      const slot = slots.get(exchange) ?? exchanges.length
      if (slot === room) {
        scan.grow(BLOCKS_AT_ONCE)
        room += AT_ONCE
      }
      write(scan.codes, placeOf(slot), values)
      exchanges[slot] = exchange
      slots.set(exchange, slot)
    },
    remove(exchange) {
      const slot = slots.get(exchange)
      if (slot === undefined) return
      // Swap-remove.
      const last = exchanges.length - 1
      const { codes } = scan
      const [to, from] = [placeOf(slot), placeOf(last)]
      for (let at = 0; at < codeBytes * BLOCK; at += BLOCK) codes[to + at] = codes[from + at]!
      exchanges[slot] = exchanges[last]!
      slots.set(exchanges[slot]!, slot)
      slots.delete(exchange)
      exchanges.pop()
    },
    best(query, count, accept) {
      fillTables(scan.tables, query)
      const best = new TopK<ScoredExchange>(count, (a, b) => a.score < b.score)
      for (let from = 0; from < exchanges.length; from += AT_ONCE) {
        const codes = Math.min(AT_ONCE, exchanges.length - from)
        offer(scan.scores(from / BLOCK, Math.ceil(codes / BLOCK)), exchanges, from, codes, best, accept)
      }
      return best.items().map(({ exchange }) => exchange)
    },
  }
}

/**
 * The sign of a component and whether it is large: four steps, placed where the components of a rotated vector,
 * which are normally distributed, lose least.
 */
const LARGE = 0.98
const STEPS = [-0.45, 0.45, -1.51, 1.51]

function write(codes: Uint8Array, place: number, values: Int8Array): void {
  let square = 0
  for (let at = 0; at < values.length; at++) square += values[at]! * values[at]!
  const large = Math.floor(LARGE * Math.sqrt(square / values.length))
  for (let from = 0, to = place; from < values.length; from += PER_BYTE, to += BLOCK) {
    const end = Math.min(PER_BYTE, values.length - from)
    let byte = 0
    for (let at = 0; at < end; at++) byte |= stepOf(values[from + at]!, large) << (at * 2)
    codes[to] = byte
  }
}

/** Branch-free: mispredicted branches would take half of the time. */
function stepOf(value: number, large: number): number {
  return (-value >>> 31) | (((large - Math.abs(value)) >>> 31) << 1)
}

/**
 * For each half byte of a code and each of its values, the product with the query's two components. A code's score is a
 * sum of lookups: the query keeps its magnitudes, which finds far more than a Hamming distance.
 */
function fillTables(tables: Int8Array, query: Float32Array): void {
  const halves = tables.length / 16
  let largest = 0
  for (let half = 0; half < halves; half++)
    largest = Math.max(largest, Math.abs(query[half * 2] ?? 0) + Math.abs(query[half * 2 + 1] ?? 0))
  // The sum must fit 16 bits.
  const most = Math.min(LARGEST, Math.floor(32_767 / halves))
  const scale = largest === 0 ? 0 : most / (largest * STEPS[3]!)
  for (let half = 0; half < halves; half++) {
    const one = (query[half * 2] ?? 0) * scale
    const other = (query[half * 2 + 1] ?? 0) * scale
    for (let value = 0; value < 16; value++)
      tables[half * 16 + value] = Math.round(one * STEPS[value & 3]! + other * STEPS[value >> 2]!)
  }
}

interface ScoredExchange {
  exchange: number
  score: number
}

/** The hot loop, a function of its own for the JIT. */
function offer(
  scores: Int16Array,
  exchanges: readonly number[],
  from: number,
  count: number,
  best: TopK<ScoredExchange>,
  accept?: (exchange: number) => boolean,
): void {
  let worst = best.worst?.score ?? Number.NEGATIVE_INFINITY
  for (let at = 0; at < count; at++) {
    const score = scores[at]!
    if (score <= worst) continue
    const exchange = exchanges[from + at]!
    if (accept && !accept(exchange)) continue
    best.offer({ exchange, score })
    worst = best.worst?.score ?? worst
  }
}
