import { type Simd, startSimd } from "./simd.ts"

/**
 * Scores codes by tables of what each half byte of a code comes to. Codes are in blocks of sixteen: first the first byte of
 * each, then the second of each, so that one instruction looks up a half byte of all sixteen.
 */
export interface Scan {
  /** Block after block. Another array after `grow`. */
  readonly codes: Uint8Array
  /** For each byte of a code sixteen values for its lower half, then sixteen for its upper, each from -63 to 63. */
  readonly tables: Int8Array
  /** Makes room for so many blocks more. */
  grow(blocks: number): void
  /** The sums for so many blocks from this one on, in an array that the next call overwrites. */
  scores(from: number, blocks: number): Int16Array
}

export const BLOCK = 16
/** Their scores stay in the nearest cache until they are looked at. */
export const BLOCKS_AT_ONCE = 512
/** Two of them still fit eight bits. */
export const LARGEST = 63

/** Of codes with so many bytes. A processor without the instructions counts one by one. */
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
    // The buffer is another one whenever the memory has grown.
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
