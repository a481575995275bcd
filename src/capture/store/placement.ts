import { dirname, sep } from "node:path"
import { fileURLToPath } from "node:url"
import type { Capture, PlaceSource } from "../../domain/capture.ts"
import { Failure } from "../../domain/failure.ts"
import { scopedId, withoutScope } from "../../domain/ids.ts"
import type { Placement } from "../../domain/origin.ts"
import type { Machine, Platform, SourcePlace } from "../../domain/platform.ts"
import type { Store } from "../../domain/store.ts"
import { ancestorsOf, canonicalRoot, isSameOrAbove, rootUri } from "../../lib/roots.ts"
import type { Batch } from "./archive.ts"

interface Deps {
  store: Store
  platforms: readonly Platform[]
  machine: Machine
  tempDir: string
}

export function makePlacing({ store, platforms, machine, tempDir }: Deps): PlaceSource {
  const { homeDir } = machine
  /** Agents' default folders. Not from the environment, which a project may control. */
  const ownPlaces = new Map(platforms.map((platform) => [platform.id, platform.places({ ...machine, env: {} })]))

  const projectAround = async (dir: string): Promise<string | undefined> => {
    for (const folder of [dir, ...ancestorsOf(dir, homeDir, tempDir)])
      if (await store.projects.byRoot(rootUri(folder))) return rootUri(folder)
    return undefined
  }

  /** The folder whose project log this file is, even if no project is known there. */
  const folderOfLog = (platform: string, path: string): string | undefined => {
    const places = platforms.find(({ id }) => id === platform)?.projectPlaces
    // Includes temporary folders, where others can write.
    for (let dir = dirname(path); places && dir !== dirname(dir); dir = dirname(dir))
      if (places(dir).some((place) => isIn(place, path))) return dir
    return undefined
  }

  const rootAround = async (platform: string, path: string): Promise<string | undefined> => {
    const dir = dirname(path)
    const found = rootOf(dir, homeDir)
    if (!found) return (await projectAround(dir)) ?? rootUri(dir)
    const { realPath, rootPath, inRepository } = found
    // A home folder that is a repository or project is still the user's own.
    if (isSameOrAbove(rootPath, rootOf(homeDir, homeDir)?.realPath ?? homeDir)) return undefined
    if (inRepository) return rootUri(rootPath)
    const known = await projectAround(realPath)
    if (known !== undefined) return known
    const folder = folderOfLog(platform, path)
    const root = folder === undefined ? undefined : (rootOf(folder, homeDir)?.rootPath ?? folder)
    return root === undefined || root === rootOf(homeDir, homeDir)?.realPath ? undefined : rootUri(root)
  }

  return async ({ platform, path }) => {
    if (ownPlaces.get(platform)?.some((place) => isIn(place, path))) return { origin: "agent" }
    const root = await rootAround(platform, path)
    if (root === undefined) return { origin: "agent" }
    const trusted = await store.origins.trusted()
    const isVouched = trusted.some((folder) => isSameOrAbove(folder.path, path))
    return { origin: isVouched ? "vouched" : "repository", rootUri: root }
  }
}

/** Undefined if the folder is gone. */
function rootOf(dir: string, homeDir: string) {
  try {
    return canonicalRoot(dir, homeDir)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

function isIn({ dir, depth }: SourcePlace, path: string): boolean {
  return path.startsWith(dir + sep) && path.slice(dir.length + 1).split(sep).length - 1 <= depth
}

/** Scopes the batch's ids to its project and sets that project, so that it cannot affect others. */
export function placed(batch: Batch, placement: Placement): Batch {
  const source = { ...batch.source, origin: batch.loggedIn === undefined ? placement.origin : "agent" }
  const scope = scopeOf(batch, placement)
  if (!scope) return { ...batch, source }
  const projectPath = fileURLToPath(scope.rootUri)
  const id = (nativeId: string) => scopedId(nativeId, scope.rootUri, scope.by)
  const captures = batch.captures.map((capture): Capture => {
    if (capture.type === "skipped") return capture
    const sessionId = id(capture.sessionId)
    if (capture.type !== "session") return { ...capture, sessionId }
    // Copies are detected by turn ids, which a repository's author can choose.
    const { parent: stated, ...facts } = capture
    const parent = stated?.sessionId ? { parent: { sessionId: id(stated.sessionId), kind: stated.kind } } : {}
    return { ...facts, sessionId, projectPath, ...parent }
  })
  return { ...batch, captures, source, scope }
}

function scopeOf({ loggedIn }: Batch, placement: Placement): Batch["scope"] {
  if (loggedIn !== undefined) return { rootUri: loggedIn, by: "agent" }
  return placement.origin === "agent" ? undefined : { rootUri: placement.rootUri, by: "repository" }
}

/** What is forgotten of a session, including under its id as a log and its older unscoped id. */
export async function forgottenOf(tx: Store, { source: { platform }, scope }: Batch, nativeId: string) {
  const own = await tx.forgetting.of(platform, nativeId)
  if (!scope) return own
  const plainId = withoutScope(nativeId)
  const logged = scopedId(plainId, scope.rootUri, "agent")
  const all = [own, await tx.forgetting.of(platform, plainId), await tx.forgetting.of(platform, logged)]
  return { whole: all.some(({ whole }) => whole), turn: (id: string) => all.some(({ turn }) => turn(id)) }
}

/** Without the lines that our own tool wrote: they are stored as the word of the agent that called it. */
export async function withoutLogged(tx: Store, batch: Batch): Promise<Capture[]> {
  const { source, scope, captures } = batch
  if (scope?.by !== "repository") return captures
  const turns = captures.filter((capture) => capture.type === "turn")
  const logged = new Set<Capture>()
  const alone = new Set<string>()
  for (const [nativeId, said] of Map.groupBy(turns, ({ sessionId }) => sessionId)) {
    const twin = await tx.sessions.byNative(source.platform, scopedId(withoutScope(nativeId), scope.rootUri, "agent"))
    for (const turn of twin ? said : []) if (await tx.turns.byNative(twin!.id, turn.nativeId)) logged.add(turn)
    const isEmpty = said.every((turn) => logged.has(turn))
    if (isEmpty && !(await tx.sessions.byNative(source.platform, nativeId))) alone.add(nativeId)
  }
  return captures.filter(
    (capture) => !logged.has(capture) && !(capture.type === "session" && alone.has(capture.sessionId)),
  )
}
