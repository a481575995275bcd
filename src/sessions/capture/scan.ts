import type { Dirent } from "node:fs"
import { readdir } from "node:fs/promises"
import { join, sep } from "node:path"
import type { Claim, FoundFile, Machine, Place, Platform } from "../../domain/platform.ts"
import { type Look, lookAt } from "./reading.ts"

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

/** Everything that the platform keeps in a place, or in one folder of it. */
export async function scanPlace(platform: Platform, place: Place, folder = place.dir): Promise<FoundSource[]> {
  const claims = new Map<string, { claim: Claim; path: string }>()
  const depth = place.depth - (folder.slice(place.dir.length).split(sep).length - 1)
  for await (const path of filesIn(folder, depth)) {
    const claim = claimOf(platform, place, path)
    if (claim && !claims.has(claim.key)) claims.set(claim.key, { claim, path })
  }
  const found = await Promise.all(
    [...claims.values()].map(({ claim, path }) => lookAtSource({ platform, place, claim, path })),
  )
  return found.filter((source) => source !== undefined)
}

export function claimOf(platform: Platform, place: Place, path: string): Claim | undefined {
  const file: FoundFile = { path, place, relative: path.slice(place.dir.length + 1).replaceAll("\\", "/") }
  return platform.claim(file)
}

/** One look at all the files of a source: any of them changing changes it. */
export async function lookAtSource(source: Omit<FoundSource, "look">): Promise<FoundSource | undefined> {
  const { claim, path } = source
  const beside = claim.reader.mode === "database" ? claim.reader.watch(path) : []
  const looks = (await Promise.all([...(claim.files ?? [path]), ...beside].map(lookAt))).filter(
    (look) => look !== undefined,
  )
  if (looks.length === 0) return undefined
  const look = {
    inode: looks[0]!.inode,
    sizeBytes: looks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    mtimeMs: Math.max(...looks.map(({ mtimeMs }) => mtimeMs)),
  }
  return { ...source, look }
}

async function* filesIn(dir: string, depth: number): AsyncGenerator<string> {
  if (depth < 0) return
  let entries: Dirent[]
  try {
    entries = await readdir(dir, { withFileTypes: true })
  } catch {
    return
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(dir, entry.name)
    if (entry.isFile()) yield path
    else if (entry.isDirectory()) yield* filesIn(path, depth - 1)
  }
}
