import { createHash } from "node:crypto"
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs"
import { zstdDecompressSync } from "node:zlib"
import type { Source } from "../../domain/source.ts"

/**
 * The bytes of a file that grows by lines. Everything here is synchronous: reading has a thread of its own, and there
 * that is many times as fast.
 */
export interface Bytes {
  /**
   * Whole lines only, a few at a time: a line still being written has no newline yet and waits. The memory behind them
   * is used again for the next few.
   */
  lines(from: number): Iterable<Buffer[]>
  /** Proves later that what lies before the offset is still the same. */
  proof(offset: number): Proof
  isSameUpTo(source: Source): boolean
  close(): void
}

export type Proof = Pick<Source, "headHash" | "tailHash">

export const NOT_PROVED: Proof = { headHash: "", tailHash: "" }

const CHUNK_BYTES = 512 * 1024
const PROOF_BYTES = 4096
const NEWLINE = 10

export function openBytes(path: string, compression: "zstd" | undefined): Bytes {
  if (compression === "zstd") {
    const whole = zstdDecompressSync(readFileSync(path))
    const read: Read = (into, at) => whole.copy(into, 0, at, at + into.length)
    return { ...overBytes(read, whole.length), close() {} }
  }
  const file = openSync(path, "r")
  const read: Read = (into, at) => readSync(file, into, 0, into.length, at)
  return { ...overBytes(read, fstatSync(file).size), close: () => closeSync(file) }
}

/** Fills the buffer from a position on; no bytes mean that there are no more. */
type Read = (into: Buffer, at: number) => number

function overBytes(read: Read, size: number): Omit<Bytes, "close"> {
  const bytesAt = (at: number, length: number) => {
    const piece = Buffer.allocUnsafe(length)
    return piece.subarray(0, read(piece, at))
  }
  return {
    // A small file needs little memory, and many of them are read side by side.
    lines: (from) => linesFrom(read, from, Math.min(CHUNK_BYTES, Math.max(1024, size - from))),
    proof(offset) {
      const length = Math.min(PROOF_BYTES, offset)
      const headHash = `${length}:${digest(bytesAt(0, length))}`
      return {
        headHash,
        tailHash: offset === length ? headHash : `${length}:${digest(bytesAt(offset - length, length))}`,
      }
    },
    isSameUpTo({ offset, headHash, tailHash }) {
      if (offset === 0) return true
      const holds = (hash: string, at: (length: number) => number) => {
        const [length, expected] = hash.split(":")
        const found = bytesAt(at(Number(length)), Number(length))
        return found.length === Number(length) && digest(found) === expected
      }
      return holds(headHash, () => 0) && holds(tailHash, (length) => offset - length)
    },
  }
}

function* linesFrom(read: Read, from: number, chunkBytes: number): Generator<Buffer[]> {
  let buffer = Buffer.allocUnsafe(chunkBytes)
  /** How much of the buffer belongs to a line whose end has not come yet. */
  let begun = 0
  for (let at = from; ; ) {
    const count = read(buffer.subarray(begun), at)
    if (count === 0) return
    at += count
    const end = begun + count
    const lines: Buffer[] = []
    let start = 0
    for (let newline = buffer.indexOf(NEWLINE, begun); newline >= 0 && newline < end; ) {
      lines.push(buffer.subarray(start, newline + 1))
      start = newline + 1
      newline = buffer.indexOf(NEWLINE, start)
    }
    if (lines.length > 0) yield lines
    begun = end - start
    const size = begun === buffer.length ? begun * 2 : begun < chunkBytes ? chunkBytes : buffer.length
    const next = size === buffer.length ? buffer : Buffer.allocUnsafe(size)
    buffer.copy(next, 0, start, end)
    buffer = next
  }
}

const digest = (bytes: Buffer) => createHash("sha1").update(bytes).digest("base64url")
