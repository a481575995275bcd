import { realpath } from "node:fs/promises"
import type { SourcePlace } from "../../domain/platform.ts"
import type { CapturingDeps } from "../store/capturing.ts"
import { lookAtFolder } from "./scan.ts"

/** Watched folders. Watchers are hints: the sweep finds what they miss. */
export function makeWatched(
  { watch, onTrouble }: Pick<CapturingDeps, "watch" | "onTrouble">,
  onPaths: (paths: string[]) => void,
  /** The folder was deleted or moved, so its watcher is dead. */
  onLost: (dir: string) => void,
) {
  const watched = new Map<string, { inode: string | undefined; stop(): Promise<void> }>()
  const forget = async (dir: string) => {
    const before = watched.get(dir)
    watched.delete(dir)
    await before?.stop().catch(() => {})
  }
  return {
    has: (dir: string) => watched.has(dir),
    inode: (dir: string) => watched.get(dir)?.inode,
    async listen({ dir, depth }: SourcePlace) {
      if (watched.has(dir) || !watch) return
      const inode = lookAtFolder(dir)?.inode
      watched.set(dir, { inode, stop: async () => {} })
      try {
        // Watchers refuse symlinks or report the target's path.
        const real = await realpath(dir)
        const told = (paths: string[]) => {
          if (paths.includes(real)) {
            onLost(dir)
            void forget(dir)
          }
          onPaths(paths.filter((path) => path !== real).map((path) => dir + path.slice(real.length)))
        }
        watched.set(dir, { inode, stop: await watch({ dir: real, depth }, told) })
      } catch (error) {
        onTrouble({ platform: "-", path: dir }, error)
      }
    },
    /** A watcher does not notice that its folder was replaced. */
    async forgetReplaced(dir: string) {
      const before = watched.get(dir)
      if (before && before.inode !== lookAtFolder(dir)?.inode) await forget(dir)
    },
    async keepOnly(dirs: ReadonlySet<string>) {
      for (const dir of watched.keys()) if (!dirs.has(dir)) await forget(dir)
    },
    stop: () => Promise.allSettled([...watched.values()].map(({ stop }) => stop())),
  }
}
