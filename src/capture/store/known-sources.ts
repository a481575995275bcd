import { dirname } from "node:path"
import { errorText } from "../../domain/failure.ts"
import { UNREAD } from "../../domain/source.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { readSource } from "../read/reading.ts"

/** Project folders, newest first: some agents store their records there. */
export async function knownProjects(store: Store): Promise<string[]> {
  const projects = await store.projects.list()
  return projects
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs)
    .flatMap(({ rootUri }) => (rootUri.startsWith("file://") ? [decodeURIComponent(new URL(rootUri).pathname)] : []))
    .filter((dir) => dirname(dir) !== dir)
}

/** Records why a source cannot be read, for `sources`. */
export async function noteTrouble(
  store: Store,
  request: Parameters<typeof readSource>[0],
  error: unknown,
  clock: Clock,
): Promise<void> {
  const { platform, key, path, reader, before } = request
  // With the stat of the last reading, so that it is retried at the next start.
  const known = { mode: reader.mode, ...UNREAD, ...before }
  await store.sources.save({ ...known, platform, key, path, readAtMs: clock.nowMs(), trouble: errorText(error) })
}
