import { realpath } from "node:fs/promises"
import { dirname, sep } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Clock } from "../../domain/clock.ts"
import { Failure } from "../../domain/failure.ts"
import type { Machine, Place, Platform } from "../../domain/platform.ts"
import type { SourceLook } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import type { Archive } from "./archive.ts"
import { makeQueue, type Taken } from "./queue.ts"
import { type Reading, ReadingStopped } from "./reader-thread.ts"
import { type Look, readSource } from "./reading.ts"
import { claimOf, type FoundSource, lookAt, lookAtSource, placesOf, scanPlace } from "./scan.ts"

export interface Capturing {
  /** Imports what is there, newest first, and follows what comes, until the signal. */
  run(signal: AbortSignal): Promise<void>
  /** Looks at everything once more, and resolves when all of it is read. */
  sync(platformId?: string): Promise<void>
  /** Says that a file has changed: a hook or a watcher knows it before the next sweep does. */
  nudge(path: string): Promise<void>
  /** Reads one file now, beside whatever else is being read. */
  readNow(platformId: string, path: string): Promise<void>
  progress(): Progress
}

export interface Progress {
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
  /** Calls back with paths that changed in the place; absent where the system has no such thing. */
  watch?(place: Place, onPaths: (paths: string[]) => void): Promise<() => Promise<void>>
  onTrouble(source: { platform: string; path: string }, error: unknown): void
}

/** Watchers are hints; this makes it right where one is deaf: network folders, too many folders, a lost event. */
const SWEEP_MS = 20_000
/** An agent's first session makes the folder that could have been watched; so folders that just came are looked for. */
const APPEAR_MS = 1_000
const JUST_MS = 5_000
/** Side by side, so that many small files are kept with one commit. One of them reads only what lives. */
const READERS = 48
/** How often a source that cannot be read is tried again, sweep by sweep, although it has not changed. */
const MAX_TRIES = 5
const REST_MS = 250
/** A burst of writes is read once. */
const GATHER_MS = 40

export function makeCapturing(deps: CapturingDeps): Capturing {
  const { store, clock, archive, reading, platforms, machine } = deps
  const looks = new Map<string, string>()
  const troubled = new Map<string, { look: string; tries: number }>()
  const watched = new Map<string, { inode: string | undefined; stop(): Promise<void> }>()
  const queue = makeQueue()
  const progress: Progress = {
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
  let places: { platform: Platform; place: Place }[] = []
  let hasSwept = false

  const offer = (found: FoundSource, live: boolean) => {
    if (looks.get(keyOf(found)) === lookText(found)) return
    queue.put(keyOf(found), found, live)
  }

  const sweep = async (platformId?: string) => {
    const projectDirs = await knownProjects(store)
    places = platforms.flatMap((platform) =>
      placesOf(platform, machine, projectDirs).map((place) => ({ platform, place })),
    )
    for (const { platform, place } of places)
      if (platformId === undefined || platform.id === platformId) await lookInto(platform, place)
    hasSwept ||= platformId === undefined
    settle()
  }

  const settle = () => {
    if (hasSwept && queue.left().sourcesLeft === 0) progress.importing = false
  }

  const lookInto = async (platform: Platform, place: Place) => {
    await forgetReplaced(place.dir)
    const isNew = !watched.has(place.dir)
    const scan = () => scanPlace(platform, place, (source) => offer(source, false))
    if ((await scan()) === 0) return
    if (!progress.platforms.includes(platform.id)) progress.platforms.push(platform.id)
    if (!isNew) return
    await listen(place)
    // What was written before the watcher was there has told nobody.
    if (watched.has(place.dir)) await scan()
  }

  const lookForNew = async () => {
    for (const platform of platforms) {
      for (const place of platform.places(machine)) {
        const look = lookAt(place.dir)
        if (!look || look.inode === watched.get(place.dir)?.inode) continue
        if (clock.nowMs() - look.mtimeMs < JUST_MS) await lookInto(platform, place)
      }
    }
  }

  const listen = async ({ dir, depth }: Place) => {
    if (watched.has(dir) || !deps.watch) return
    const inode = lookAt(dir)?.inode
    watched.set(dir, { inode, stop: async () => {} })
    try {
      // Watchers refuse a link, or tell of the folder behind it.
      const real = await realpath(dir)
      const told = (paths: string[]) => void changed(paths.map((path) => dir + path.slice(real.length)))
      watched.set(dir, { inode, stop: await deps.watch({ dir: real, depth }, told) })
    } catch (error) {
      deps.onTrouble({ platform: "-", path: dir }, error)
    }
  }

  /** A watcher stays with its folder when that is deleted, and knows nothing of the one made in its place. */
  const forgetReplaced = async (dir: string) => {
    const before = watched.get(dir)
    if (!before || before.inode === lookAt(dir)?.inode) return
    watched.delete(dir)
    await before.stop().catch(() => {})
  }

  const changed = async (paths: string[]) => {
    await sleep(GATHER_MS)
    for (const path of new Set(paths)) await nudge(path)
  }

  const nudge = async (path: string) => {
    // A database moves in its write-ahead log first.
    const main = path.replace(/-(wal|shm|journal)$/, "")
    for (const { platform, place } of places) {
      if (!main.startsWith(place.dir + sep)) continue
      const claim = claimOf(platform, place, main)
      const found = claim && lookAtSource({ platform, place, claim, path: main })
      if (found) offer(found, true)
      // Of files that lie in a new folder from its first moment on, watchers tell nothing.
      if (!claim) await scanPlace(platform, place, (inside) => offer(inside, true), path)
    }
  }

  const read = async (found: FoundSource) => {
    const { platform, place, claim, path } = found
    const before = await store.sources.byKey(platform.id, claim.key)
    // Looked at before reading: what is written meanwhile shows as another look afterwards.
    const look = lookAtSource(found)?.look
    // Gone, or offered once more while it was being read.
    if (!look || looks.get(keyOf(found)) === lookText({ ...found, look })) return
    const request = { platform: platform.id, key: claim.key, path, reader: claim.reader, look, before }
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
    }
    progress.sourcesDone++
  }

  /** What is being written may be readable in a moment, and a full disk is no fault of the file. */
  const isWorthAnotherTry = (found: FoundSource, look: Look, error: unknown): boolean => {
    const before = troubled.get(keyOf(found))
    const tries = before?.look === lookText({ ...found, look }) ? before.tries + 1 : 1
    troubled.set(keyOf(found), { look: lookText({ ...found, look }), tries })
    return error instanceof Failure || tries < MAX_TRIES
  }

  /** What is read anew at every change rests after each reading: an agent that streams changes it all the time. */
  const rested = async ({ found, done }: Taken) => {
    if (found.claim.reader.mode !== "lines") await sleep(REST_MS, undefined, { ref: false })
    done()
  }

  return {
    nudge,
    async readNow(platformId, path) {
      const platform = platforms.find(({ id }) => id === platformId)
      const place = { dir: dirname(path), depth: 0 }
      const claim = platform && claimOf(platform, place, path)
      const found = claim && lookAtSource({ platform, place, claim, path })
      if (!found) return
      await read(found)
      // A folder that was not there at the last sweep is followed from now on.
      if (!places.some(({ place: known }) => known.dir === place.dir)) places.push({ platform, place })
      await listen(place)
    },
    async sync(platformId) {
      await sweep(platformId)
      await queue.whenEmpty()
    },
    progress: () => ({ ...progress, ...queue.left(), waiting: queue.waiting() }),
    async run(signal) {
      for (const source of await store.sources.looks())
        looks.set(`${source.platform}\n${source.key}`, sourceText(source))
      const attempt = (work: () => Promise<void>) =>
        work().catch((error: unknown) => deps.onTrouble({ platform: "-", path: "the sweep" }, error))
      const again = async (work: () => Promise<void>, pauseMs: number) => {
        for (;;) {
          await sleep(pauseMs, undefined, { signal }).catch(() => {})
          if (signal.aborted) return
          await attempt(work)
        }
      }
      const readAll = async (wish: { liveOnly: boolean }) => {
        for (let next = await queue.take(signal, wish); next; next = await queue.take(signal, wish)) {
          await read(next.found)
          void rested(next).then(settle)
        }
      }
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
      const running = [readAll({ liveOnly: true }), again(lookForNew, APPEAR_MS)]
      // Of the old the newest comes first, so that all must be known before.
      await attempt(() => sweep())
      running.push(again(() => sweep(), SWEEP_MS))
      for (let reader = 1; reader < READERS; reader++) running.push(readAll({ liveOnly: false }))
      if (!signal.aborted) await stopped
      await reading?.stop()
      await Promise.all(running)
      await Promise.allSettled([...watched.values()].map(({ stop }) => stop()))
    },
  }
}

const keyOf = ({ platform, claim }: FoundSource) => `${platform.id}\n${claim.key}`
const lookText = ({ look, path, claim }: FoundSource) => sourceText({ ...look, path, key: claim.key })
/** Short: there is one for every file. Most often the key is the path. */
const sourceText = ({ path, key, inode, sizeBytes, mtimeMs }: Omit<SourceLook, "platform">) =>
  `${inode} ${sizeBytes} ${mtimeMs}${path === key ? "" : ` ${path}`}`

async function knownProjects(store: Store): Promise<string[]> {
  const projects = await store.projects.list()
  return projects
    .flatMap(({ rootUri }) => (rootUri.startsWith("file://") ? [decodeURIComponent(new URL(rootUri).pathname)] : []))
    .filter((dir) => dirname(dir) !== dir)
}

async function noteTrouble(
  store: Store,
  request: Parameters<typeof readSource>[0],
  error: unknown,
  clock: Clock,
): Promise<void> {
  const { platform, key, path, reader, before } = request
  // Without its look: it is tried again at the next start.
  const empty = {
    mode: reader.mode,
    inode: "",
    sizeBytes: 0,
    mtimeMs: 0,
    offset: 0,
    headHash: "",
    tailHash: "",
    memory: null,
    lines: 0,
    skipped: {},
    unknown: 0,
    unreadable: 0,
  }
  const trouble = error instanceof Error ? error.message : String(error)
  await store.sources.save({ ...empty, ...before, platform, key, path, readAtMs: clock.nowMs(), trouble })
}
