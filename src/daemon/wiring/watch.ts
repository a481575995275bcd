import { unwatchFile, watch, watchFile } from "node:fs"
import { basename, join } from "node:path"
import type { AsyncSubscription } from "@parcel/watcher"
import type { SourcePlace } from "../../domain/platform.ts"

/** Tells of changes in a place through the system's own means. The path of the place itself means that it is gone. */
export async function watchPlace(
  { dir, depth }: SourcePlace,
  onPaths: (paths: string[]) => void,
): Promise<() => Promise<void>> {
  // Of a folder alone the recursive watcher would watch everything below it: a project's root is such a place.
  return depth === 0 ? watchFolder(dir, onPaths) : watchTree(dir, onPaths)
}

function watchFolder(dir: string, onPaths: (paths: string[]) => void): () => Promise<void> {
  const watcher = watch(dir, { persistent: false }, (event, name) => {
    // Under its own name the system tells that the folder itself was deleted or moved.
    const isOwn = event === "rename" && name === basename(dir)
    onPaths([...(name === null ? [] : [join(dir, name)]), ...(isOwn ? [dir] : [])])
  })
  watcher.on("error", () => {
    watcher.close()
    onPaths([dir])
  })
  return async () => watcher.close()
}

async function watchTree(dir: string, onPaths: (paths: string[]) => void): Promise<() => Promise<void>> {
  const { default: watcher } = await import("@parcel/watcher")
  const subscription: AsyncSubscription = await watcher.subscribe(dir, (error, events) => {
    // An error means lost events; the sweep finds what they would have told.
    if (!error) onPaths(events.filter((event) => event.type !== "delete").map((event) => event.path))
  })
  return () => subscription.unsubscribe()
}

const CONFIG_MS = 500

/** Asked for again and again: editors put a new file in its place, and the folder has a database in it that never rests. */
export function watchConfig(path: string, onChange: () => void): () => void {
  const listener = () => onChange()
  watchFile(path, { interval: CONFIG_MS, persistent: false }, listener)
  return () => unwatchFile(path, listener)
}
