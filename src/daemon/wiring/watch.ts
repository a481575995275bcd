import { unwatchFile, watch, watchFile } from "node:fs"
import { basename, join } from "node:path"
import type { AsyncSubscription } from "@parcel/watcher"
import type { SourcePlace } from "../../domain/platform.ts"

/** Watches a place through the system's API. The place's own path means that it was deleted. */
export async function watchPlace(
  { dir, depth }: SourcePlace,
  onPaths: (paths: string[]) => void,
): Promise<() => Promise<void>> {
  // The recursive watcher would watch everything below, such as a whole project.
  return depth === 0 ? watchFolder(dir, onPaths) : watchTree(dir, onPaths)
}

function watchFolder(dir: string, onPaths: (paths: string[]) => void): () => Promise<void> {
  const watcher = watch(dir, { persistent: false }, (event, name) => {
    // An event under its own name means the folder was deleted or moved.
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
    // An error means lost events; the sweep finds the changes.
    if (!error) onPaths(events.filter((event) => event.type !== "delete").map((event) => event.path))
  })
  return () => subscription.unsubscribe()
}

const CONFIG_MS = 500

/** Polled: editors replace the file, and the folder's database changes constantly. */
export function watchConfig(path: string, onChange: () => void): () => void {
  const listener = () => onChange()
  watchFile(path, { interval: CONFIG_MS, persistent: false }, listener)
  return () => unwatchFile(path, listener)
}
