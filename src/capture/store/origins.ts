import { realpathSync } from "node:fs"
import { resolve, sep } from "node:path"
import type { PlaceSource } from "../../domain/capture.ts"
import { Failure } from "../../domain/failure.ts"
import { scopedId } from "../../domain/ids.ts"
import type { Origin, Placement } from "../../domain/origin.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { isSameOrAbove, parseRoot } from "../../lib/roots.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { lookAt } from "../../lib/untrusted-file.ts"

/** Which files come from repositories, and which of them a person trusts. */
export type SourceOrigins = ReturnType<typeof makeOrigins>

interface Deps {
  store: Store
  clock: Clock
  place: PlaceSource
  machine: { homeDir: string }
  onTrouble(source: { platform: string; path: string }, error: unknown): void
}

export function makeOrigins({ store, clock, place, machine, onTrouble }: Deps) {
  const pathOf = (given: string, cwd?: string) => {
    const isRelative = !/^(?:\/|~|[a-z][a-z0-9+.-]*:)/i.test(given)
    const path = parseRoot(isRelative && cwd !== undefined ? resolve(cwd, given) : given, machine.homeDir)
    try {
      return realpathSync.native(path)
    } catch {
      // A folder that is gone can still be distrusted.
      return path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path
    }
  }

  const settle = async (change: (tx: Store) => Promise<void>, path: string) => {
    const files = (await store.origins.sources()).filter(({ path: file }) => isSameOrAbove(path, file))
    await store.transaction(async (tx) => {
      await change(tx)
      const trusted = await tx.origins.trusted()
      for (const { id, origin, path: file } of await tx.origins.sources()) {
        if (origin === null) continue
        const next: Origin = trusted.some((folder) => isSameOrAbove(folder.path, file)) ? "vouched" : "repository"
        if (next !== origin) await tx.origins.place([id], next)
      }
      await tx.origins.settle()
    })
    return { path, files: files.length }
  }

  const placeAll = async () => {
    const unplaced = (await store.origins.sources()).filter(({ origin }) => origin === null)
    if (unplaced.length === 0) return
    const found: { id: number; placement: Placement }[] = []
    for (const source of unplaced) found.push({ id: source.id, placement: await place(source) })
    await store.transaction(async (tx) => {
      const scoped = new Set<string>()
      // Repositories last: a session with any turn from one is untrusted.
      const isAgents = ({ placement }: (typeof found)[number]) => placement.origin === "agent"
      for (const { id, placement } of [...found.filter(isAgents), ...found.filter((one) => !isAgents(one))])
        await placeSessions(tx, id, placement, scoped)
      for (const origin of ["agent", "repository", "vouched"] as const) {
        const ids = found.filter(({ placement }) => placement.origin === origin).map(({ id }) => id)
        await tx.origins.place(ids, origin)
      }
    })
  }

  return {
    /** Assigns an origin to sources without one; retries until done. */
    async reconcile(signal: AbortSignal) {
      const done = new AbortController()
      await superviseLoop({
        name: "capture origins",
        signal: AbortSignal.any([signal, done.signal]),
        onTrouble: (error) => onTrouble({ platform: "-", path: "sources without an origin" }, error),
        async round() {
          await placeAll()
          done.abort()
        },
      })
    },
    async list() {
      const [sources, trusted] = [await store.origins.sources(), await store.origins.trusted()]
      const files = sources.filter(({ origin }) => origin !== null)
      return {
        files: files.map(({ platform, path, origin }) => ({ platform, path, isTrusted: origin === "vouched" })),
        trusted,
      }
    },
    /** Returns how many known files are in the folder. Relative paths are resolved from `cwd`. */
    async trust(given: string, cwd?: string) {
      const path = pathOf(given, cwd)
      if (isSameOrAbove(path, pathOf(machine.homeDir)))
        throw badPath(`${path} contains your whole home folder: use the project's folder`)
      if (!lookAt(path)) throw badPath(`there is no ${path}: name a project's folder, or a file in it`)
      return settle((tx) => tx.origins.trust(path, clock.nowMs()), path)
    },
    async distrust(given: string, cwd?: string) {
      const path = pathOf(given, cwd)
      if (!(await store.origins.trusted()).some((folder) => folder.path === path))
        throw badPath(`${path} is not trusted; \`throughline sources\` lists what is`)
      return settle(async (tx) => void (await tx.origins.distrust(path)), path)
    },
  }
}

const badPath = (message: string) => new Failure("bad_input", message, { parameter: "path" })

async function placeSessions(tx: Store, sourceId: number, placement: Placement, scoped: Set<string>): Promise<void> {
  for (const { id, nativeId, origin } of await tx.origins.sessionsOf(sourceId)) {
    if (placement.origin !== "agent") {
      const isFirst = !scoped.has(id)
      scoped.add(id)
      if (isFirst) await tx.origins.mark(id, placement.origin, scopedId(nativeId, placement.rootUri, "repository"))
      else if (placement.origin === "repository") await tx.origins.mark(id, "repository")
    } else if (origin !== "agent") await tx.origins.mark(id, "agent")
  }
}
