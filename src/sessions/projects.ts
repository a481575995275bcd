import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { CallerRoot, Project, ProjectFinder } from "../domain/project.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "../lib/clock.ts"
import { ancestorsOf, canonicalRoot, isOutsideProjects, parseRoot, rootUri } from "../lib/roots.ts"

/** Shorter than an agent needs to change a folder and call again. */
const ROOT_KNOWN_MS = 100

interface Deps {
  store: Store
  clock: Clock
  homeDir: string
  tempDir: string
}

export function makeProjectFinder({ store, clock, homeDir, tempDir }: Deps): ProjectFinder {
  const rootOf = briefly(clock, (given: string) => {
    const path = parseRoot(given, homeDir)
    const { realPath, rootPath, inRepository } = canonicalRoot(path, homeDir)
    const uri = rootUri(rootPath)
    const seenUris = [...new Set([path, realPath].map(rootUri))]
    return { rootPath, inRepository, uri, seenUris, project: undefined as Project | undefined }
  })

  const locate = async (given: string, { mustAsk }: { mustAsk: boolean }) => {
    try {
      const root = rootOf(given, mustAsk)
      root.project ??= (await store.projects.byRoot(root.uri)) ?? (await projectAbove(root))
      return { uri: root.project?.rootUri ?? root.uri, project: root.project, seenUris: root.seenUris }
    } catch (error) {
      const path = parseRoot(given, homeDir)
      const remembered = await store.projects.bySeen(rootUri(path))
      const gone = remembered ?? (await store.projects.byRoot(rootUri(path)))
      if (!gone) throw error
      return { uri: gone.rootUri, project: gone, seenUris: [] }
    }
  }

  const projectAbove = async ({ rootPath, inRepository }: ReturnType<typeof rootOf>) => {
    if (inRepository) return undefined
    for (const above of ancestorsOf(rootPath, homeDir, tempDir)) {
      const project = await store.projects.byRoot(rootUri(above))
      if (project) return project
    }
    return undefined
  }

  // For people the home folder is a choice; for agents it is only where they happened to start.
  const uncounted = ({ surface, cwd }: Caller) =>
    surface === "mcp" && cwd !== undefined && isOutsideProjects(cwd, homeDir) ? cwd : undefined

  const find: ProjectFinder["find"] = async (root) => {
    const { uri, project } = await locate(root, { mustAsk: false })
    return { uri, project }
  }

  return {
    find,
    async ensure(root) {
      const { uri, seenUris, project } = await locate(root, { mustAsk: true })
      const kept = project ?? (await store.projects.ensure(uri, clock.nowMs()))
      for (const seenUri of seenUris) {
        if (seenUri !== kept.rootUri && (await store.projects.bySeen(seenUri))?.id !== kept.id)
          await store.projects.remember(seenUri, kept.id)
      }
      return kept
    },
    async named(name) {
      const projects = await store.projects.list()
      return projects.filter(({ rootUri }) => basename(fileURLToPath(rootUri)) === name)
    },
    async ofCaller(caller, explicit) {
      if (explicit !== undefined) return { source: "argument", given: explicit, ...(await find(explicit)) }
      const bound = caller.key === undefined ? undefined : await store.bindings.get(caller.key)
      const implied = (source: CallerRoot["source"], root: string | null | undefined) =>
        root ? [{ source, root }] : []
      const first = [...implied("bound", bound?.rootUri), ...implied("environment", caller.projectDir)]
      const answered = await firstThatExists(first, find)
      if (answered) return answered
      if (caller.roots === undefined && caller.canAskRoots)
        throw new Failure("root_needed", "the client has not named its roots yet")
      const named = (caller.roots ?? []).flatMap(({ uri }) => implied("client", uri))
      const folder = uncounted(caller) === undefined ? implied("folder", caller.cwd) : []
      return firstThatExists([...named, ...folder], find)
    },
    uncounted,
  }
}

/** Agents call in bursts: caches the last folder for a moment. Writers pass `mustAsk` to bypass the cache. */
function briefly<T>(clock: Clock, find: (given: string) => T): (given: string, mustAsk: boolean) => T {
  let known: { given: string; found: T; atMs: number } | undefined
  return (given, mustAsk) => {
    const nowMs = clock.nowMs()
    // abs: a clock that was set back must not extend the cache.
    const isFresh = known !== undefined && Math.abs(nowMs - known.atMs) < ROOT_KNOWN_MS
    if (mustAsk || !isFresh || known?.given !== given) known = { given, found: find(given), atMs: nowMs }
    return known.found
  }
}

/** Roots that a client or an environment reports may be stale; falls back to the next one. */
async function firstThatExists(
  candidates: { source: CallerRoot["source"]; root: string }[],
  find: ProjectFinder["find"],
): Promise<CallerRoot | undefined> {
  for (const { source, root } of candidates) {
    try {
      return { source, given: root, ...(await find(root)) }
    } catch (error) {
      if (!(error instanceof Failure) || (error.code !== "root_not_found" && error.code !== "root_invalid")) throw error
    }
  }
  return undefined
}
