import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import { Failure } from "../domain/failure.ts"
import { ancestorsOf, canonicalRoot, isSameOrAbove, parseRoot, rootUri } from "./roots.ts"

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
    ["a URI that is none", "file://[", "it cannot be parsed"],
    ["a URI inside of other words", "see file:///a", "it is relative"],
    ["a NUL byte in a path", "/a\0b", "NUL"],
    ["a NUL byte in a URI", "file:///a%00b", "NUL"],
  ])("%s is refused with the reason and the value", (_, given, why) => {
    const failure = failureOf(() => parseRoot(given, "/home/me"))
    expect(failure.code).toBe("root_invalid")
    expect(failure.message).toContain(why)
    expect(failure.message).toContain(JSON.stringify(given))
    expect(failure.data).toEqual({ value: given })
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
    // Where it is written down, that is followed if the folder there names the repository as well.
    const spellings = ["\tworktree = PATH", "worktree=PATH", "  worktree  =  PATH  ", "\tworktree = ../apart"]
    for (const spelling of spellings) {
      const line = spelling.replace("PATH", apart)
      writeFileSync(join(elsewhere, "config"), `[core]\n\tbare = false\n${line}\n[user]\n\tname = x\n`)
      expect(rootOf(join(top, "apart-tree")), spelling).toBe(apart)
    }
    for (const line of [`worktree = ${repo}`, `subworktree = ${apart}`, `worktree = ${join(top, "none")}`]) {
      writeFileSync(join(elsewhere, "config"), `[core]\n\t${line}\n`)
      expect(rootOf(join(top, "apart-tree")), line).toBe(elsewhere)
    }
  })

  test.each([
    ["without a blank", "gitdir:PATH"],
    ["with more of them", "gitdir:   PATH  \n"],
    ["with the line end of Windows", "gitdir: PATH\r\n"],
    ["after another line", "# moved\ngitdir: PATH\n"],
  ])("a worktree's .git file is read %s", (name, text) => {
    const tree = join(top, name)
    git(repo, "worktree", "add", "-q", "--detach", tree)
    const entry = join(repo, ".git/worktrees", basename(readFileSync(join(tree, ".git"), "utf8").trim()))
    writeFileSync(join(tree, ".git"), text.replace("PATH", entry))
    expect(rootOf(tree)).toBe(repo)
  })

  test.each([
    ["says nothing", ""],
    ["says something else", "hello\n"],
    ["says it in the middle of a line", "my gitdir: PATH\n"],
    ["is longer than any of git's", `gitdir: PATH\n${"#".repeat(1024 * 1024)}\n`],
  ])("a .git file that %s begins no repository", (name, text) => {
    const tree = join(top, `odd ${name}`)
    git(repo, "worktree", "add", "-q", "--detach", tree)
    const entry = join(repo, ".git/worktrees", basename(readFileSync(join(tree, ".git"), "utf8").trim()))
    writeFileSync(join(tree, ".git"), text.replace("PATH", entry))
    expect(canonicalRoot(tree, home)).toEqual({ realPath: tree, rootPath: tree, inRepository: false })
  })

  describe("a .git file that names another project's repository", () => {
    const planted = (name: string, gitdir: string, files: Record<string, string> = {}) => {
      const at = folder(name)
      for (const [path, text] of Object.entries({ ".git": `gitdir: ${gitdir}\n`, ...files })) {
        mkdirSync(join(at, path, ".."), { recursive: true })
        writeFileSync(join(at, path), text)
      }
      return at
    }

    test("does not make its folder part of that project by a commondir of its own", () => {
      const at = planted("evil", "./fake", { "fake/commondir": join(repo, ".git") })
      expect(rootOf(at)).toBe(at)
    })

    test("nor with a back-link of its own", () => {
      const at = planted("evil-back", "./fake", {
        "fake/commondir": join(repo, ".git"),
        "fake/gitdir": join(top, "evil-back/.git"),
      })
      expect(rootOf(at)).toBe(at)
    })

    test("nor with a whole git folder of its own whose config names that project's files", () => {
      const at = planted("evil-config", "./fake/worktrees/x", {
        "fake/worktrees/x/commondir": "../..",
        "fake/worktrees/x/gitdir": join(top, "evil-config/.git"),
        "fake/config": `[core]\n\tworktree = ${repo}\n`,
      })
      expect(rootOf(at)).toBe(join(at, "fake"))
    })

    test("nor through a link to that project's git folder", () => {
      const at = planted("evil-link", "./fake/worktrees/x", {
        "real/x/commondir": "../..",
        "real/x/gitdir": join(top, "evil-link/.git"),
      })
      mkdirSync(join(at, "fake"))
      symlinkSync(join(at, "real"), join(at, "fake/worktrees"))
      symlinkSync(join(repo, ".git/HEAD"), join(at, "fake/HEAD"))
      expect(rootOf(at)).toBe(at)
    })

    test("nor by an entry that names another file of the folder than its .git, or none", () => {
      for (const [name, named] of Object.entries({ "evil-other": "other", "evil-none": undefined })) {
        const at = planted(name, "./fake/worktrees/x", {
          "fake/worktrees/x/commondir": "../..",
          "fake/worktrees/x/gitdir": named ? join(top, name, named) : "",
        })
        expect(rootOf(at)).toBe(at)
      }
    })

    test("nor by naming the entry of a worktree that is elsewhere", () => {
      const at = planted("evil-entry", join(repo, ".git/worktrees/tree"))
      expect(rootOf(at)).toBe(at)
      expect(rootOf(join(top, "tree"))).toBe(repo)
    })
  })

  test("a worktree that was moved leads to the repository again once git has repaired it", () => {
    git(repo, "worktree", "add", "-q", "-b", "wanderer", join(top, "wanderer"))
    renameSync(join(top, "wanderer"), join(top, "wandered"))
    expect(rootOf(join(top, "wandered"))).toBe(join(top, "wandered"))
    git(join(top, "wandered"), "worktree", "repair")
    expect(rootOf(join(top, "wandered"))).toBe(repo)
  })

  test("the worktrees of a repository that was moved lead to its new place once git has repaired them", () => {
    const before = repository("before-move")
    git(before, "worktree", "add", "-q", join(top, "follower"))
    renameSync(before, join(top, "after-move"))
    expect(rootOf(join(top, "follower"))).toBe(join(top, "follower"))
    git(join(top, "after-move"), "worktree", "repair", join(top, "follower"))
    expect(rootOf(join(top, "follower"))).toBe(join(top, "after-move"))
  })

  test("a worktree with relative links, as newer versions of git write them, leads to the repository", () => {
    git(repo, "worktree", "add", "-q", "-b", "relative", join(top, "relative"))
    writeFileSync(join(top, "relative/.git"), "gitdir: ../repo/.git/worktrees/relative\n")
    writeFileSync(join(repo, ".git/worktrees/relative/gitdir"), "../../../../relative/.git\n")
    expect(rootOf(join(top, "relative"))).toBe(repo)
  })

  test("a home folder that is a repository does not swallow the folders in it", () => {
    const dotfiles = repository("dotfiles")
    mkdirSync(join(dotfiles, "code/x"), { recursive: true })
    const inner = repository("dotfiles/code/y")
    expect(canonicalRoot(join(dotfiles, "code/x"), dotfiles).rootPath).toBe(join(dotfiles, "code/x"))
    expect(canonicalRoot(inner, dotfiles).rootPath).toBe(inner)
    expect(canonicalRoot(dotfiles, dotfiles)).toMatchObject({ rootPath: dotfiles, inRepository: true })
  })

  test("nor does it when the home folder is known by a symlink", () => {
    const dotfiles = repository("real-home")
    symlinkSync(dotfiles, join(top, "home-link"))
    const inner = folder("real-home/code")
    expect(canonicalRoot(inner, join(top, "home-link")).rootPath).toBe(inner)
  })

  test.each([
    ["that is not there", "nowhere", "no such folder"],
    ["that is a file", "a-file", "not a folder"],
  ])("a folder %s is refused by its name", (_, name, why) => {
    writeFileSync(join(top, "a-file"), "")
    const path = join(top, name)
    const failure = failureOf(() => canonicalRoot(path, home))
    expect(failure).toMatchObject({ code: "root_not_found", message: `${why}: ${path}`, data: { path } })
    expect((failure.cause as NodeJS.ErrnoException | undefined)?.code).toBe(name === "nowhere" ? "ENOENT" : undefined)
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

test("a folder is above another by whole names, with or without a slash at its end", () => {
  const pairs = [
    ["/", "/a"],
    ["/a", "/a"],
    ["/a", "/a/b"],
    ["/a/", "/a/b"],
  ] as const
  for (const [path, other] of pairs) expect(isSameOrAbove(path, other), `${path} ${other}`).toBe(true)
  const others = [
    ["/a", "/ab"],
    ["/a/b", "/a"],
    ["/b", "/a/b"],
  ] as const
  for (const [path, other] of others) expect(isSameOrAbove(path, other), `${path} ${other}`).toBe(false)
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

test.runIf(process.getuid?.() === 0)("a folder that may not be looked into is a root of its own, and no error", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tl-closed-")))
  chmodSync(folder, 0o444)
  const roots = new URL("./roots.ts", import.meta.url).href
  const script = `import(${JSON.stringify(roots)}).then((m) => process.stdout.write(JSON.stringify(m.canonicalRoot(${JSON.stringify(folder)}, "/nowhere"))))`
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], { uid: 65534, gid: 65534, encoding: "utf8" })
  expect([stdout, stderr]).toEqual([JSON.stringify({ realPath: folder, rootPath: folder, inRepository: false }), ""])
  rmSync(folder, { recursive: true })
})
