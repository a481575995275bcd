import type { Machine, Platform } from "../../domain/platform.ts"
import { claimOf, filesIn } from "../watch/scan.ts"

/** File types in which agents store conversations. */
const DATA = /\.(?:jsonl(?:\.zst)?|db)$/
const EXAMPLES = 3
/** Limits the search in large folders. */
const MOST_FILES = 2_000

/** Files to report when nothing was recognised: a new version may use other file names. */
export function unrecognisedFiles(platform: Platform, machine: Machine): string[] {
  const found: string[] = []
  for (const place of platform.places(machine)) {
    // The home folder has files of all kinds of programs.
    if (place.dir === machine.homeDir) continue
    let seen = 0
    for (const { path } of filesIn(place.dir, place.depth)) {
      if (++seen > MOST_FILES || found.length >= EXAMPLES) break
      if (claimOf(platform, place, path)) return []
      if (DATA.test(path)) found.push(path)
    }
  }
  return found
}
