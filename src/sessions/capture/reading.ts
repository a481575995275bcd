import { createHash } from "node:crypto"
import { type FileHandle, open, readFile, stat } from "node:fs/promises"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { zstdDecompress } from "node:zlib"
import type { Capture } from "../../domain/capture.ts"
import type { Clock } from "../../domain/clock.ts"
import type { DatabaseReader, LineState, LinesReader, SourceReader, WholeReader } from "../../domain/platform.ts"
import type { NewSource, Source } from "../../domain/source.ts"
import type { Archive } from "./archive.ts"
import { seenKey } from "./keeper.ts"

export interface Look {
  inode: string
  sizeBytes: number
  mtimeMs: number
}

export interface ReadRequest {
  platform: string
  key: string
  path: string
  reader: SourceReader
  look: Look
  /** How it was read before. */
  before: Source | undefined
}

/** Small enough that a tool call which waits behind a batch waits for milliseconds. */
const BATCH_CAPTURES = 400
const BATCH_BYTES = 2 * 1024 * 1024
const CHUNK_BYTES = 512 * 1024
const PROOF_BYTES = 4096
const RETRY_MS = [50, 200, 800]

/** Reads what is new in a source and keeps it, piece by piece; each piece commits with its position. */
export async function readSource(
  request: ReadRequest,
  archive: Archive,
  clock: Clock,
  onBytes: (bytes: number) => void,
): Promise<{ turns: number }> {
  const { reader } = request
  if (reader.mode === "lines") return readLines(request, reader, archive, clock, onBytes)
  const reading = reader.mode === "whole" ? () => readWhole(request, reader) : () => readDatabase(request, reader)
  const { captures, memory, complete } = await withRetries(reading)
  const seen = new Set<string>()
  const count = counter(request.before, complete)
  let turns = 0
  let batch: Capture[] = []
  const keep = async (last: boolean) => {
    // The look is saved with the last piece only: a reading cut off in the middle is done again.
    const look = last ? request.look : { inode: "", sizeBytes: 0, mtimeMs: request.look.mtimeMs }
    const source = sourceOf(request, look, clock, {
      memory: last ? memory : (request.before?.memory ?? null),
      ...count.totals(),
    })
    const kept = await archive.keep({ captures: batch, source, ...(last && complete ? { seen } : {}) })
    turns += kept.turns
    batch = []
    await setImmediate()
  }
  for (const capture of captures) {
    count.add(capture)
    if (capture.type === "skipped") continue
    if (capture.type === "turn") seen.add(seenKey(capture.sessionId, capture.nativeId))
    batch.push(capture)
    if (batch.length >= BATCH_CAPTURES) await keep(false)
  }
  await keep(true)
  onBytes(request.look.sizeBytes)
  return { turns }
}

async function readWhole({ path }: ReadRequest, reader: WholeReader) {
  return { captures: await reader.read(path), memory: null, complete: true }
}

async function readDatabase({ path, before }: ReadRequest, reader: DatabaseReader) {
  const cursor = before?.memory ?? null
  const read = await reader.read(path, cursor)
  return { captures: read.captures, memory: read.cursor, complete: false }
}

/** Files are absent or half written for an instant while their agent saves them. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of RETRY_MS) {
    try {
      return await work()
    } catch {
      await sleep(pauseMs)
    }
  }
  return work()
}

async function readLines(
  request: ReadRequest,
  reader: LinesReader,
  archive: Archive,
  clock: Clock,
  onBytes: (bytes: number) => void,
): Promise<{ turns: number }> {
  const bytes = await openBytes(request.path, reader.compression)
  try {
    const goesOn = request.before !== undefined && (await isSameUpTo(bytes, request.before))
    const before = goesOn ? request.before : undefined
    // After a rewrite the file is read from its start: what is still there is found to be there, the rest is superseded.
    const rewritten = request.before !== undefined && !goesOn && request.before.offset > 0
    const seen = rewritten ? new Set<string>() : undefined
    const count = counter(before, rewritten)
    const state: LineState = before ? (before.memory as LineState) : reader.begin(request.path)
    let offset = before?.offset ?? 0
    let pending: Capture[] = []
    let pendingBytes = 0
    let turns = 0

    const keep = async (last: boolean) => {
      if (pending.length === 0 && !last && pendingBytes === 0) return
      const position = seen && !last ? { offset: 0, ...NOT_PROVED } : { offset, ...(await proof(bytes, offset)) }
      const look = last ? request.look : { ...request.look, sizeBytes: offset, inode: "" }
      const source = sourceOf(request, look, clock, {
        memory: seen && !last ? reader.begin(request.path) : state,
        ...position,
        ...count.totals(),
      })
      const kept = await archive.keep({ captures: pending, source, ...(last && seen ? { seen } : {}) })
      turns += kept.turns
      onBytes(pendingBytes)
      pending = []
      pendingBytes = 0
      await setImmediate()
    }
    for await (const line of linesFrom(bytes, offset)) {
      count.line()
      try {
        for (const capture of reader.line(line, state, { offset })) {
          count.add(capture)
          if (capture.type === "skipped") continue
          if (capture.type === "turn") seen?.add(seenKey(capture.sessionId, capture.nativeId))
          pending.push(capture)
        }
      } catch {
        count.unreadable()
      }
      offset += line.length
      pendingBytes += line.length
      if (pending.length >= BATCH_CAPTURES || pendingBytes >= BATCH_BYTES) await keep(false)
    }
    await keep(true)
    return { turns }
  } finally {
    await bytes.close()
  }
}

interface Bytes {
  read(at: number, length: number): Promise<Buffer>
  close(): Promise<void>
}

async function openBytes(path: string, compression: "zstd" | undefined): Promise<Bytes> {
  if (compression === "zstd") {
    const whole = await promisify(zstdDecompress)(await readFile(path))
    return { read: async (at, length) => whole.subarray(at, at + length), close: async () => {} }
  }
  const file: FileHandle = await open(path, "r")
  return {
    async read(at, length) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at)
      return buffer.subarray(0, bytesRead)
    },
    close: () => file.close(),
  }
}

/** Whole lines only, as bytes: a line still being written has no newline yet and waits. */
async function* linesFrom(bytes: Bytes, from: number): AsyncGenerator<Buffer> {
  let at = from
  let rest: Buffer[] = []
  for (;;) {
    const chunk = await bytes.read(at, CHUNK_BYTES)
    if (chunk.length === 0) return
    at += chunk.length
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end + 1)
      yield rest.length === 0 ? piece : Buffer.concat([...rest, piece])
      rest = []
      start = end + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  }
}

const NOT_PROVED = { headHash: "", tailHash: "" }

/** Hashes of the beginning and of what lies right before the offset, each with the length that was hashed. */
async function proof(bytes: Bytes, offset: number): Promise<{ headHash: string; tailHash: string }> {
  const length = Math.min(PROOF_BYTES, offset)
  return {
    headHash: `${length}:${digest(await bytes.read(0, length))}`,
    tailHash: `${length}:${digest(await bytes.read(offset - length, length))}`,
  }
}

async function isSameUpTo(bytes: Bytes, { offset, headHash, tailHash }: Source): Promise<boolean> {
  if (offset === 0) return true
  const check = async (hash: string, at: (length: number) => number) => {
    const [length, expected] = hash.split(":")
    const found = await bytes.read(at(Number(length)), Number(length))
    return found.length === Number(length) && digest(found) === expected
  }
  return (await check(headHash, () => 0)) && (await check(tailHash, (length) => offset - length))
}

const digest = (bytes: Buffer) => createHash("sha1").update(bytes).digest("base64url")

function counter(before: Source | undefined, anew: boolean) {
  const start = anew ? undefined : before
  const skipped: Record<string, number> = { ...start?.skipped }
  let [lines, unknown, unreadable] = [start?.lines ?? 0, start?.unknown ?? 0, start?.unreadable ?? 0]
  return {
    line: () => lines++,
    unreadable: () => unreadable++,
    add(capture: Capture) {
      if (capture.type !== "skipped") return
      skipped[capture.kind] = (skipped[capture.kind] ?? 0) + 1
      if (capture.unknown) unknown++
    },
    totals: () => ({ lines, skipped: { ...skipped }, unknown, unreadable }),
  }
}

type Position = Pick<NewSource, "memory" | "lines" | "skipped" | "unknown" | "unreadable"> &
  Partial<Pick<NewSource, "offset" | "headHash" | "tailHash">>

function sourceOf(request: ReadRequest, look: Look, clock: Clock, position: Position): NewSource {
  const { platform, key, path, reader } = request
  return {
    platform,
    key,
    path,
    mode: reader.mode,
    ...look,
    offset: 0,
    ...NOT_PROVED,
    readAtMs: clock.nowMs(),
    trouble: null,
    ...position,
  }
}

export async function lookAt(path: string): Promise<Look | undefined> {
  try {
    const found = await stat(path)
    return { inode: `${found.dev}:${found.ino}`, sizeBytes: found.size, mtimeMs: Math.trunc(found.mtimeMs) }
  } catch {
    return undefined
  }
}
