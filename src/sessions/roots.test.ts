import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import { Failure } from "../domain/failure.ts"
import { ancestorsOf, canonicalRoot, parseRoot, rootUri } from "./roots.ts"

describe("what people write for a folder", () => {
  test.each([
    ["an absolute path", "/a/b", "/a/b"],
    ["dots in it", "/a/./x/../b", "/a/b"],
    ["the home folder", "~", "/home/me"],
    ["a folder in the home folder", "~/code/x", "/home/me/code/x"],
    ["a file URI", "file:///a/b", "/a/b"],
    ["a file URI of this machine by name", "file://localhost/a/b", "/a/b"],
    ["percent-encoding in a URI", "file:///a/my%20code/%C3%A9", "/a/my code/é"],
    ["a percent sign in a path, which encodes nothing", "/a/100%25", "/a/100%25"],
    ["a scheme in capitals", "FILE:///a", "/a"],
  ])("%s is understood", (_, given, path) => {
    expect(parseRoot(given, "/home/me")).toBe(path)
  })

  test.each([
    ["a relative path", "code/x", "it is relative"],
    ["nothing", "", "it is relative"],
    ["another user's home", "~you/x", "it is relative"],
    ["a web address", "https://example.org/x", "its scheme is https"],
    ["a folder on another machine", "file://server/share", "another machine"],
    ["an encoded slash", "file:///a%2Fb", "encoded slash"],
    ["a NUL byte in a path", "/a\0b", "NUL"],
    ["a NUL byte in a URI", "file:///a%00b", "NUL"],
  ])("%s is refused with the reason and the value", (_, given, why) => {
    const failure = failureOf(() => parseRoot(given, "/home/me"))
    expect(failure.code).toBe("root_invalid")
    expect(failure.message).toContain(why)
    expect(failure.message).toContain(JSON.stringify(given))
  })
})

describe(proves("recovery.every-way"), () => {
  let top: string
  let home: string
  let repo: string
  beforeAll(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-roots-")))
    home = folder("home")
    repo = repository("repo")
    mkdirSync(join(repo, "src/deep"), { recursive: true })
    git(repo, "worktree", "add", "-q", join(top, "tree"))
    mkdirSync(join(top, "tree/src/deep"), { recursive: true })
    symlinkSync(repo, join(top, "link"))
  })
  afterAll(() => rmSync(top, { recursive: true, force: true }))

  const folder = (name: string) => {
    mkdirSync(join(top, name), { recursive: true })
    return join(top, name)
  }
  const repository = (name: string) => {
    const path = folder(name)
    git(path, "init", "-q")
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path
  }
  const rootOf = (path: string) => canonicalRoot(path, home).rootPath

  test.each([
    ["the folder itself", "repo"],
    ["a subfolder", "repo/src/deep"],
    ["a worktree", "tree"],
    ["a subfolder of a worktree", "tree/src/deep"],
    ["a symlink", "link"],
    ["a subfolder behind a symlink", "link/src"],
    ["a trailing slash", "repo/"],
    ["dots in the path", "repo/src/../../repo/."],
    ["the .git folder", "repo/.git"],
  ])("%s leads to the repository", (_, path) => {
    expect(canonicalRoot(`${top}/${path}`, home)).toMatchObject({ rootPath: repo, inRepository: true })
  })

  test("a folder outside of any repository is its own root", () => {
    const plain = folder("plain/inner")
    expect(canonicalRoot(plain, home)).toEqual({ realPath: plain, rootPath: plain, inRepository: false })
  })

  test("a submodule is a project of its own, and its worktrees lead to it", () => {
    const library = repository("library")
    const outer = repository("outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "vendor/library")
    const inner = join(outer, "vendor/library")
    git(inner, "worktree", "add", "-q", join(top, "library-tree"))
    expect(rootOf(inner)).toBe(inner)
    expect(rootOf(join(top, "library-tree"))).toBe(inner)
    expect(rootOf(join(outer, "vendor"))).toBe(outer)
  })

  test("all worktrees of a bare repository lead to it", () => {
    const bare = join(top, "bare.git")
    git(top, "clone", "-q", "--bare", repo, bare)
    git(bare, "worktree", "add", "-q", "-b", "one", join(top, "one"))
    git(bare, "worktree", "add", "-q", "-b", "two", join(top, "two"))
    expect(rootOf(join(top, "one"))).toBe(bare)
    expect(rootOf(join(top, "two"))).toBe(bare)
    expect(rootOf(bare)).toBe(bare)
  })

  test("a bare repository hidden in a folder of worktrees leads to that folder", () => {
    const holder = folder("holder")
    git(top, "clone", "-q", "--bare", repo, join(holder, ".bare"))
    writeFileSync(join(holder, ".git"), "gitdir: ./.bare\n")
    git(holder, "worktree", "add", "-q", "-b", "main-tree", join(holder, "main"))
    expect(rootOf(holder)).toBe(holder)
    expect(rootOf(join(holder, "main"))).toBe(holder)
  })

  test("a repository that keeps its git folder elsewhere is where its files are", () => {
    const apart = folder("apart")
    const elsewhere = join(top, "elsewhere")
    git(apart, "init", "-q", "--separate-git-dir", elsewhere)
    git(apart, "commit", "-q", "--allow-empty", "-m", "first")
    git(apart, "worktree", "add", "-q", join(top, "apart-tree"))
    mkdirSync(join(apart, "src"))
    expect(rootOf(apart)).toBe(apart)
    expect(rootOf(join(apart, "src"))).toBe(apart)
    // Git itself does not write down where the files are, so its worktrees can only lead to the git folder.
    expect(rootOf(join(top, "apart-tree"))).toBe(elsewhere)
  })

  test("a home folder that is a repository does not swallow the folders in it", () => {
    const dotfiles = repository("dotfiles")
    mkdirSync(join(dotfiles, "code/x"), { recursive: true })
    const inner = repository("dotfiles/code/y")
    expect(canonicalRoot(join(dotfiles, "code/x"), dotfiles).rootPath).toBe(join(dotfiles, "code/x"))
    expect(canonicalRoot(inner, dotfiles).rootPath).toBe(inner)
    expect(canonicalRoot(dotfiles, dotfiles).rootPath).toBe(dotfiles)
  })

  test("nor does it when the home folder is known by a symlink", () => {
    const dotfiles = repository("real-home")
    symlinkSync(dotfiles, join(top, "home-link"))
    const inner = folder("real-home/code")
    expect(canonicalRoot(inner, join(top, "home-link")).rootPath).toBe(inner)
  })

  test.each([
    ["that is not there", "nowhere"],
    ["that is a file", "a-file"],
  ])("a folder %s is refused by its name", (_, name) => {
    writeFileSync(join(top, "a-file"), "")
    const failure = failureOf(() => canonicalRoot(join(top, name), home))
    expect(failure.code).toBe("root_not_found")
    expect(failure.message).toContain(join(top, name))
  })
})

describe("the URI of a folder", () => {
  test("is the same with and without a trailing slash, and can be read back", () => {
    expect(rootUri("/a/my code/")).toBe("file:///a/my%20code")
    expect(rootUri("/a/my code")).toBe("file:///a/my%20code")
    expect(parseRoot(rootUri("/a/é #1?"), "/home/me")).toBe("/a/é #1?")
    expect(pathToFileURL("/a").href).toBe(rootUri("/a"))
  })
})

describe("the folders above one that could be its project", () => {
  test("end below the home folder", () => {
    expect(ancestorsOf("/home/me/code/x/src", "/home/me", "/tmp")).toEqual(["/home/me/code/x", "/home/me/code"])
  })

  test("end below the temporary folder", () => {
    expect(ancestorsOf("/tmp/a/b", "/home/me", "/tmp")).toEqual(["/tmp/a"])
  })

  test("elsewhere, end below the root of the disk", () => {
    expect(ancestorsOf("/srv/a/b", "/home/me", "/tmp")).toEqual(["/srv/a", "/srv"])
  })

  test("are none for the home folder itself and what is above it", () => {
    expect(ancestorsOf("/home/me", "/home/me", "/tmp")).toEqual([])
    expect(ancestorsOf("/home", "/home/me", "/tmp")).toEqual([])
  })

  test("a name that only begins like the home folder's is not the home folder", () => {
    expect(ancestorsOf("/home/meadow/x", "/home/me", "/tmp")).toEqual(["/home/meadow"])
  })
})

function git(cwd: string, ...args: string[]): void {
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    cwd,
    stdio: "pipe",
    // biome-ignore lint/style/noProcessEnv: git must be found, and nothing else of the developer's leaks in
    env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" },
  })
}

function failureOf(act: () => unknown): Failure {
  try {
    act()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error("nothing was refused")
}
