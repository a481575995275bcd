import { readFileSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, isAbsolute, join, normalize, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Failure } from "../domain/failure.ts"
import { trueCase } from "./true-case.ts"

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
    if (!statSync(realPath).isDirectory()) throw new Failure("root_not_found", `not a folder: ${path}`, { path })
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure("root_not_found", `no such folder: ${path}`, { path }, { cause: error })
  }
  const repository = repositoryOf(realPath, realOr(homeDir))
  return { realPath, rootPath: repository ?? realPath, inRepository: repository !== undefined }
}

export function rootUri(path: string): string {
  return pathToFileURL(path).href.replace(/(?<=.)\/$/, "")
}

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

function isSameOrAbove(path: string, other: string): boolean {
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
  const kind = statSync(dotGit, { throwIfNoEntry: false })
  if (!kind) return undefined
  if (kind.isDirectory()) return at
  const gitPath = linkedGitDir(at)
  if (gitPath === undefined) return undefined
  const common = readText(join(gitPath, "commondir")).trim()
  // Only a linked worktree has a commondir; a submodule or a separate git dir is a repository of its own.
  if (common === "") return at
  const commonPath = realOr(resolve(gitPath, common))
  const holder = dirname(commonPath)
  if (basename(commonPath) === ".git" || linkedGitDir(holder) === commonPath) return holder
  const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(readText(join(commonPath, "config")))?.[1]?.trim()
  return worktree === undefined ? commonPath : realOr(resolve(commonPath, worktree))
}

/** Where a `.git` that is a file points to. */
function linkedGitDir(at: string): string | undefined {
  const gitDir = /^gitdir:\s*(.+)$/m.exec(readText(join(at, ".git")))?.[1]?.trim()
  return gitDir === undefined ? undefined : realOr(resolve(at, gitDir))
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
