import { type Dirent, readdirSync, statSync } from "node:fs"
import { join, sep } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { Claim, FoundFile, Machine, Place, Platform } from "../../domain/platform.ts"
import type { Look } from "./reading.ts"

/** Asking for each file by itself costs ten times as much; so it is done at once, for as long as nobody notices. */
const SLICE_MS = 4

/** A source as it lies on the disk now. */
export interface FoundSource {
  platform: Platform
  place: Place
  claim: Claim
  /** The file that the reader is given. */
  path: string
  look: Look
}

/** Where a platform looks on this machine, the folders of known projects included. */
export function placesOf(platform: Platform, machine: Machine, projectDirs: readonly string[]): Place[] {
  const inProjects = projectDirs.flatMap((dir) => platform.projectPlaces?.(dir) ?? [])
  return [...platform.places(machine), ...inProjects]
}

/** Everything that the platform keeps in a place, or in one folder of it. Resolves with how many there are. */
export async function scanPlace(
  platform: Platform,
  place: Place,
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

export function claimOf(platform: Platform, place: Place, path: string): Claim | undefined {
  const file: FoundFile = { path, place, relative: path.slice(place.dir.length + 1).replaceAll("\\", "/") }
  return platform.claim(file)
}

/** One look at all the files of a source: any of them changing changes it. */
export function lookAtSource(source: Omit<FoundSource, "look">): FoundSource | undefined {
  const { claim, path } = source
  const beside = claim.reader.mode === "database" ? claim.reader.watch(path) : []
  const looks = [...(claim.files ?? [path]), ...beside].map(lookAt).filter((look) => look !== undefined)
  if (looks.length === 0) return undefined
  const look = {
    inode: looks[0]!.inode,
    sizeBytes: looks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    mtimeMs: Math.max(...looks.map(({ mtimeMs }) => mtimeMs)),
  }
  return { ...source, look }
}

export function lookAt(path: string): Look | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && { inode: `${found.dev}:${found.ino}`, sizeBytes: found.size, mtimeMs: Math.trunc(found.mtimeMs) }
  } catch {
    return undefined
  }
}

interface FileIn {
  path: string
  /** Of its folder: the files of a source lie together. Kept for longer, all names would outlive the sweep. */
  keys: Set<string>
}

function* filesIn(dir: string, depth: number): Generator<FileIn> {
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
    if (entry.isFile()) yield { path, keys }
    else if (entry.isDirectory()) yield* filesIn(path, depth - 1)
  }
}
