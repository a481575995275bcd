/** Tokens as bytes, each with its rank. */
export interface Vocabulary {
  /** The rank of the token with exactly these bytes; -1 if there is none. */
  rank(bytes: Uint8Array, from: number, to: number): number
}

/** One length byte per rank, 0 for unused ones; then all bytes. */
export function packVocabulary(tokens: readonly (Uint8Array | undefined)[]): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32LE(tokens.length)
  const lengths = Buffer.from(tokens.map((token) => token?.length ?? 0))
  return Buffer.concat([head, lengths, ...tokens.filter((token) => token !== undefined)])
}

/** A hash table of numbers: a map of strings would take ten times the memory and time. */
export function vocabularyIn(packed: Buffer): Vocabulary {
  const count = packed.readUInt32LE(0)
  const lengths = packed.subarray(4, 4 + count)
  const offsets = new Uint32Array(count)
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(count * 2))).fill(-1)
  const mask = slots.length - 1
  let offset = 4 + count
  for (let rank = 0; rank < count; rank++) {
    const length = lengths[rank]!
    offsets[rank] = offset
    if (length > 0) {
      let slot = hash(packed, offset, offset + length) & mask
      while (slots[slot]! >= 0) slot = (slot + 1) & mask
      slots[slot] = rank
    }
    offset += length
  }
  return {
    rank(bytes, from, to) {
      for (let slot = hash(bytes, from, to) & mask; ; slot = (slot + 1) & mask) {
        const rank = slots[slot]!
        if (rank < 0) return -1
        if (lengths[rank] === to - from && isEqual(packed, offsets[rank]!, bytes, from, to)) return rank
      }
    },
  }
}

/** FNV-1a. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = 0x811c9dc5
  for (let at = from; at < to; at++) value = Math.imul(value ^ bytes[at]!, 0x01000193)
  return value ^ (value >>> 15)
}

function isEqual(packed: Uint8Array, offset: number, bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (packed[offset + at - from] !== bytes[at]) return false
  return true
}
