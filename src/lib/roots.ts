import { realpathSync } from "node:fs"
import { basename, dirname, isAbsolute, join, normalize, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { Failure } from "../domain/failure.ts"
import { folderUri } from "./folder-uri.ts"
import { trueCase } from "./true-case.ts"
import { kindOf, textIfAny } from "./untrusted-file.ts"

/** Turns what people and clients write for a folder (path, ~, file:// URI) into an absolute path. */
export function parseRoot(given: string, homeDir: string): string {
  const invalid = (why: string, cause?: unknown) =>
    new Failure(
      "root_invalid",
      `not a folder's path or file:// URI: ${JSON.stringify(given)} (${why})`,
      { value: given },
      { cause },
    )
  if (given.includes("\0")) throw invalid("it holds a NUL byte")
  if (given === "~" || given.startsWith("~/")) return normalize(join(homeDir, given.slice(1)))
  if (isAbsolute(given)) return normalize(given)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(given)) throw invalid("it is relative")
  let url: URL
  try {
    url = new URL(given)
  } catch (error) {
    throw invalid("it cannot be parsed", error)
  }
  if (url.protocol !== "file:") throw invalid(`its scheme is ${url.protocol.slice(0, -1)}`)
  if (/%00/.test(url.pathname)) throw invalid("it holds a NUL byte")
  try {
    return normalize(fileURLToPath(url))
  } catch (error) {
    throw invalid("it names another machine or holds an encoded slash", error)
  }
}

export interface CanonicalRoot {
  /** The real path of the folder that was named. */
  realPath: string
  /** The repository's main folder; the same as realPath outside a repository. */
  rootPath: string
  inRepository: boolean
}

/** Symlinks, `..`, case, subfolders and worktrees of one repository all lead to one folder. */
export function canonicalRoot(path: string, homeDir: string): CanonicalRoot {
  let realPath: string
  try {
    realPath = trueCase(realpathSync.native(path))
    if (kindOf(realPath) !== "folder") throw new Failure("root_not_found", `not a folder: ${path}`, { path })
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure("root_not_found", `no such folder: ${path}`, { path }, { cause: error })
  }
  const repository = repositoryOf(realPath, realOr(homeDir))
  return { realPath, rootPath: repository ?? realPath, inRepository: repository !== undefined }
}

export const rootUri = folderUri

/** Folders above this one that could be its project; never the home folder, a temporary folder or what is above them. */
export function ancestorsOf(path: string, homeDir: string, tempDir: string): string[] {
  const found: string[] = []
  const [home, temp] = [realOr(homeDir), realOr(tempDir)]
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    if (isSameOrAbove(at, home) || isSameOrAbove(at, temp)) break
    found.push(at)
  }
  return found
}

/** The home folder and those above it: desktop apps start every client there, so it does not say which project is meant. */
export function isOutsideProjects(path: string, homeDir: string): boolean {
  return isSameOrAbove(realOr(path), realOr(homeDir))
}

export function isSameOrAbove(path: string, other: string): boolean {
  return other === path || other.startsWith(path.endsWith("/") ? path : `${path}/`)
}

/** Read from the files that git keeps, so that no git is needed and no process is started. */
function repositoryOf(path: string, homeDir: string): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    // A home folder under version control (dotfiles) must not swallow every folder below it.
    if (at !== path && isSameOrAbove(at, homeDir)) return undefined
    const main = mainFolder(at)
    if (main !== undefined) return main
    if (at === dirname(at)) return undefined
  }
}

/** The main folder of the repository whose working tree begins at `at`, or undefined where none begins. */
function mainFolder(at: string): string | undefined {
  const dotGit = join(at, ".git")
  // In a folder that we may not look into there is none.
  const kind = kindOf(dotGit)
  if (kind === "folder") return at
  if (kind !== "file") return undefined
  const gitPath = linkedGitDir(at)
  if (gitPath === undefined) return undefined
  const common = readText(join(gitPath, "commondir")).trim()
  // Only a linked worktree has a commondir; a submodule or a separate git dir is a repository of its own.
  if (common === "") return at
  const commonPath = realOr(resolve(gitPath, common))
  // A `.git` file is content of the folder it is in. The repository must name the worktree too, or any folder could join it.
  if (!isWorktreeOf(commonPath, gitPath, at)) return at
  const holder = dirname(commonPath)
  if (basename(commonPath) === ".git" || linkedGitDir(holder) === commonPath) return holder
  const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(readText(join(commonPath, "config")))?.[1]?.trim()
  const main = worktree === undefined ? undefined : realOr(resolve(commonPath, worktree))
  return main !== undefined && linkedGitDir(main) === commonPath ? main : commonPath
}

/** True where the repository's own git dir has the worktree's entry, and the entry names this folder. */
function isWorktreeOf(commonPath: string, gitPath: string, at: string): boolean {
  if (dirname(gitPath) !== join(commonPath, "worktrees")) return false
  const named = readText(join(gitPath, "gitdir")).trim()
  const dotGit = resolve(gitPath, named)
  return named !== "" && basename(dotGit) === ".git" && realOr(dirname(dotGit)) === at
}

/** Where a `.git` that is a file points to. */
function linkedGitDir(at: string): string | undefined {
  const gitDir = /^gitdir:\s*(.+)$/m.exec(readText(join(at, ".git")))?.[1]?.trim()
  return gitDir === undefined ? undefined : realOr(resolve(at, gitDir))
}

/** Git's own files are short, but what has their names may be anything. */
const MAX_GIT_BYTES = 1024 * 1024
const readText = (path: string) => textIfAny(path, { maxBytes: MAX_GIT_BYTES }) ?? ""

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
