import { dirname } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Failure } from "../../domain/failure.ts"
import type { Machine, Platform, SourcePlace } from "../../domain/platform.ts"
import type { SourceLook } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { isRefusal } from "../../lib/path-rules.ts"
import { type LoopOptions, superviseLoop } from "../../lib/supervised-loop.ts"
import { type Reading, ReadingStopped } from "../read/reader-thread.ts"
import { readSource, type SourceStat } from "../read/reading.ts"
import type { Folders } from "../watch/folders.ts"
import { makeLooking } from "../watch/looking.ts"
import { type ClaimedSource, makeQueue } from "../watch/queue.ts"
import { claimOf, type FoundSource, lookAtSource, withinOf } from "../watch/scan.ts"
import type { Archive } from "./archive.ts"
import { noteTrouble } from "./known-sources.ts"

export interface Capturing {
  /** Imports what is there, newest first, and follows what comes, until the signal. */
  run(signal: AbortSignal): Promise<void>
  /** Looks at everything once more, and resolves when all of it is read. */
  sync(platformId?: string): Promise<void>
  /** Says that a file has changed: a hook or a watcher knows it before the next sweep does. */
  nudge(path: string): Promise<void>
  /** Reads one file now, beside whatever else is being read; `within` names the project that it is in. */
  readNow(platformId: string, path: string, within?: string): Promise<void>
  progress(): CaptureProgress
  /** Resolves once everything that was found at the start is read. */
  imported: Promise<void>
}

export interface CaptureProgress {
  /** False once everything that was found at the start is read. */
  importing: boolean
  sourcesDone: number
  sourcesLeft: number
  bytesDone: number
  bytesLeft: number
  turns: number
  startedAtMs: number
  /** Agents of which something was found. */
  platforms: string[]
  /** Sources of each agent that are still to be read: how far behind it is. */
  waiting: Record<string, number>
}

export interface CapturingDeps {
  store: Store
  clock: Clock
  archive: Archive
  /** Absent: in this thread. */
  reading?: Reading | undefined
  platforms: readonly Platform[]
  machine: Machine
  folders: Pick<Folders, "round" | "all" | "near">
  /** Calls back with paths that changed in the place, with its own when it is gone; absent where the system has no such thing. */
  watch?(place: SourcePlace, onPaths: (paths: string[]) => void): Promise<() => Promise<void>>
  onTrouble(source: { platform: string; path: string }, error: unknown): void
}

/** Watchers are hints; this makes it right where one is deaf: network folders, too many folders, a lost event. */
const SWEEP_MS = 20_000
/** An agent's first session makes the folder that could have been watched, so new folders are looked for. */
const APPEAR_MS = 1_000
/** Any agent may begin a log in a project's folder, and counts on being found within five seconds. */
const PROJECTS_MS = 2_000
/** Side by side, so that many small files are kept with one commit. One of them reads only what lives. */
const READERS = 48
/** How often a source that cannot be read is tried again, sweep by sweep, although it has not changed. */
const MAX_TRIES = 5
const REST_MS = 250
/** A burst of writes is read once. */
const GATHER_MS = 40

export function makeCapturing(deps: CapturingDeps): Capturing {
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
    // Throws while the database is away: nothing is known of the source then, and the next sweep offers it again.
    const before = await store.sources.byKey(platform.id, claim.key)
    // Looked at before reading: what is written meanwhile shows as another look afterwards.
    const look = lookAtSource(found)?.look
    // Gone, or offered once more while it was being read.
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
      // Stopped, or gone before its turn came.
      if (error instanceof ReadingStopped || !lookAtSource(found)) return
      deps.onTrouble({ platform: platform.id, path }, error)
      if (!isWorthAnotherTry(found, look, error)) looks.set(keyOf(found), lookText({ ...found, look }))
      await noteTrouble(store, request, error, clock).catch(() => {})
      // The file is not to blame: the reader backs off, and says why nothing is captured.
      if (error instanceof Failure && error.code.startsWith("store_")) throw error
    }
    progress.sourcesDone++
  }

  /** What is being written may be readable in a moment, and a full disk is no fault of the file. */
  const isWorthAnotherTry = (found: FoundSource, look: SourceStat, error: unknown): boolean => {
    const before = troubled.get(keyOf(found))
    const tries = before?.look === lookText({ ...found, look }) ? before.tries + 1 : 1
    troubled.set(keyOf(found), { look: lookText({ ...found, look }), tries })
    return !isRefusal(error) && (error instanceof Failure || tries < MAX_TRIES)
  }

  const readNext = async (signal: AbortSignal, options: { liveOnly: boolean }, alive: () => void) => {
    let next: ClaimedSource | undefined
    try {
      // Asked before it waits, maybe for hours, for something to read.
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
      // Read or not: whoever waits for the queue must not wait for a database. The next sweep offers it again.
      if (next) void rested(next).then(settle)
    }
  }

  /** What is read anew at every change rests after each reading: an agent that streams changes it all the time. */
  const rested = async ({ found, done }: ClaimedSource) => {
    if (found.claim.reader.mode !== "lines") await sleep(REST_MS, undefined, { ref: false })
    done()
  }

  return {
    nudge: looking.nudge,
    imported: imported.promise,
    async readNow(platformId, path, within) {
      const platform = platforms.find(({ id }) => id === platformId)
      const place: SourcePlace = { dir: dirname(path), depth: 0, ...(within === undefined ? {} : { within }) }
      const claim = platform && claimOf(platform, place, path)
      const found = claim && lookAtSource({ platform, place, claim, path })
      if (!found) return
      await read(found)
      await looking.take(platform, place)
    },
    async sync(platformId) {
      const { promise, reject } = Promise.withResolvers<never>()
      syncing.add(reject)
      const read = sweep(platformId).then(queue.whenEmpty)
      // Nobody is kept waiting for a database that is away.
      await Promise.race([read, promise]).finally(() => syncing.delete(reject))
    },
    progress: () => ({ ...progress, ...queue.left(), waiting: queue.waiting() }),
    async run(signal) {
      const onTrouble = (error: unknown, what: string) => deps.onTrouble({ platform: "-", path: what }, error)
      const loop = (name: string, round: LoopOptions["round"], more: Partial<LoopOptions> = {}) =>
        superviseLoop({ name: `capture ${name}`, signal, round, onTrouble, ...more })
      const reader = (options: { liveOnly: boolean }) =>
        // It waits until there is something to read.
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
      // Of the old the newest comes first, so that all must be known before.
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
/** Short: there is one for every file. Most often the key is the path. */
const sourceText = ({ path, key, inode, sizeBytes, mtimeMs }: Omit<SourceLook, "platform">) =>
  `${inode} ${sizeBytes} ${mtimeMs}${path === key ? "" : ` ${path}`}`
