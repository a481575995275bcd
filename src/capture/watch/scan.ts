import { type Dirent, readdirSync, type Stats } from "node:fs"
import { join, sep } from "node:path"
import type { Claim, FoundFile, Machine, Platform, SourcePlace } from "../../domain/platform.ts"
import { nextTurn } from "../../lib/clock.ts"
import { checkLinks, lookAt as lookAtPath, lookBehind } from "../../lib/untrusted-file.ts"
import type { SourceStat } from "../read/reading.ts"

/** Yields after this long. Asynchronous calls per file would cost ten times as much. */
const SLICE_MS = 4

/** A source as it is on disk now. */
export interface FoundSource {
  platform: Platform
  place: SourcePlace
  claim: Claim
  /** The file that the reader is given. */
  path: string
  look: SourceStat
}

/** A platform's places on this machine, including project folders. */
export function placesOf(platform: Platform, machine: Machine, projectDirs: readonly string[]): SourcePlace[] {
  return [...platform.places(machine), ...projectPlacesOf(platform, projectDirs)]
}

export function projectPlacesOf(platform: Platform, projectDirs: readonly string[]): SourcePlace[] {
  return projectDirs.flatMap((dir) => (platform.projectPlaces?.(dir) ?? []).map((place) => ({ ...place, within: dir })))
}

/** No symlinks are followed below this folder. An agent's own folder may be a symlink itself. */
export const withinOf = ({ within, dir }: SourcePlace) => within ?? dir

type OnTrouble = (source: { platform: string; path: string }, error: unknown) => void

/** Whether a place is free of foreign symlinks; reports each bad place once. Missing places are trusted. */
export function placeChecker(onTrouble: OnTrouble): (platform: Platform, place: SourcePlace) => boolean {
  const refused = new Set<string>()
  return (platform, { dir, within }) => {
    try {
      checkLinks(dir, within === undefined ? { links: "own" } : { within })
      refused.delete(dir)
      return true
    } catch (error) {
      if (!refused.has(dir)) onTrouble({ platform: platform.id, path: dir }, error)
      refused.add(dir)
      return false
    }
  }
}

/** Finds the platform's sources in a place, or in one folder of it. Returns their number. */
export async function scanPlace(
  platform: Platform,
  place: SourcePlace,
  onFound: (source: FoundSource) => void,
  folder = place.dir,
): Promise<number> {
  let count = 0
  const depth = place.depth - (folder.slice(place.dir.length).split(sep).length - 1)
  let sliceMs = performance.now()
  for (const { path, keys } of filesIn(folder, depth)) {
    const claim = claimOf(platform, place, path)
    const source = claim && !keys.has(claim.key) ? lookAtSource({ platform, place, claim, path }) : undefined
    if (source) {
      keys.add(source.claim.key)
      count++
      onFound(source)
    }
    if (performance.now() - sliceMs < SLICE_MS) continue
    await nextTurn()
    sliceMs = performance.now()
  }
  return count
}

export function claimOf(platform: Platform, place: SourcePlace, path: string): Claim | undefined {
  const file: FoundFile = { path, place, relative: path.slice(place.dir.length + 1).replaceAll("\\", "/") }
  return platform.claim(file)
}

/** The combined state of all files of a source. */
export function lookAtSource(source: Omit<FoundSource, "look">): FoundSource | undefined {
  const { claim, path } = source
  // A commit may only delete the rollback journal and leave the database file unchanged.
  const beside = claim.reader.mode === "database" ? [...claim.reader.watch(path), `${path}-journal`] : []
  const looks = [...(claim.files ?? [path]), ...beside].map(lookAt).filter((look) => look !== undefined)
  if (looks.length === 0) return undefined
  const look = {
    inode: looks[0]!.inode,
    sizeBytes: looks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    mtimeMs: Math.max(...looks.map(({ mtimeMs }) => mtimeMs)),
  }
  return { ...source, look }
}

/** Does not follow symlinks. */
function lookAt(path: string): SourceStat | undefined {
  const found = lookAtPath(path)
  return found && asLook(found)
}

/** Follows symlinks: people move agents' folders elsewhere. */
export function lookAtFolder(path: string): SourceStat | undefined {
  const found = lookBehind(path)
  return found && asLook(found)
}

const asLook = ({ dev, ino, size, mtimeMs }: Stats): SourceStat => ({
  inode: `${dev}:${ino}`,
  sizeBytes: size,
  mtimeMs: Math.trunc(mtimeMs),
})

interface FileIn {
  path: string
  /** Keys found in this folder, to return a source once: all files of a source are in one folder. */
  keys: Set<string>
}

export function* filesIn(dir: string, depth: number): Generator<FileIn> {
  if (depth < 0) return
  let entries: Dirent[]
  try {
    entries = readdirSync(dir, { withFileTypes: true })
  } catch {
    return
  }
  const keys = new Set<string>()
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) yield* filesIn(path, depth - 1)
    // Includes symlinks, FIFOs and devices: they fail to open and are reported among the sources.
    else yield { path, keys }
  }
}
