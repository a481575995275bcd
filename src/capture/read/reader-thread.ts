import type { MessagePort, Worker } from "node:worker_threads"
import type { Capture } from "../../domain/capture.ts"
import { errorText } from "../../domain/failure.ts"
import type { Platform, SourcePlace } from "../../domain/platform.ts"
import { inStrings, redactInside } from "../../domain/redact.ts"
import type { Source } from "../../domain/source.ts"
import { after, type Clock } from "../../lib/clock.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import { makeThreadPeer, type ThreadPeer } from "../../lib/thread-rpc.ts"
import type { Archive, Batch } from "../store/archive.ts"
import type { Kept } from "../store/known.ts"
import { claimOf, withinOf } from "../watch/scan.ts"
import { cutText } from "./cut.ts"
import { readSource, type SourceStat } from "./reading.ts"

/** A source to read, as a message to another thread. */
export interface ReadJob {
  platform: string
  place: SourcePlace
  path: string
  look: SourceStat
  before: Source | undefined
}

/** Reads sources into the archive; returns how many turns were stored. */
export interface Reading {
  read(job: ReadJob, onBytes: (bytes: number) => void): Promise<{ turns: number }>
  /** Resolves when it has stopped writing to the archive. */
  stop(): Promise<void>
}

/** The thread ended before the source was read; this says nothing about the source. */
export class ReadingStopped extends Error {}

interface Reader {
  read(id: number, job: ReadJob): Promise<{ turns: number }>
}

interface Keeper {
  keep(id: number, batch: Batch): Promise<Kept>
  bytes(id: number, bytes: number): void
}

interface Ongoing {
  onBytes(bytes: number): void
  /** A failure of the archive, not of the source. */
  failure?: unknown
}

/** An idle thread is ended to free its memory. */
const IDLE_MS = 10_000

interface Deps {
  start(): Worker
  archive: Pick<Archive, "keep">
  /** Called when the idle thread has ended. */
  onRest(): void
  /** Called when the thread crashed. The next sweep finds the sources it was reading. */
  onTrouble(error: unknown): void
}

/**
 * Reads, parses and redacts in a worker thread: a line of 20 MB must not block answers to agents. Storing stays in this
 * thread, which has the embedded database's only connection.
 */
export function makeReaderThread({ start, archive, onRest, onTrouble }: Deps): Reading {
  const ongoing = new Map<number, Ongoing>()
  const storing = new Set<Promise<Kept>>()
  let thread: { worker: Worker; peer: ThreadPeer<Reader> } | undefined
  let cancelEnd = () => {}
  let lastId = 0

  const begin = () => {
    const worker = start()
    const peer = makeThreadPeer<Reader>(worker, {
      keep,
      bytes: (id, bytes) => ongoing.get(id)?.onBytes(bytes),
    } satisfies Keeper)
    worker.on("error", (error) => lose(worker, error))
    worker.on("exit", () => lose(worker))
    worker.unref()
    return { worker, peer }
  }
  const lose = (lost: Worker, cause?: unknown) => {
    if (lost !== thread?.worker) return
    const { peer } = thread
    thread = undefined
    if (cause !== undefined) onTrouble(cause)
    peer.close(new ReadingStopped())
  }
  const keep = async (id: number, batch: Batch): Promise<Kept> => {
    const kept = archive.keep(batch)
    storing.add(kept)
    try {
      return await kept
    } catch (error) {
      const reading = ongoing.get(id)
      if (reading) reading.failure = error
      throw error
    } finally {
      storing.delete(kept)
    }
  }
  const end = async () => {
    const ended = thread?.worker
    if (!ended) return
    lose(ended)
    await ended.terminate()
  }

  return {
    async read(job, onBytes) {
      cancelEnd()
      thread ??= begin()
      const id = ++lastId
      const reading: Ongoing = { onBytes }
      ongoing.set(id, reading)
      try {
        return await thread.peer.call("read", id, job)
      } catch (error) {
        if (error instanceof ReadingStopped) throw error
        // A source that cannot be read gets few retries, so it must not be a Failure.
        throw reading.failure ?? (isRefusal(error) ? error : new Error(errorText(error)))
      } finally {
        ongoing.delete(id)
        if (thread && ongoing.size === 0) cancelEnd = after(IDLE_MS, () => void end().then(onRest), { ref: false })
      }
    },
    async stop() {
      cancelEnd()
      await end()
      await Promise.allSettled(storing)
    },
  }
}

interface ServeDeps {
  port: MessagePort
  platforms: readonly Platform[]
  clock: Clock
  /** Absent if redaction depends on the project. */
  redact?: ((text: string) => string) | undefined
}

/** Runs in the worker thread. */
export function serveReading({ port, platforms, clock, redact }: ServeDeps): void {
  const archiveOf = (id: number): Pick<Archive, "keep"> => ({
    keep: (batch) => keeper.call("keep", id, redact ? redacted(batch, redact) : batch),
  })
  const keeper = makeThreadPeer<Keeper>(port, {
    async read(id, { platform: platformId, place, path, look, before }) {
      const platform = platforms.find((candidate) => candidate.id === platformId)
      const claim = platform && claimOf(platform, place, path)
      if (!claim) throw new Error(`${path} belongs to no platform`)
      const within = withinOf(place)
      const request = { platform: platformId, key: claim.key, path, reader: claim.reader, look, before, within }
      const { turns } = await readSource(request, archiveOf(id), clock, (bytes) => keeper.tell("bytes", id, bytes))
      return { turns }
    },
  } satisfies Reader)
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
  // A reader's memory may quote turns.
  const source = { ...batch.source, memory: inStrings(batch.source.memory, redact) }
  return { ...batch, captures, source, isRedacted: true }
}
