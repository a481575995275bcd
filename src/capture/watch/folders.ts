import { realpathSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import type { Project, ProjectFinder } from "../../domain/project.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { canonicalRoot, isSameOrAbove, parseRoot } from "../../lib/roots.ts"
import { DAY_MS, HOUR_MS } from "../../lib/time.ts"

/** Project folders in which an agent may start a conversation log, including folders without sessions. */
export type Folders = ReturnType<typeof makeFolders>

export interface FoldersDeps {
  store: Store
  clock: Clock
  projects: ProjectFinder
  homeDir: string
  /** This machine's name: callers' folders are stored per machine. */
  host: string
  excluded(dir: string): boolean
  /** The folders in the current settings. */
  configured?(): readonly string[]
  teamDirs?(): readonly string[]
}

const MAX_CALLERS = 256
/** Separate limit, so that clients over TCP cannot push out folders of local agents. */
const MAX_CLAIMED = 32
const MAX_RECENT = 256
const MAX_PENDING = 100
/** Unused folders are dropped after this. */
const KEEP_MS = 30 * DAY_MS
/** How stale the stored time may get. */
const WRITE_MS = HOUR_MS

export function makeFolders(deps: FoldersDeps) {
  const { store, clock, projects, homeDir, host, excluded, configured = () => [], teamDirs = () => [] } = deps
  const pending = new Map<string, Caller>()
  const callers = new Map<string, number>()
  const claimed = new Map<string, number>()
  /** Projects with new turns, newest last. */
  const recent = new Set<string>()
  let [isLoaded, isSeeded] = [false, false]
  let prunedAtMs = 0

  const load = async () => {
    if (isLoaded) return
    const rows = await store.folders.of(host)
    for (const { path, seenAtMs } of rows) if (!callers.has(path)) callers.set(path, seenAtMs)
    isLoaded = true
  }

  const prune = async () => {
    const nowMs = clock.nowMs()
    const newestFirst = [...callers].toSorted((a, b) => b[1] - a[1])
    const gone = newestFirst.filter(([, seenAtMs], index) => index >= MAX_CALLERS || nowMs - seenAtMs > KEEP_MS)
    for (const [path] of gone) callers.delete(path)
    await store.folders.drop(
      host,
      gone.map(([path]) => path),
    )
    prunedAtMs = nowMs
  }

  const remember = async (path: string, isRemote: boolean) => {
    const nowMs = clock.nowMs()
    if (isRemote) {
      claimed.delete(path)
      claimed.set(path, nowMs)
      trim(claimed, MAX_CLAIMED)
      return
    }
    const before = callers.get(path)
    if (before !== undefined && Math.abs(nowMs - before) < WRITE_MS) return
    await store.folders.seen(host, path, nowMs)
    callers.set(path, nowMs)
    if (callers.size > MAX_CALLERS) await prune()
  }

  const settle = async (caller: Caller) => {
    await load()
    for (const path of await foldersOf(caller)) await remember(path, caller.isRemote === true)
  }

  /** The named folder and its project's root: agents write below either. */
  const foldersOf = async (caller: Caller): Promise<string[]> => {
    const root = await unlessWrong(projects.ofCaller({ ...caller, canAskRoots: false }))
    if (!root) return []
    const place = await unlessWrong(Promise.try(() => canonicalRoot(parseRoot(root.given, homeDir), homeDir)))
    const home = realOr(homeDir)
    // The home folder has its own log, which is always watched.
    return place
      ? [...new Set([place.realPath, place.rootPath])].filter((dir) => !isSameOrAbove(dir, home) && !excluded(dir))
      : []
  }

  const named = () => [...configured().map((folder) => realOr(parseRoot(folder, homeDir))), ...teamDirs()]

  return {
    /** Notes a caller's folder; the next round processes it. */
    met(caller: Caller) {
      if (pending.size >= MAX_PENDING) return
      pending.set(JSON.stringify([caller.key, caller.projectDir, caller.roots, caller.cwd]), caller)
    },
    /** Processes a caller's folder now. */
    follow: settle,
    /** Something was just stored for this project. */
    add({ rootUri }: Project) {
      if (!rootUri.startsWith("file://")) return
      const dir = fileURLToPath(rootUri)
      recent.delete(dir)
      recent.add(dir)
      trim(recent, MAX_RECENT)
    },
    /** Processes noted callers and drops unused folders. */
    async round() {
      await load()
      for (const [key, caller] of pending) {
        await settle(caller)
        pending.delete(key)
      }
      if (clock.nowMs() - prunedAtMs > WRITE_MS) await prune()
    },
    /** All known projects and callers' folders, for the sweep. */
    async all() {
      await load()
      const known = await knownProjects(store)
      // After a start the newest projects are the likeliest.
      if (!isSeeded) for (const dir of known.slice(0, MAX_RECENT - recent.size).reverse()) recent.add(dir)
      isSeeded = true
      return [...new Set([...named(), ...callers.keys(), ...claimed.keys(), ...known])]
    },
    /** The few that are checked every two seconds. */
    near: () => [...new Set([...named(), ...callers.keys(), ...claimed.keys(), ...recent])],
  }
}

/** Project folders, newest first: some agents store their records there. */
async function knownProjects(store: Store): Promise<string[]> {
  const projects = await store.projects.list()
  return projects
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs)
    .flatMap(({ rootUri }) => (rootUri.startsWith("file://") ? [decodeURIComponent(new URL(rootUri).pathname)] : []))
    .filter((dir) => dirname(dir) !== dir)
}

function trim(from: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of from.keys()) {
    if (from.size <= most) return
    from.delete(key)
  }
}

/** Undefined for an invalid folder; an unavailable database is reported by the loop. */
async function unlessWrong<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Failure && !error.kind.retry) return undefined
    throw error
  }
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
