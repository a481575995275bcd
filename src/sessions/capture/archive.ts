import type { Capture } from "../../domain/capture.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Project } from "../../domain/project.ts"
import type { NewSource } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import { Keeper, type KnownSession } from "./keeper.ts"

/** A piece of a source's reading: what it held, and how far the source is read once that is kept. */
export interface Batch {
  captures: Capture[]
  source: NewSource
  /** Set on the last batch of a whole reading: turns of this source that it did not hold are gone from the platform. */
  seen?: ReadonlySet<string>
}

export interface Archive {
  /** One transaction: sessions, turns, the source's position, journal. Doing it twice changes nothing. */
  keep(batch: Batch): Promise<{ turns: number }>
  /** Drops what is remembered of sessions from batch to batch. */
  reset(): void
}

export interface ArchiveRules {
  redact(text: string, projectPath: string | null): string
  /** True for folders of which nothing may be kept. */
  excluded(projectPath: string): boolean
  projectOf(path: string): Promise<Project | undefined>
}

const MAX_KNOWN = 5_000
export function makeArchive({ store, clock, rules }: { store: Store; clock: Clock; rules: ArchiveRules }): Archive {
  const known = new Map<string, KnownSession>()
  let last: Promise<unknown> = Promise.resolve()

  const keep = async (batch: Batch) => {
    // Resolved before the transaction: it looks at folders, and the embedded database has one connection.
    const projects = await projectsOf(batch.captures, rules)
    if (known.size > MAX_KNOWN) known.clear()
    try {
      return await store.transaction((tx) => new Keeper(tx, batch, projects, known, rules, clock).run())
    } catch (error) {
      // What the cache says may have been rolled back.
      known.clear()
      throw error
    }
  }

  return {
    reset: () => known.clear(),
    keep(batch) {
      // One after the other: the cache must not hold what another transaction has not committed yet.
      const kept = last.then(() => keep(batch))
      last = kept.catch(() => {})
      return kept
    },
  }
}

async function projectsOf(captures: Capture[], rules: ArchiveRules): Promise<Map<string, Project | undefined>> {
  const paths = new Set(
    captures.flatMap((capture) =>
      capture.type === "session" && capture.projectPath !== undefined ? [capture.projectPath] : [],
    ),
  )
  const found = new Map<string, Project | undefined>()
  for (const path of paths) found.set(path, rules.excluded(path) ? undefined : await rules.projectOf(path))
  return found
}
