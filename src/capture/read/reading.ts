import type { Capture } from "../../domain/capture.ts"
import type { LineState, LinesReader, SourceReader } from "../../domain/platform.ts"
import { type NewSource, OVER_LIMIT, type Source, UNKNOWN_KIND, UNREAD } from "../../domain/source.ts"
import { plainText } from "../../domain/text.ts"
import { type Clock, nextTurn, sleep } from "../../lib/clock.ts"
import { makeMutex } from "../../lib/mutex.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import { checkLinks } from "../../lib/untrusted-file.ts"
import type { Archive } from "../store/archive.ts"
import { EXCLUDED, seenKey } from "../store/known.ts"
import { type Bytes, NOT_PROVED, type OnSkipped, openBytes } from "./bytes.ts"
import { MAX_TURN_CHARS } from "./cut.ts"

export interface SourceStat {
  inode: string
  sizeBytes: number
  mtimeMs: number
}

export interface ReadRequest {
  platform: string
  key: string
  path: string
  reader: SourceReader
  look: SourceStat
  /** No path below this folder may be a symlink. */
  within?: string | undefined
  /** The state after the last reading. */
  before: Source | undefined
}

/** Small enough that a tool call waits only milliseconds behind a batch. */
const BATCH_CAPTURES = 150
const BATCH_CHARS = 400_000
/** Saves the position even if a long stretch has no turns. */
const BATCH_BYTES = 8_000_000
const LONG_BYTES = 2_000_000
/** Longer than any id, path or name of an agent. */
const MAX_NAME_CHARS = 10_000
const RETRY_MS = [50, 200, 800]

/** Reads and stores what is new in a source, in batches; each commits with its position. */
export async function readSource(
  request: ReadRequest,
  archive: Pick<Archive, "keep">,
  clock: Clock,
  onBytes: (bytes: number) => void,
): Promise<{ turns: number }> {
  const { reader } = request
  checkLinks(request.path, { within: request.within })
  if (reader.mode === "lines") return readLines(request, reader, archive, clock, onBytes)
  const { captures, memory, complete } = await withRetries(async () => {
    if (reader.mode === "whole") return { captures: await reader.read(request.path), memory: null, complete: true }
    const read = await reader.read(request.path, request.before?.memory ?? null)
    return { captures: read.captures, memory: read.cursor, complete: false }
  })
  const seen = new Set<string>()
  const before = counter(complete ? undefined : request.before).totals()
  const count = counter(complete ? undefined : request.before)
  const pending = new Pending()
  let turns = 0
  const keep = async (last: boolean) => {
    // Stat, cursor and counts are saved with the last batch only: an interrupted reading starts over.
    const look = last ? request.look : { inode: "", sizeBytes: 0, mtimeMs: request.look.mtimeMs }
    const position = last ? { memory, ...count.totals() } : { memory: request.before?.memory ?? null, ...before }
    const source = sourceOf(request, look, clock, position)
    const kept = await archive.keep({ captures: pending.take(), source, ...(last && complete ? { seen } : {}) })
    count.leftOut(kept.leftOut)
    turns += kept.turns
    await nextTurn()
  }
  for (const capture of captures) {
    count.add(capture)
    if (capture.type === "skipped" || capture.type === "turn") count.line()
    if (capture.type === "skipped") continue
    makePlain(capture)
    if (capture.type === "turn") seen.add(seenKey(capture.sessionId, capture.nativeId))
    pending.add(capture)
    if (pending.isFull()) await keep(false)
  }
  await keep(true)
  onBytes(request.look.sizeBytes)
  return { turns }
}

/** Files are briefly absent or half written while their agent saves them. */
async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of RETRY_MS) {
    try {
      return await work()
    } catch (error) {
      if (isRefusal(error)) throw error
      await sleep(pauseMs)
    }
  }
  return work()
}

async function readLines(
  request: ReadRequest,
  reader: LinesReader,
  archive: Pick<Archive, "keep">,
  clock: Clock,
  onBytes: (bytes: number) => void,
): Promise<{ turns: number }> {
  const bytes = openBytes(request.path, reader.compression)
  try {
    // A rewritten file is read from the start; turns that it no longer has are superseded.
    const rewritten = (await isRewritten(bytes, request)) ? request.before : undefined
    const before = rewritten ? undefined : request.before
    const seen = rewritten && new Set<string>()
    const count = counter(before)
    const state: LineState = before?.offset ? (before.memory as LineState) : reader.begin(request.path)
    const pending = new Pending()
    let offset = before?.offset ?? 0
    let pendingBytes = 0
    let turns = 0

    const keep = async (last: boolean) => {
      const isPart = rewritten !== undefined && !last
      const look = last ? request.look : { ...request.look, sizeBytes: offset, inode: "" }
      const source = sourceOf(request, look, clock, {
        memory: state,
        // Without proofs: if interrupted here, the file still counts as rewritten.
        ...(isPart ? { offset: rewritten.offset, ...NOT_PROVED } : { offset, ...bytes.proof(offset) }),
        ...count.totals(),
      })
      const kept = await archive.keep({ captures: pending.take(), source, ...(last && seen ? { seen } : {}) })
      count.leftOut(kept.leftOut)
      turns += kept.turns
      if (!reader.compression) onBytes(pendingBytes)
      else if (last) onBytes(request.look.sizeBytes)
      pendingBytes = 0
      await nextTurn()
    }
    const take = (line: Buffer) => {
      count.line()
      try {
        for (const capture of reader.line(line, state, { offset })) {
          count.add(capture)
          if (capture.type === "skipped") continue
          makePlain(capture)
          if (capture.type === "turn") seen?.add(seenKey(capture.sessionId, capture.nativeId))
          pending.add(capture)
        }
      } catch {
        count.unreadable()
      }
      offset += line.length
      pendingBytes += line.length
    }
    const onSkipped: OnSkipped = ({ bytes: skippedBytes, isFirst, why }) => {
      if (isFirst) count.tooMuch(why)
      offset += skippedBytes
      pendingBytes += skippedBytes
    }
    const isDue = () => pending.isFull() || pendingBytes >= BATCH_BYTES
    for await (const lines of bytes.lines(offset, onSkipped)) {
      for (const line of lines) {
        if (line.length < LONG_BYTES) take(line)
        else
          await oneLongLine(async () => {
            take(line)
            if (isDue()) await keep(false)
          })
        if (isDue()) await keep(false)
      }
      // Skipped bytes come without lines.
      if (isDue()) await keep(false)
    }
    await keep(true)
    return { turns }
  } finally {
    bytes.close()
  }
}

/** One long line at a time across all files: each takes many times its length in memory until it is stored. */
const oneLongLine = makeMutex()

/** Also detects another file, or a new time with the same size, when both ends are unchanged. */
async function isRewritten(bytes: Bytes, { before, look }: ReadRequest): Promise<boolean> {
  if (!before?.offset) return false
  // After an interrupted reading only the offset is known.
  const wasWhole = before.inode !== ""
  const isOther = fileOf(before.inode) !== fileOf(look.inode)
  const isWrittenOver = before.sizeBytes === look.sizeBytes && before.mtimeMs !== look.mtimeMs
  return (wasWhole && (isOther || isWrittenOver)) || !(await bytes.isSameUpTo(before))
}

/** Device numbers may change at a reboot. */
const fileOf = (inode: string) => inode.slice(inode.indexOf(":") + 1)

/** Captures that are not stored yet. */
class Pending {
  #captures: Capture[] = []
  #chars = 0

  add(capture: Capture): void {
    this.#captures.push(capture)
    if (capture.type === "turn") this.#chars += capture.text.length
  }

  isFull(): boolean {
    return this.#captures.length >= BATCH_CAPTURES || this.#chars >= BATCH_CHARS
  }

  take(): Capture[] {
    const captures = this.#captures
    this.#captures = []
    this.#chars = 0
    return captures
  }
}

/** Makes strings valid for every database: crashed agents leave broken ones. */
function makePlain(capture: Capture): void {
  for (const [name, value] of Object.entries(capture)) {
    if (typeof value !== "string") continue
    const short = name === "text" || value.length <= MAX_NAME_CHARS ? value : value.slice(0, MAX_NAME_CHARS)
    const isPlain = short.isWellFormed() && !short.includes("\0")
    if (!isPlain || short !== value) Object.assign(capture, { [name]: plainText(short) })
  }
}

function counter(start: Source | undefined) {
  const skipped: Record<string, number> = { ...start?.skipped }
  let [lines, unknown, unreadable] = [start?.lines ?? 0, start?.unknown ?? 0, start?.unreadable ?? 0]
  return {
    line: () => lines++,
    unreadable: () => unreadable++,
    leftOut(captures: number) {
      if (captures > 0) skipped[EXCLUDED] = (skipped[EXCLUDED] ?? 0) + captures
    },
    /** A decompression limit counts once: each reading of the file reaches it again. */
    tooMuch(kind: string) {
      skipped[kind] = kind === OVER_LIMIT.decompressed ? 1 : (skipped[kind] ?? 0) + 1
    },
    add(capture: Capture) {
      if (capture.type === "turn" && capture.text.length > MAX_TURN_CHARS)
        skipped[OVER_LIMIT.turn] = (skipped[OVER_LIMIT.turn] ?? 0) + 1
      if (capture.type !== "skipped") return
      const kind = capture.unknown ? `${UNKNOWN_KIND}${capture.kind}` : capture.kind
      skipped[kind] = (skipped[kind] ?? 0) + 1
      if (capture.unknown) unknown++
    },
    totals: () => ({ lines, skipped: { ...skipped }, unknown, unreadable }),
  }
}

type Position = Pick<NewSource, "memory" | "lines" | "skipped" | "unknown" | "unreadable"> &
  Partial<Pick<NewSource, "offset" | "headHash" | "tailHash">>

function sourceOf(request: ReadRequest, look: SourceStat, clock: Clock, position: Position): NewSource {
  const { platform, key, path, reader } = request
  return { ...UNREAD, platform, key, path, mode: reader.mode, ...look, readAtMs: clock.nowMs(), ...position }
}
