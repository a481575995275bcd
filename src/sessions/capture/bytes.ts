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

/** A small file needs little memory, and many of them are read side by side. */
const CHUNKS = [64 * 1024, 512 * 1024].map((bytes) => ({ bytes, free: [] as Buffer[] }))
/** As many chunks of a size are kept to be used again. */
const MAX_FREE = 8
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
    const piece = proofBytes.subarray(0, length)
    return piece.subarray(0, read(piece, at))
  }
  return {
    lines: (from) => linesFrom(read, from, size - from),
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

const proofBytes = Buffer.allocUnsafeSlow(PROOF_BYTES)

/** Buffers live until their thread collects garbage: made anew for each of 20,000 files, they pile up beside the heap. */
function* linesFrom(read: Read, from: number, expectedBytes: number): Generator<Buffer[]> {
  const { bytes, free } = CHUNKS.find((chunk) => chunk.bytes >= expectedBytes) ?? CHUNKS.at(-1)!
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(bytes)
  try {
    yield* linesThrough(buffer, read, from)
  } finally {
    if (free.length < MAX_FREE) free.push(buffer)
  }
}

function* linesThrough(buffer: Buffer, read: Read, from: number): Generator<Buffer[]> {
  for (let at = from; ; ) {
    const count = read(buffer, at)
    const end = buffer.subarray(0, count).lastIndexOf(NEWLINE) + 1
    if (end > 0) yield linesIn(buffer.subarray(0, end))
    at += end
    if (end > 0) continue
    // A line longer than the buffer: it gets one of just its size, because there can be very long ones.
    const length = count === 0 ? 0 : lineLength(read, at, buffer)
    if (length === 0) return
    const line = Buffer.allocUnsafeSlow(length)
    let filled = 0
    for (let more = 1; more > 0 && filled < length; filled += more) more = read(line.subarray(filled), at + filled)
    if (filled < length) return
    yield [line]
    at += length
  }
}

function linesIn(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = bytes.indexOf(NEWLINE, start) + 1
    lines.push(bytes.subarray(start, end))
  }
  return lines
}

/** With its newline; 0 when that has not come yet. */
function lineLength(read: Read, from: number, buffer: Buffer): number {
  for (let at = from; ; ) {
    const count = read(buffer, at)
    if (count === 0) return 0
    const newline = buffer.subarray(0, count).indexOf(NEWLINE)
    if (newline >= 0) return at + newline + 1 - from
    at += count
  }
}

const digest = (bytes: Buffer) => createHash("sha1").update(bytes).digest("base64url")
