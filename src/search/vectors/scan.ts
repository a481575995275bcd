import { type Simd, startSimd } from "./simd.ts"

/**
 * Scores codes by lookup tables per half byte. Codes are in blocks of sixteen, interleaved by byte: the first byte of
 * each, then the second of each, so that one instruction looks up a half byte of all sixteen.
 */
export interface Scan {
  /** In blocks. Reallocated by `grow`. */
  readonly codes: Uint8Array
  /** Per byte of a code: sixteen values for its lower half, sixteen for its upper, each from -63 to 63. */
  readonly tables: Int8Array
  /** Allocates more blocks. */
  grow(blocks: number): void
  /** The scores of `blocks` from `from` on, in an array that the next call overwrites. */
  scores(from: number, blocks: number): Int16Array
}

export const BLOCK = 16
/** Small enough for their scores to stay in the L1 cache. */
export const BLOCKS_AT_ONCE = 512
/** The sum of two fits eight bits. */
export const LARGEST = 63

/** Falls back to plain loops without SIMD. */
export function makeScan(codeBytes: number): Scan {
  const simd = startSimd()
  return simd ? simdScan(codeBytes, simd) : plainScan(codeBytes)
}

const TABLE_BYTES = 32
const PAGE_BYTES = 65_536

function simdScan(codeBytes: number, { memory, add }: Simd): Scan {
  const scoresAt = codeBytes * TABLE_BYTES
  const codesAt = scoresAt + BLOCKS_AT_ONCE * BLOCK * 2
  let endBlock = 0
  let views = { codes: new Uint8Array(), tables: new Int8Array(), scores: new Int16Array() }
  const grow = (blocks: number) => {
    endBlock += blocks
    const missing = codesAt + endBlock * BLOCK * codeBytes - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES))
    // Growing the memory replaces its buffer.
    const { buffer } = memory
    views = {
      codes: new Uint8Array(buffer, codesAt, endBlock * BLOCK * codeBytes),
      tables: new Int8Array(buffer, 0, codeBytes * TABLE_BYTES),
      scores: new Int16Array(buffer, scoresAt, BLOCKS_AT_ONCE * BLOCK),
    }
  }
  grow(0)
  return {
    get codes() {
      return views.codes
    },
    get tables() {
      return views.tables
    },
    grow,
    scores(from, blocks) {
      if (blocks > 0) add(codesAt + from * BLOCK * codeBytes, 0, scoresAt, blocks, codeBytes)
      return views.scores
    },
  }
}

/** The same, one by one: what the other is tested against. */
export function plainScan(codeBytes: number): Scan {
  const tables = new Int8Array(codeBytes * TABLE_BYTES)
  const scores = new Int16Array(BLOCKS_AT_ONCE * BLOCK)
  let codes = new Uint8Array()
  return {
    get codes() {
      return codes
    },
    tables,
    grow(blocks) {
      const grown = new Uint8Array(codes.length + blocks * BLOCK * codeBytes)
      grown.set(codes)
      codes = grown
    },
    scores(from, blocks) {
      scores.fill(0, 0, blocks * BLOCK)
      for (let row = 0; row < blocks * codeBytes; row++) {
        const at = (from * codeBytes + row) * BLOCK
        const table = (row % codeBytes) * TABLE_BYTES
        const first = Math.floor(row / codeBytes) * BLOCK
        for (let code = 0; code < BLOCK; code++) {
          const byte = codes[at + code]!
          scores[first + code]! += tables[table + (byte & 15)]! + tables[table + 16 + (byte >> 4)]!
        }
      }
      return scores
    },
  }
}
