import { lstatSync, readlinkSync, type Stats } from "node:fs"
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path"
import { Failure } from "../domain/failure.ts"

/** How a path is to be treated; untrusted-file.ts explains when to use which. */
export interface Rules {
  /** No part of the path below this folder may be a link. */
  within?: string | undefined
  /** Follow links that belong to us or to root. */
  links?: "own" | undefined
  /** The file must belong to us or to root, and not everybody ("mine") or nobody else ("alone") may write to it. */
  ours?: "mine" | "alone" | undefined
}

const MAX_LINKS = 40

/** Whether the file or folder is ours, or root's who may do anything anyway. */
export const isOurs = ({ uid }: Pick<Stats, "uid">) => isUs(uid) || uid === 0

/** For a file that a person has named, which may be in a repository or not. */
export function rulesFor(path: string, projectDir: string): Rules {
  const below = relative(projectDir, resolve(path))
  const isInside = below !== "" && below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below)
  return isInside ? { within: projectDir } : { links: "own" }
}

export const isRefusal = (error: unknown): error is Failure => error instanceof Failure && error.code === "file_refused"

export function refused(path: string, why: string): Failure {
  return new Failure("file_refused", `${path} ${why}`, { path })
}

export const hasModes = process.getuid !== undefined
export const isUs = (uid: number) => !hasModes || uid === process.getuid?.()

/** The path to open: the same, or with links: "own" the one behind its links. Throws where a link breaks the rules. */
export function checkedPath(given: string, { within, links }: Rules): string {
  const path = resolve(given)
  if (within !== undefined) {
    let at = within
    for (const part of partsBelow(within, path)) {
      at = join(at, part)
      const found = lstatSync(at, { throwIfNoEntry: false })
      if (!found) return path
      if (found.isSymbolicLink()) throw refused(at, "is a link, and links inside a project are not followed")
    }
    return path
  }
  return links === "own" ? behindOwnLinks(path) : path
}

export function partsBelow(folder: string, path: string): string[] {
  const below = relative(folder, path)
  if (below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) throw refused(path, `is not in ${folder}`)
  return below === "" ? [] : below.split(sep)
}

function behindOwnLinks(path: string): string {
  const { root } = parse(path)
  let at = root
  let rest = path.slice(root.length).split(sep)
  for (let followed = 0; rest.length > 0; ) {
    const [part = "", ...others] = rest
    rest = others
    if (part === "" || part === ".") continue
    const next = part === ".." ? dirname(at) : join(at, part)
    const found = lstatSync(next, { throwIfNoEntry: false })
    if (!found?.isSymbolicLink()) {
      at = next
      continue
    }
    if (!isOurs(found)) throw refused(next, "is a link that belongs to another user")
    if (++followed > MAX_LINKS) throw refused(path, "is a cycle of links")
    const to = readlinkSync(next)
    if (isAbsolute(to)) at = parse(to).root
    rest = [...to.split(sep), ...rest]
  }
  return at
}
