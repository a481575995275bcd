import type { Machine, Platform } from "../../domain/platform.ts"
import { claimOf, filesIn } from "../watch/scan.ts"

/** What agents keep conversations in; anything else in their folders may be whatever it likes. */
const DATA = /\.(?:jsonl(?:\.zst)?|db)$/
const EXAMPLES = 3
/** A folder that holds so much else is not looked through to its end. */
const MOST_FILES = 2_000

/** Looked for only where nothing of the platform was found: a new version may keep conversations under other names. */
export function unrecognisedFiles(platform: Platform, machine: Machine): string[] {
  const found: string[] = []
  for (const place of platform.places(machine)) {
    // A home folder is everybody's.
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
