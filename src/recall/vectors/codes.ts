/** The signs of vectors in memory, one bit each: 48 bytes for 384 components. */
export interface Codes {
  readonly size: number
  readonly sizeBytes: number
  has(exchange: number): boolean
  put(exchange: number, values: Int8Array): void
  remove(exchange: number): void
  /** The exchanges that promise most for this query, in no order. `accept` is asked of each before it is scored: let it be cheap. */
  best(query: Float32Array, count: number, accept?: (exchange: number) => boolean): number[]
}

/** Vectors per chunk: growing copies nothing. */
const CHUNK = 8_192

export function makeCodes(dimension: number): Codes {
  const words = Math.ceil(dimension / 32)
  const chunks: { codes: Uint32Array; exchanges: Float64Array }[] = []
  const slots = new Map<number, number>()

  const write = (slot: number, exchange: number, code: Uint32Array) => {
    const chunk = chunks[Math.floor(slot / CHUNK)]!
    chunk.codes.set(code, (slot % CHUNK) * words)
    chunk.exchanges[slot % CHUNK] = exchange
    slots.set(exchange, slot)
  }

  return {
    get size() {
      return slots.size
    },
    get sizeBytes() {
      return chunks.length * CHUNK * (words * 4 + 8)
    },
    has: (exchange) => slots.has(exchange),
    put(exchange, values) {
      const slot = slots.get(exchange) ?? slots.size
      if (slot >= chunks.length * CHUNK)
        chunks.push({ codes: new Uint32Array(CHUNK * words), exchanges: new Float64Array(CHUNK) })
      write(slot, exchange, signs(values, words))
    },
    remove(exchange) {
      const slot = slots.get(exchange)
      if (slot === undefined) return
      const last = slots.size - 1
      const { codes, exchanges } = chunks[Math.floor(last / CHUNK)]!
      const at = last % CHUNK
      // The last one moves into the gap.
      write(slot, exchanges[at]!, codes.subarray(at * words, (at + 1) * words))
      slots.delete(exchange)
      if (last % CHUNK === 0) chunks.pop()
    },
    best(query, count, accept) {
      const table = products(query, words)
      const best = new Best(count)
      let left = slots.size
      for (const { codes, exchanges } of chunks) {
        scan(codes, exchanges, Math.min(left, CHUNK), words, table, best, accept)
        left -= CHUNK
      }
      return best.exchanges()
    },
  }
}

function signs(values: Int8Array, words: number): Uint32Array {
  const code = new Uint32Array(words)
  for (let at = 0; at < values.length; at++) if (values[at]! > 0) code[at >>> 5]! |= 1 << (at & 31)
  return code
}

/**
 * For each byte of a code and each value it can have, what the query's eight components there come to. A code's score is
 * then a sum of look-ups: the query keeps its magnitudes, which finds far more than counting unequal bits, in the same time.
 */
function products(query: Float32Array, words: number): Int16Array {
  const table = new Int16Array(words * 4 * 256)
  let largest = 0
  for (const value of query) largest = Math.max(largest, Math.abs(value))
  // Eight times this still fits sixteen bits, and the table the nearest cache.
  const scale = largest === 0 ? 0 : 4_000 / largest
  for (let byte = 0; byte < words * 4; byte++) {
    for (let value = 0; value < 256; value++) {
      let sum = 0
      for (let bit = 0; bit < 8; bit++) sum += ((value >> bit) & 1 ? scale : -scale) * (query[byte * 8 + bit] ?? 0)
      table[byte * 256 + value] = Math.round(sum)
    }
  }
  return table
}

/** The hot loop: a function of its own, so that it is compiled as one. */
function scan(
  codes: Uint32Array,
  exchanges: Float64Array,
  count: number,
  words: number,
  table: Int16Array,
  best: Best,
  accept?: (exchange: number) => boolean,
): void {
  const tableEnd = words * 1024
  let worst = best.worst
  for (let slot = 0; slot < count; slot++) {
    const exchange = exchanges[slot]!
    if (accept && !accept(exchange)) continue
    let score = 0
    let at = slot * words
    for (let from = 0; from < tableEnd; from += 1024, at++) {
      const word = codes[at]!
      score +=
        table[from + (word & 255)]! +
        table[from + 256 + ((word >>> 8) & 255)]! +
        table[from + 512 + ((word >>> 16) & 255)]! +
        table[from + 768 + (word >>> 24)]!
    }
    if (score <= worst) continue
    best.offer(exchange, score)
    worst = best.worst
  }
}

/** A heap of bounded size with the worst on top. */
class Best {
  worst = Number.NEGATIVE_INFINITY
  readonly #count: number
  readonly #heap: { exchange: number; score: number }[] = []

  constructor(count: number) {
    this.#count = count
  }

  offer(exchange: number, score: number): void {
    const heap = this.#heap
    if (heap.length < this.#count) {
      heap.push({ exchange, score })
      this.#up(heap.length - 1)
    } else {
      heap[0] = { exchange, score }
      this.#down()
    }
    if (heap.length === this.#count) this.worst = heap[0]!.score
  }

  exchanges(): number[] {
    return this.#heap.map(({ exchange }) => exchange)
  }

  #up(from: number): void {
    const heap = this.#heap
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.score <= heap[at]!.score) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #down(): void {
    const heap = this.#heap
    for (let at = 0; ; ) {
      let least = at
      for (const child of [at * 2 + 1, at * 2 + 2])
        if (child < heap.length && heap[child]!.score < heap[least]!.score) least = child
      if (least === at) return
      this.#swap(at, least)
      at = least
    }
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap
    const kept = heap[one]!
    heap[one] = heap[other]!
    heap[other] = kept
  }
}
