import { dirname } from "node:path"
import { errorText, Failure } from "../../domain/failure.ts"
import type { Machine, Platform, SourcePlace } from "../../domain/platform.ts"
import { type SourceLook, UNREAD } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import { type Clock, sleep } from "../../lib/clock.ts"
import { defined } from "../../lib/defined.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import { type LoopOptions, superviseLoop } from "../../lib/supervised-loop.ts"
import { type Reading, ReadingStopped } from "../read/reader-thread.ts"
import { readSource, type SourceStat } from "../read/reading.ts"
import type { Folders } from "../watch/folders.ts"
import { makeLooking } from "../watch/looking.ts"
import { type ClaimedSource, makeQueue } from "../watch/queue.ts"
import { claimOf, type FoundSource, lookAtSource, withinOf } from "../watch/scan.ts"
import type { Archive } from "./archive.ts"

export type Capturing = ReturnType<typeof makeCapturing>

export interface CaptureProgress {
  /** False once everything found at the start is read. */
  importing: boolean
  sourcesDone: number
  sourcesLeft: number
  bytesDone: number
  bytesLeft: number
  turns: number
  startedAtMs: number
  /** Agents with sources. */
  platforms: string[]
  /** Unread sources per agent. */
  waiting: Record<string, number>
}

export interface CapturingDeps {
  store: Store
  clock: Clock
  archive: Archive
  /** Absent: sources are read in this thread. */
  reading?: Reading | undefined
  platforms: readonly Platform[]
  machine: Machine
  folders: Pick<Folders, "round" | "all" | "near">
  /** Calls back with changed paths, or the place's own path when it is gone. Absent if the system has no watchers. */
  watch?(place: SourcePlace, onPaths: (paths: string[]) => void): Promise<() => Promise<void>>
  onTrouble(source: { platform: string; path: string }, error: unknown): void
}

/** Fallback for watchers: network folders, too many folders, lost events. */
const SWEEP_MS = 20_000
/** An agent's first session creates its folder, so new folders are polled. */
const APPEAR_MS = 1_000
/** Any agent may start a log in a project's folder; it must be found within five seconds. */
const PROJECTS_MS = 2_000
/** Concurrent, so that many small files share a commit. One reader is reserved for live sources. */
const READERS = 48
/** Retries of an unreadable, unchanged source, one per sweep. */
const MAX_TRIES = 5
const REST_MS = 250
/** Debounces bursts of writes. */
const GATHER_MS = 40

export function makeCapturing(deps: CapturingDeps) {
  const { store, clock, archive, reading, platforms } = deps
  const looks = new Map<string, string>()
  const troubled = new Map<string, { look: string; tries: number }>()
  const queue = makeQueue()
  const progress: CaptureProgress = {
    importing: true,
    sourcesDone: 0,
    sourcesLeft: 0,
    bytesDone: 0,
    bytesLeft: 0,
    turns: 0,
    startedAtMs: clock.nowMs(),
    platforms: [],
    waiting: {},
  }
  const imported = Promise.withResolvers<void>()
  let [hasSwept, hasLooks, isStoreAway] = [false, false, false]
  const syncing = new Set<(error: Failure) => void>()

  const offer = (found: FoundSource, live: boolean) => {
    if (looks.get(keyOf(found)) === lookText(found)) return
    queue.put(keyOf(found), found, live)
  }
  const looking = makeLooking({
    ...deps,
    offer,
    onFound({ id }) {
      if (!progress.platforms.includes(id)) progress.platforms.push(id)
    },
    async onChanged(paths) {
      await sleep(GATHER_MS)
      for (const path of new Set(paths)) await looking.nudge(path)
    },
  })

  const sweep = async (platformId?: string) => {
    await looking.sweep(platformId)
    hasSwept ||= platformId === undefined
    settle()
  }

  const settle = () => {
    progress.importing &&= !hasSwept || queue.left().sourcesLeft > 0
    if (!progress.importing) imported.resolve()
  }

  const read = async (found: FoundSource) => {
    const { platform, place, claim, path } = found
    // Throws while the database is unavailable; the next sweep offers the source again.
    const before = await store.sources.byKey(platform.id, claim.key)
    // Stat before reading: later writes then show up as a change.
    const look = lookAtSource(found)?.look
    // Gone, or queued again while it was being read.
    if (!look || looks.get(keyOf(found)) === lookText({ ...found, look })) return
    const within = withinOf(place)
    const request = { platform: platform.id, key: claim.key, path, reader: claim.reader, look, before, within }
    const onBytes = (bytes: number) => {
      progress.bytesDone += bytes
    }
    try {
      const kept = await (reading
        ? reading.read({ platform: platform.id, place, path, look, before }, onBytes)
        : readSource(request, archive, clock, onBytes))
      progress.turns += kept.turns
      looks.set(keyOf(found), lookText({ ...found, look }))
      troubled.delete(keyOf(found))
    } catch (error) {
      // Stopped, or deleted before it was read.
      if (error instanceof ReadingStopped || !lookAtSource(found)) return
      deps.onTrouble({ platform: platform.id, path }, error)
      if (!isWorthAnotherTry(found, look, error)) looks.set(keyOf(found), lookText({ ...found, look }))
      // For `sources`; with the stat of the last reading, so that it is retried at the next start.
      const known = { mode: claim.reader.mode, ...UNREAD, ...before, platform: platform.id, key: claim.key, path }
      const trouble = errorText(error)
      await store.sources.save({ ...known, readAtMs: clock.nowMs(), trouble }).catch(() => {})
      // Not the file's fault: the reader backs off and reports why nothing is captured.
      if (error instanceof Failure && error.code.startsWith("store_")) throw error
    }
    progress.sourcesDone++
  }

  /** A file being written may be readable soon, and a full disk is not its fault. */
  const isWorthAnotherTry = (found: FoundSource, look: SourceStat, error: unknown): boolean => {
    const before = troubled.get(keyOf(found))
    const tries = before?.look === lookText({ ...found, look }) ? before.tries + 1 : 1
    troubled.set(keyOf(found), { look: lookText({ ...found, look }), tries })
    return !isRefusal(error) && (error instanceof Failure || tries < MAX_TRIES)
  }

  const readNext = async (signal: AbortSignal, options: { liveOnly: boolean }, alive: () => void) => {
    let next: ClaimedSource | undefined
    try {
      // Probe the database first: the next wait for a source may take hours.
      if (isStoreAway) await store.sources.byKey("-", "-")
      isStoreAway = false
      alive()
      next = await queue.take(signal, options)
      if (next) await read(next.found)
    } catch (error) {
      isStoreAway = true
      if (error instanceof Failure && error.kind.retry) for (const giveUp of syncing) giveUp(error)
      throw error
    } finally {
      // Also after a failure: waiting for the queue must not mean waiting for a database. The next sweep retries.
      if (next) void rested(next).then(settle)
    }
  }

  /** Throttle: a source without lines is read as a whole at each change, and a streaming agent changes it constantly. */
  const rested = async ({ found, done }: ClaimedSource) => {
    if (found.claim.reader.mode !== "lines") await sleep(REST_MS)
    done()
  }

  return {
    /** A hook or watcher reports a changed file before the next sweep. */
    nudge: looking.nudge,
    /** Resolves once everything found at the start is read. */
    imported: imported.promise,
    /** Reads one file now, concurrently with others; `within` is its project's folder. */
    async readNow(platformId: string, path: string, within?: string) {
      const platform = platforms.find(({ id }) => id === platformId)
      const place: SourcePlace = { dir: dirname(path), depth: 0, ...defined({ within }) }
      const claim = platform && claimOf(platform, place, path)
      const found = claim && lookAtSource({ platform, place, claim, path })
      if (!found) return
      await read(found)
      await looking.take(platform, place)
    },
    /** Scans everything again and resolves when all of it is read. */
    async sync(platformId?: string) {
      const { promise, reject } = Promise.withResolvers<never>()
      syncing.add(reject)
      const read = sweep(platformId).then(queue.whenEmpty)
      // Rejects if the database is unavailable.
      await Promise.race([read, promise]).finally(() => syncing.delete(reject))
    },
    progress: (): CaptureProgress => ({ ...progress, ...queue.left(), waiting: queue.waiting() }),
    /** Imports existing sources, newest first, and follows changes, until aborted. */
    async run(signal: AbortSignal) {
      const onTrouble = (error: unknown, what: string) => deps.onTrouble({ platform: "-", path: what }, error)
      const loop = (name: string, round: LoopOptions["round"], more: Partial<LoopOptions> = {}) =>
        superviseLoop({ name: `capture ${name}`, signal, round, onTrouble, ...more })
      const reader = (options: { liveOnly: boolean }) =>
        // May wait indefinitely for something to read.
        loop("reader", (_, alive) => readNext(signal, options, alive), { stallsAfterMs: Number.POSITIVE_INFINITY })
      const swept = Promise.withResolvers<void>()
      const running = [
        loop(
          "sweep",
          async () => {
            if (!hasLooks)
              for (const source of await store.sources.looks())
                looks.set(`${source.platform}\n${source.key}`, sourceText(source))
            hasLooks = true
            await sweep()
            swept.resolve()
          },
          { everyMs: SWEEP_MS },
        ),
        reader({ liveOnly: true }),
        loop("new folders", looking.lookForNew, { everyMs: APPEAR_MS }),
        loop("project folders", looking.lookAtProjects, { everyMs: PROJECTS_MS }),
      ]
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
      // Old sources are read newest first, so the whole list must be known.
      await Promise.race([swept.promise, stopped])
      for (let count = 1; count < READERS; count++) running.push(reader({ liveOnly: false }))
      if (!signal.aborted) await stopped
      await reading?.stop()
      await Promise.all(running)
      await looking.stop()
    },
  }
}

const keyOf = ({ platform, claim }: FoundSource) => `${platform.id}\n${claim.key}`
const lookText = ({ look, path, claim }: FoundSource) => sourceText({ ...look, path, key: claim.key })
/** Kept short, because there is one per file. Usually the key is the path. */
const sourceText = ({ path, key, inode, sizeBytes, mtimeMs }: Omit<SourceLook, "platform">) =>
  `${inode} ${sizeBytes} ${mtimeMs}${path === key ? "" : ` ${path}`}`
