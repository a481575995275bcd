import type { MessagePort, Worker } from "node:worker_threads"
import type { Capture } from "../../domain/capture.ts"
import type { Clock } from "../../domain/clock.ts"
import { Failure } from "../../domain/failure.ts"
import type { Place, Platform } from "../../domain/platform.ts"
import { redactInside } from "../../domain/redact.ts"
import type { Source } from "../../domain/source.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import type { Archive, Batch } from "./archive.ts"
import { cutText } from "./cut.ts"
import type { Kept } from "./known.ts"
import { type Look, readSource } from "./reading.ts"
import { claimOf, withinOf } from "./scan.ts"

/** A source to be read, in words that can be said to another thread. */
export interface ReadWish {
  platform: string
  place: Place
  path: string
  look: Look
  before: Source | undefined
}

/** Reads sources. What it reads goes to the archive; the answer is how many turns were kept. */
export interface Reading {
  read(wish: ReadWish, onBytes: (bytes: number) => void): Promise<{ turns: number }>
  /** Resolves when nothing more comes from it. */
  stop(): Promise<void>
}

/** The thread has ended before the source was read. Nothing is known of the source. */
export class ReadingStopped extends Error {}

type ToThread = { type: "read"; id: number; wish: ReadWish } | { type: "kept"; id: number; kept?: Kept; error?: string }
interface Ongoing {
  onBytes(bytes: number): void
  resolve(kept: { turns: number }): void
  reject(error: unknown): void
  /** Why it could not be kept: no fault of the source. */
  failure?: unknown
}

type FromThread =
  | { type: "keep"; id: number; batch: Batch }
  | { type: "bytes"; id: number; bytes: number }
  | { type: "done"; id: number; turns?: number; error?: string; isRefused?: boolean }

/** An idle thread gives its memory back. */
const IDLE_MS = 10_000

/**
 * Reading, parsing and redacting in a thread of their own: a line of 20 MB must not keep agents waiting for an answer.
 * Keeping stays here, beside the embedded database's only connection.
 */
export function makeReaderThread({
  start,
  archive,
  onRest,
  onTrouble,
}: {
  start(): Worker
  archive: Pick<Archive, "keep">
  /** Told when there was nothing to read for a while, and the thread is gone. */
  onRest(): void
  /** Told why the thread has ended by itself. The sources that it was reading are found again by the next sweep. */
  onTrouble(error: unknown): void
}): Reading {
  const ongoing = new Map<number, Ongoing>()
  const keeping = new Set<Promise<void>>()
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  const begin = (): Worker => {
    const started = start()
    started.on("message", (message: FromThread) => hear(message, started))
    started.on("error", (error) => lose(started, error))
    started.on("exit", () => lose(started))
    started.unref()
    return started
  }
  const lose = (lost: Worker, cause?: unknown) => {
    if (lost !== thread) return
    thread = undefined
    if (cause !== undefined) onTrouble(cause)
    for (const { reject } of ongoing.values()) reject(new ReadingStopped())
    ongoing.clear()
  }
  const hear = (message: FromThread, from: Worker) => {
    const reading = ongoing.get(message.id)
    if (!reading || from !== thread) return
    if (message.type === "bytes") reading.onBytes(message.bytes)
    else if (message.type === "keep") keep(message.id, message.batch, reading, from)
    else {
      ongoing.delete(message.id)
      if (message.error === undefined) reading.resolve({ turns: message.turns ?? 0 })
      else
        reading.reject(
          reading.failure ??
            (message.isRefused ? new Failure("file_refused", message.error) : new Error(message.error)),
        )
      if (ongoing.size === 0) idle = setTimeout(() => void end().then(onRest), IDLE_MS).unref()
    }
  }
  const keep = (id: number, batch: Batch, reading: Ongoing, from: Worker) => {
    const kept = archive.keep(batch).then(
      (kept) => from.postMessage({ type: "kept", id, kept } satisfies ToThread),
      (error: unknown) => {
        reading.failure = error
        from.postMessage({ type: "kept", id, error: messageOf(error) } satisfies ToThread)
      },
    )
    keeping.add(kept)
    void kept.finally(() => keeping.delete(kept))
  }
  const end = async () => {
    const ended = thread
    if (!ended) return
    lose(ended)
    await ended.terminate()
  }

  return {
    read(wish, onBytes) {
      clearTimeout(idle)
      thread ??= begin()
      const id = ++lastId
      return new Promise((resolve, reject) => {
        ongoing.set(id, { onBytes, resolve, reject })
        thread?.postMessage({ type: "read", id, wish } satisfies ToThread)
      })
    },
    async stop() {
      clearTimeout(idle)
      await end()
      await Promise.all(keeping)
    },
  }
}

/** The other side: what runs in the thread. */
export function serveReading({
  port,
  platforms,
  clock,
  redact,
}: {
  port: MessagePort
  platforms: readonly Platform[]
  clock: Clock
  /** Absent where what is redacted depends on the project. */
  redact?: ((text: string) => string) | undefined
}): void {
  const waiting = new Map<number, { resolve(kept: Kept): void; reject(error: Error): void }>()
  const say = (message: FromThread) => port.postMessage(message)
  const archiveOf = (id: number): Pick<Archive, "keep"> => ({
    keep: (batch) =>
      new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        say({ type: "keep", id, batch: redact ? redacted(batch, redact) : batch })
      }),
  })
  const read = async (id: number, { platform: platformId, place, path, look, before }: ReadWish) => {
    const platform = platforms.find((candidate) => candidate.id === platformId)
    const claim = platform && claimOf(platform, place, path)
    if (!claim) throw new Error(`${path} belongs to no platform`)
    const within = withinOf(place)
    const request = { platform: platformId, key: claim.key, path, reader: claim.reader, look, before, within }
    return readSource(request, archiveOf(id), clock, (bytes) => say({ type: "bytes", id, bytes }))
  }
  port.on("message", (message: ToThread) => {
    const { id } = message
    if (message.type === "read") {
      read(id, message.wish).then(
        ({ turns }) => say({ type: "done", id, turns }),
        (error: unknown) => say({ type: "done", id, error: messageOf(error), isRefused: isRefusal(error) }),
      )
      return
    }
    const { resolve, reject } = waiting.get(id)!
    waiting.delete(id)
    if (message.kept) resolve(message.kept)
    else reject(new Error(message.error))
  })
}

function redacted(batch: Batch, redact: (text: string) => string): Batch {
  const captures = batch.captures.map((capture): Capture => {
    if (capture.type === "turn") {
      const metadata = capture.metadata && { metadata: redactInside(capture.metadata, redact) }
      return { ...capture, text: cutText(redact(capture.text)), ...metadata }
    }
    if (capture.type !== "session" || !capture.title) return capture
    return { ...capture, title: { ...capture.title, text: redact(capture.title.text) } }
  })
  return { ...batch, captures, isRedacted: true }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
