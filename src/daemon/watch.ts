import type { AsyncSubscription } from "@parcel/watcher"

/** Tells of changes below a folder through the system's own means. Loaded only when there is a folder to watch. */
export async function watchFolder(dir: string, onPaths: (paths: string[]) => void): Promise<() => Promise<void>> {
  const { default: watcher } = await import("@parcel/watcher")
  const subscription: AsyncSubscription = await watcher.subscribe(dir, (error, events) => {
    // An error means lost events; the sweep finds what they would have told.
    if (!error) onPaths(events.filter((event) => event.type !== "delete").map((event) => event.path))
  })
  return () => subscription.unsubscribe()
}
