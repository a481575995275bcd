import { realpath } from "node:fs/promises"
import { resolve, sep } from "node:path"
import type { Machine, Platform, SourcePlace } from "../../domain/platform.ts"
import type { Clock } from "../../lib/clock.ts"
import type { CapturingDeps } from "../store/capturing.ts"
import type { Folders } from "./folders.ts"
import {
  claimOf,
  type FoundSource,
  lookAtFolder,
  lookAtSource,
  placeChecker,
  placesOf,
  projectPlacesOf,
  scanPlace,
} from "./scan.ts"

interface Deps extends Pick<CapturingDeps, "watch" | "onTrouble"> {
  clock: Clock
  platforms: readonly Platform[]
  machine: Machine
  folders: Pick<Folders, "round" | "all" | "near">
  offer(found: FoundSource, live: boolean): void
  /** This agent has sources. */
  onFound(platform: Platform): void
  onChanged(paths: string[]): void
}

const JUST_MS = 5_000

/** Finds new and changed sources and offers them for reading. */
export function makeLooking(deps: Deps) {
  const { clock, platforms, machine, folders, offer } = deps
  const isTrusted = placeChecker(deps.onTrouble)
  /** Each folder's state at its last scan. */
  const lastLooks = new Map<string, string>()
  const watched = makeWatched(deps, deps.onChanged, (dir) => lastLooks.delete(dir))
  let places: { platform: Platform; place: SourcePlace }[] = []

  const lookInto = async (platform: Platform, place: SourcePlace) => {
    await watched.forgetReplaced(place.dir)
    if (!isTrusted(platform, place)) return
    const isNew = !watched.has(place.dir)
    const scan = () => scanPlace(platform, place, (source) => offer(source, false))
    if ((await scan()) === 0) return
    deps.onFound(platform)
    if (!isNew) return
    await watched.listen(place)
    // Scan again: files written before the watcher started raised no event.
    if (watched.has(place.dir)) await scan()
  }

  const add = (platform: Platform, place: SourcePlace) => {
    const isKnown = places.some((one) => one.platform === platform && one.place.dir === place.dir)
    if (!isKnown) places.push({ platform, place })
  }

  return {
    /** Scans every place, or those of one platform. */
    async sweep(platformId?: string) {
      const projectDirs = await folders.all()
      places = platforms.flatMap((platform) =>
        placesOf(platform, machine, projectDirs).map((place) => ({ platform, place })),
      )
      const dirs = new Set(places.map(({ place }) => place.dir))
      await watched.keepOnly(dirs)
      for (const dir of lastLooks.keys()) if (!dirs.has(dir)) lastLooks.delete(dir)
      for (const { platform, place } of places)
        if (platformId === undefined || platform.id === platformId) await lookInto(platform, place)
    },
    /** Scans agents' own folders that just appeared. */
    async lookForNew() {
      for (const platform of platforms) {
        for (const place of platform.places(machine)) {
          const look = lookAtFolder(place.dir)
          if (!look || look.inode === watched.inode(place.dir)) continue
          if (clock.nowMs() - look.mtimeMs < JUST_MS) await lookInto(platform, place)
        }
      }
    },
    /** Scans log folders of projects in which a file appeared or was deleted. */
    async lookAtProjects() {
      await folders.round()
      const dirs = folders.near()
      for (const platform of platforms)
        for (const place of projectPlacesOf(platform, dirs)) {
          const look = lookAtFolder(place.dir)
          const text = look ? `${look.inode} ${look.mtimeMs}` : ""
          if (text === (lastLooks.get(place.dir) ?? "")) continue
          lastLooks.set(place.dir, text)
          if (look) add(platform, place)
          await lookInto(platform, place)
        }
    },
    async nudge(given: string) {
      // A path named by an agent may contain "..".
      const path = resolve(given)
      // Databases change in their write-ahead log first.
      const main = path.replace(/-(wal|shm|journal)$/, "")
      // Innermost first: a symlinked place would be rejected as a link inside its outer place.
      const around = places.filter(({ place }) => main.startsWith(place.dir + sep))
      const claimed = new Set<Platform>()
      for (const { platform, place } of around.toSorted((a, b) => b.place.dir.length - a.place.dir.length)) {
        if (claimed.has(platform)) continue
        const claim = claimOf(platform, place, main)
        if (claim) claimed.add(platform)
        const found = claim && lookAtSource({ platform, place, claim, path: main })
        if (found) offer(found, true)
        // Watchers do not report files that a new folder has from the start.
        if (!claim) await scanPlace(platform, place, (inside) => offer(inside, true), path)
      }
    },
    /** Starts watching a place that the last sweep did not know. */
    async take(platform: Platform, place: SourcePlace) {
      add(platform, place)
      await watched.listen(place)
    },
    stop: watched.stop,
  }
}

/** Watched folders. Watchers are hints: the sweep finds what they miss. */
function makeWatched(
  { watch, onTrouble }: Pick<CapturingDeps, "watch" | "onTrouble">,
  onPaths: (paths: string[]) => void,
  /** The folder was deleted or moved, so its watcher is dead. */
  onLost: (dir: string) => void,
) {
  const watched = new Map<string, { inode: string | undefined; stop(): Promise<void> }>()
  const forget = async (dir: string) => {
    const before = watched.get(dir)
    watched.delete(dir)
    await before?.stop().catch(() => {})
  }
  return {
    has: (dir: string) => watched.has(dir),
    inode: (dir: string) => watched.get(dir)?.inode,
    async listen({ dir, depth }: SourcePlace) {
      if (watched.has(dir) || !watch) return
      const inode = lookAtFolder(dir)?.inode
      watched.set(dir, { inode, stop: async () => {} })
      try {
        // Watchers refuse symlinks or report the target's path.
        const real = await realpath(dir)
        const told = (paths: string[]) => {
          if (paths.includes(real)) {
            onLost(dir)
            void forget(dir)
          }
          onPaths(paths.filter((path) => path !== real).map((path) => dir + path.slice(real.length)))
        }
        watched.set(dir, { inode, stop: await watch({ dir: real, depth }, told) })
      } catch (error) {
        onTrouble({ platform: "-", path: dir }, error)
      }
    },
    /** A watcher does not notice that its folder was replaced. */
    async forgetReplaced(dir: string) {
      const before = watched.get(dir)
      if (before && before.inode !== lookAtFolder(dir)?.inode) await forget(dir)
    },
    async keepOnly(dirs: ReadonlySet<string>) {
      for (const dir of watched.keys()) if (!dirs.has(dir)) await forget(dir)
    },
    stop: () => Promise.allSettled([...watched.values()].map(({ stop }) => stop())),
  }
}
