import { createHash } from "node:crypto"
import { closeSync, readSync } from "node:fs"
import { pipeline } from "node:stream"
import { createZstdDecompress } from "node:zlib"
import { OVER_LIMIT, type Source } from "../../domain/source.ts"
import { openFile, streamFile } from "../../lib/untrusted-file.ts"

/** The bytes of a file that grows by lines. Plain files are read synchronously: the reader has its own thread, and it is faster. */
export interface Bytes {
  /**
   * Batches of complete lines: a line without a newline is still being written. The buffers are reused for the next
   * batch. Oversized lines are skipped and reported piece by piece.
   */
  lines(from: number, onSkipped: OnSkipped): Iterable<Buffer[]> | AsyncIterable<Buffer[]>
  /** Hashes that later prove that everything before the offset is unchanged. */
  proof(offset: number): Proof
  isSameUpTo(source: Source): boolean | Promise<boolean>
  close(): void
}

/** `isFirst` marks the first piece: one line may be skipped in many pieces. */
export type OnSkipped = (skipped: { bytes: number; isFirst: boolean; why: string }) => void

export type Proof = Pick<Source, "headHash" | "tailHash">

export const NOT_PROVED: Proof = { headHash: "", tailHash: "" }

/** Longer than any line seen from an agent; parsing takes several times as much memory. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024
/** Guard against decompression bombs; larger than any session seen from an agent. */
export const MAX_DECOMPRESSED_BYTES = 1024 * 1024 * 1024

/** Small files get small buffers, because many of them are read concurrently. */
const CHUNKS = [64 * 1024, 512 * 1024].map((bytes) => ({ bytes, free: [] as Buffer[] }))
/** Free buffers kept for reuse, per size. */
const MAX_FREE = 8
const PROOF_BYTES = 4096
const NEWLINE = 10

export function openBytes(path: string, compression: "zstd" | undefined): Bytes {
  if (compression === "zstd") return compressedBytes(path)
  const { fd, stats } = openFile(path)
  const read: Read = (into, at) => readSync(fd, into, 0, into.length, at)
  return { ...overBytes(read, stats.size), close: () => closeSync(fd) }
}

/** Fills the buffer from a position on; 0 at the end of the file. */
type Read = (into: Buffer, at: number) => number

function overBytes(read: Read, size: number): Omit<Bytes, "close"> {
  const bytesAt = (at: number, length: number) => {
    const piece = proofBytes.subarray(0, length)
    return piece.subarray(0, read(piece, at))
  }
  return {
    lines: (from, onSkipped) => linesFrom(read, from, size - from, onSkipped),
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

/** Reuses buffers: allocated for each of 20,000 files, they pile up outside the heap until the next collection. */
function* linesFrom(read: Read, from: number, expectedBytes: number, onSkipped: OnSkipped): Generator<Buffer[]> {
  const { bytes, free } = CHUNKS.find((chunk) => chunk.bytes >= expectedBytes) ?? CHUNKS.at(-1)!
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(bytes)
  try {
    yield* linesThrough(buffer, read, from, onSkipped)
  } finally {
    if (free.length < MAX_FREE) free.push(buffer)
  }
}

function* linesThrough(buffer: Buffer, read: Read, from: number, onSkipped: OnSkipped): Generator<Buffer[]> {
  // Reading only ever stops inside an oversized line: skip the rest of it.
  const isInside = from > 0 && read(buffer.subarray(0, 1), from - 1) === 1 && buffer[0] !== NEWLINE
  const begin = isInside ? yield* steppedOver(buffer, read, from, { onSkipped, isFirst: false }) : from
  for (let at: number | undefined = begin; at !== undefined; ) {
    const count = read(buffer, at)
    const end = buffer.subarray(0, count).lastIndexOf(NEWLINE) + 1
    if (end > 0) yield linesIn(buffer.subarray(0, end))
    at += end
    if (end > 0) continue
    // A line longer than the buffer gets a buffer of its exact size.
    const length = count === 0 ? 0 : lineLength(read, at, buffer)
    if (length === 0) return
    if (length > MAX_LINE_BYTES) {
      at = yield* steppedOver(buffer, read, at, { onSkipped, isFirst: true })
      continue
    }
    const line = Buffer.allocUnsafeSlow(length)
    let filled = 0
    for (let more = 1; more > 0 && filled < length; filled += more) more = read(line.subarray(filled), at + filled)
    if (filled < length) return
    yield [line]
    at += length
  }
}

/** The start of the next line, if there is one. Yields after each piece, so that other files get their turn. */
function* steppedOver(
  buffer: Buffer,
  read: Read,
  from: number,
  { onSkipped, isFirst }: { onSkipped: OnSkipped; isFirst: boolean },
): Generator<Buffer[], number | undefined> {
  for (let [at, isNew] = [from, isFirst]; ; isNew = false) {
    const count = read(buffer, at)
    const end = buffer.subarray(0, count).indexOf(NEWLINE) + 1
    const bytes = end || count
    at += bytes
    if (bytes > 0) onSkipped({ bytes, isFirst: isNew, why: OVER_LIMIT.line })
    yield []
    if (end > 0) return at
    if (count === 0) return undefined
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

/** Including the newline; 0 if that is still missing; above the limit for any oversized line. */
function lineLength(read: Read, from: number, buffer: Buffer): number {
  for (let at = from; ; ) {
    const count = read(buffer, at)
    if (count === 0) return 0
    const newline = buffer.subarray(0, count).indexOf(NEWLINE)
    if (newline >= 0) return at + newline + 1 - from
    at += count
    if (at - from > MAX_LINE_BYTES) return at - from
  }
}

/** Agents compress cold sessions. Streamed, because the decompressed size is unbounded. */
function compressedBytes(path: string): Bytes {
  const seen = seenBytes()
  return {
    lines: (from, onSkipped) => decompressedLines(path, from, seen, onSkipped),
    proof: (offset) => seen.proof(offset),
    async isSameUpTo({ offset, headHash, tailHash }) {
      if (offset === 0) return true
      const before = seenBytes()
      let left = offset
      for await (const chunk of decompressed(path)) {
        before.add([chunk.subarray(0, left)])
        left -= Math.min(left, chunk.length)
        if (left === 0) break
      }
      const found = left === 0 ? before.proof(offset) : NOT_PROVED
      return found.headHash === headHash && found.tailHash === tailHash
    },
    close() {},
  }
}

async function* decompressedLines(
  path: string,
  from: number,
  seen: ReturnType<typeof seenBytes>,
  onSkipped: OnSkipped,
): AsyncGenerator<Buffer[]> {
  let [total, at, isSkipping, pending, pendingBytes] = [0, 0, false, [] as Buffer[], 0]
  for await (const chunk of decompressed(path)) {
    const [lines, done]: Buffer[][] = [[], []]
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, start) + 1
      const piece = chunk.subarray(start, end || chunk.length)
      start += piece.length
      const bytes = pendingBytes + piece.length
      const isTooLong = isSkipping || bytes > MAX_LINE_BYTES
      pending.push(piece)
      pendingBytes = bytes
      if (end === 0 && !isTooLong) continue
      const isNew = at >= from
      if (isTooLong && isNew) onSkipped({ bytes, isFirst: !isSkipping, why: OVER_LIMIT.line })
      const line = isTooLong ? piece : pending.length === 1 ? piece : Buffer.concat(pending)
      if (!isTooLong && isNew) lines!.push(line)
      done!.push(line)
      at += bytes
      ;[isSkipping, pending, pendingBytes] = [isTooLong && end === 0, [], 0]
    }
    seen.add(done!, at)
    yield lines!
    total += chunk.length
    if (total < MAX_DECOMPRESSED_BYTES) continue
    onSkipped({ bytes: 0, isFirst: true, why: OVER_LIMIT.decompressed })
    return
  }
}

async function* decompressed(path: string): AsyncGenerator<Buffer> {
  const out = createZstdDecompress({ chunkSize: CHUNKS.at(-1)!.bytes })
  // Errors surface in the loop below.
  pipeline(streamFile(path), out, () => {})
  for await (const chunk of out) yield chunk as Buffer
}

/** The first and the last bytes of a stream: all that a proof needs. */
function seenBytes() {
  let [head, recent, end] = [Buffer.alloc(0), Buffer.alloc(0), 0]
  const hash = (bytes: Buffer) => `${bytes.length}:${digest(bytes)}`
  return {
    /** `until` counts skipped bytes too, of which only the end is given. */
    add(pieces: readonly Buffer[], until = end + pieces.reduce((sum, { length }) => sum + length, 0)) {
      for (const piece of pieces)
        if (head.length < PROOF_BYTES) head = Buffer.concat([head, piece.subarray(0, PROOF_BYTES - head.length)])
      recent = Buffer.concat([recent.subarray(-PROOF_BYTES), ...pieces])
      end = until
    },
    proof(offset: number): Proof {
      const length = Math.min(PROOF_BYTES, offset)
      const to = recent.length - (end - offset)
      const headHash = hash(head.subarray(0, length))
      return { headHash, tailHash: offset === length ? headHash : hash(recent.subarray(Math.max(0, to - length), to)) }
    },
  }
}

const digest = (bytes: Buffer) => createHash("sha1").update(bytes).digest("base64url")
