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
import { makeWatched } from "./watched.ts"

/** Finds what is new on the disk and offers it to be read. */
export interface Looking {
  /** Looks into every place, or every place of one platform. */
  sweep(platformId?: string): Promise<void>
  /** Looks for agents' own folders that appeared a moment ago. */
  lookForNew(): Promise<void>
  /** Looks for logs in project folders, where something appeared or was deleted since the last look. */
  lookAtProjects(): Promise<void>
  /** Says that a file has changed: a hook or a watcher knows it before the next sweep does. */
  nudge(path: string): Promise<void>
  /** Follows a place that was not there at the last sweep. */
  take(platform: Platform, place: SourcePlace): Promise<void>
  stop(): Promise<unknown>
}

interface Deps extends Pick<CapturingDeps, "watch" | "onTrouble"> {
  clock: Clock
  platforms: readonly Platform[]
  machine: Machine
  folders: Pick<Folders, "round" | "all" | "near">
  offer(found: FoundSource, live: boolean): void
  /** Something of this agent is there. */
  onFound(platform: Platform): void
  onChanged(paths: string[]): void
}

const JUST_MS = 5_000

export function makeLooking(deps: Deps): Looking {
  const { clock, platforms, machine, folders, offer } = deps
  const isTrusted = placeChecker(deps.onTrouble)
  /** How each folder looked when it was looked into last. */
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
    // What was written before the watcher was there has told nobody.
    if (watched.has(place.dir)) await scan()
  }

  const add = (platform: Platform, place: SourcePlace) => {
    const isKnown = places.some((one) => one.platform === platform && one.place.dir === place.dir)
    if (!isKnown) places.push({ platform, place })
  }

  return {
    async sweep(platformId) {
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
    async lookForNew() {
      for (const platform of platforms) {
        for (const place of platform.places(machine)) {
          const look = lookAtFolder(place.dir)
          if (!look || look.inode === watched.inode(place.dir)) continue
          if (clock.nowMs() - look.mtimeMs < JUST_MS) await lookInto(platform, place)
        }
      }
    },
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
    async nudge(given) {
      // Named by an agent, it may lead out of its place by way of "..".
      const path = resolve(given)
      // A database moves in its write-ahead log first.
      const main = path.replace(/-(wal|shm|journal)$/, "")
      // The innermost place first: seen from an outer one, a place that is a link would be a link inside of it.
      const around = places.filter(({ place }) => main.startsWith(place.dir + sep))
      const claimed = new Set<Platform>()
      for (const { platform, place } of around.toSorted((a, b) => b.place.dir.length - a.place.dir.length)) {
        if (claimed.has(platform)) continue
        const claim = claimOf(platform, place, main)
        if (claim) claimed.add(platform)
        const found = claim && lookAtSource({ platform, place, claim, path: main })
        if (found) offer(found, true)
        // Of files that lie in a new folder from its first moment on, watchers tell nothing.
        if (!claim) await scanPlace(platform, place, (inside) => offer(inside, true), path)
      }
    },
    async take(platform, place) {
      add(platform, place)
      await watched.listen(place)
    },
    stop: watched.stop,
  }
}
