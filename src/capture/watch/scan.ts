import { type Dirent, readdirSync, type Stats } from "node:fs"
import { join, sep } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { Claim, FoundFile, Machine, Platform, SourcePlace } from "../../domain/platform.ts"
import { checkLinks, lookAt as lookAtPath, lookBehind } from "../../lib/untrusted-file.ts"
import type { SourceStat } from "../read/reading.ts"

/** Asking for each file by itself costs ten times as much; so it is done at once, for as long as nobody notices. */
const SLICE_MS = 4

/** A source as it lies on the disk now. */
export interface FoundSource {
  platform: Platform
  place: SourcePlace
  claim: Claim
  /** The file that the reader is given. */
  path: string
  look: SourceStat
}

/** Where a platform looks on this machine, the folders of known projects included. */
export function placesOf(platform: Platform, machine: Machine, projectDirs: readonly string[]): SourcePlace[] {
  return [...platform.places(machine), ...projectPlacesOf(platform, projectDirs)]
}

export function projectPlacesOf(platform: Platform, projectDirs: readonly string[]): SourcePlace[] {
  return projectDirs.flatMap((dir) => (platform.projectPlaces?.(dir) ?? []).map((place) => ({ ...place, within: dir })))
}

/** Where no link is followed: in the whole of a project, or below an agent's own folder, which may be one itself. */
export const withinOf = ({ within, dir }: SourcePlace) => within ?? dir

type OnTrouble = (source: { platform: string; path: string }, error: unknown) => void

/** Whether nobody else has linked a place to elsewhere; what is wrong is told once. A place that is not there is trusted. */
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

/** Everything that the platform keeps in a place, or in one folder of it. Resolves with how many there are. */
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
    await setImmediate()
    sliceMs = performance.now()
  }
  return count
}

export function claimOf(platform: Platform, place: SourcePlace, path: string): Claim | undefined {
  const file: FoundFile = { path, place, relative: path.slice(place.dir.length + 1).replaceAll("\\", "/") }
  return platform.claim(file)
}

/** One look at all the files of a source: any of them changing changes it. */
export function lookAtSource(source: Omit<FoundSource, "look">): FoundSource | undefined {
  const { claim, path } = source
  // A commit ends with the deletion of the rollback journal, which leaves the database file as it is.
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

/** At the path itself: a link is not followed. */
function lookAt(path: string): SourceStat | undefined {
  const found = lookAtPath(path)
  return found && asLook(found)
}

/** Behind its links: people keep agents' folders elsewhere. */
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
  /** Of its folder: the files of a source lie together. Kept for longer, all names would outlive the sweep. */
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
    // Links, FIFOs and devices too: opening them is refused, and so they are named among the sources.
    else yield { path, keys }
  }
}
