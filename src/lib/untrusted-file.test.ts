import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { openBelow } from "../../test/fixtures/open-files.ts"
import {
  assertSame,
  bytesOrNull,
  checkLinks,
  firstBytes,
  isFolder,
  kindOf,
  lookAt,
  lookAtFile,
  lookBehind,
  openFile,
  type ReadRules,
  readNamed,
  readText,
  streamFile,
  textIfAny,
} from "./untrusted-file.ts"
import { appendText, createFile, makeFolder, privateFolder, removeFile, replaceFile } from "./untrusted-write.ts"

const isRoot = process.getuid?.() === 0
const NOBODY = 65534

let dir: string
let project: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "untrusted-")))
  project = join(dir, "project")
  mkdirSync(join(project, "sub"), { recursive: true })
  writeFileSync(join(dir, "secret"), "secret")
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const put = (name: string, text = "text") => {
  const path = join(dir, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
const link = (name: string, to: string) => {
  const path = join(dir, name)
  symlinkSync(to, path)
  return path
}
const fifo = (name: string) => {
  const path = join(dir, name)
  execFileSync("mkfifo", [path])
  return path
}
const refusal = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    expect(error).toMatchObject({ code: "file_refused" })
    return (error as Error).message.replaceAll(`${dir}/`, "")
  }
  throw new Error("it was not refused")
}

describe("what is read", () => {
  test("a regular file is", () => {
    const path = put("project/a", "hello")
    for (const rules of [{}, { within: project }, { links: "own" }, { ours: "alone" }] satisfies ReadRules[]) {
      expect(readText(path, rules)).toBe("hello")
      expect(lookAtFile(path, rules)?.size).toBe(5)
    }
    expect(firstBytes(path, 3).toString()).toBe("hel")
    expect(firstBytes(path, 100).toString()).toBe("hello")
  })

  test("an empty file is", () => expect(readText(put("empty", ""))).toBe(""))

  test("no file is an absence, and not a refusal", () => {
    for (const rules of [{}, { within: project }, { links: "own" }] satisfies ReadRules[]) {
      expect(() => readText(join(project, "none"), rules)).toThrow("ENOENT")
      expect(bytesOrNull(join(project, "none", "deeper"), rules)).toBeNull()
      expect(textIfAny(join(project, "none"), rules)).toBeUndefined()
    }
  })

  test("a FIFO is not, and blocks nobody", () => {
    expect(refusal(() => readText(fifo("pipe")))).toBe("pipe is not a regular file")
    expect(refusal(() => readText(link("to-pipe", "pipe"), { links: "own" }))).toBe("to-pipe is not a regular file")
    expect(refusal(() => appendText(join(dir, "pipe"), "x"))).toBe("pipe is not a regular file")
    expect(lookAtFile(join(dir, "pipe"))).toBeUndefined()
  })

  test("a device is not", () => {
    expect(refusal(() => readText("/dev/zero"))).toBe("/dev/zero is not a regular file")
    expect(refusal(() => readText(link("zero", "/dev/zero"), { links: "own" }))).toBe("zero is not a regular file")
  })

  test("a socket is not", async () => {
    const server = createServer().listen(join(dir, "sock"))
    await new Promise((resolve) => server.once("listening", resolve))
    expect(refusal(() => readText(join(dir, "sock")))).toBe("sock is not a regular file")
    await new Promise((resolve) => server.close(resolve))
  })

  test("a folder is not", () => expect(refusal(() => readText(project))).toBe("project is a folder"))

  test("a file that is too long is not, also when it holds nothing", () => {
    expect(refusal(() => readText(put("long", "12345"), { maxBytes: 4 }))).toBe(
      "long has 5 bytes; at most 4 bytes are read",
    )
    expect(readText(join(dir, "long"), { maxBytes: 5 })).toBe("12345")
    truncateSync(put("sparse"), 5_000_000_000)
    expect(refusal(() => readText(join(dir, "sparse")))).toMatch(/has 5000.0 MB; at most 16.8 MB are read/)
  })

  test.runIf(process.platform === "linux")("a file that lies about its size is cut off at the limit", () => {
    expect(statSync("/proc/self/maps").size).toBe(0)
    expect(readText("/proc/self/status")).toContain("VmRSS")
    expect(refusal(() => readText("/proc/self/maps", { maxBytes: 100 }))).toContain("at most 100 bytes are read")
  })
})

describe("links", () => {
  test("are not followed by default", () => {
    expect(refusal(() => openFile(link("project/a", join(dir, "secret"))))).toBe("project/a is a link")
    expect(lookAtFile(join(project, "a"))).toBeUndefined()
  })

  test("are followed nowhere inside a project", () => {
    mkdirSync(join(dir, "other"))
    put("other/file", "outside")
    link("project/folder", "../other")
    link("project/sub/file", join(dir, "secret"))
    const rules = { within: project }
    const why = "is a link, and links inside a project are not followed"
    expect(refusal(() => readText(join(project, "folder", "file"), rules))).toBe(`project/folder ${why}`)
    expect(refusal(() => readText(join(project, "sub", "file"), rules))).toBe(`project/sub/file ${why}`)
    expect(refusal(() => readText(join(project, "sub", "..", "folder", "file"), rules))).toContain("is a link")
    expect(lookAtFile(join(project, "folder", "file"), rules)).toBeUndefined()
    expect(isFolder(join(project, "folder"), rules)).toBe(false)
    expect(isFolder(join(project, "sub"), rules)).toBe(true)
  })

  test("on the way to the project are the person's own", () => {
    put("project/a", "hello")
    expect(readText(join(link("linked", "project"), "a"), { within: join(dir, "linked") })).toBe("hello")
  })

  test("a path that leaves the project is refused", () => {
    expect(refusal(() => readText(join(project, "..", "secret"), { within: project }))).toContain("secret is not in")
  })

  test("of our own are followed where that is asked for, relative, chained and in the middle", () => {
    put("dotfiles/claude/settings.json", "{}")
    link("claude", "./dotfiles/../dotfiles/claude")
    link("claude2", "claude")
    expect(readText(join(dir, "claude2", "settings.json"), { links: "own" })).toBe("{}")
    expect(isFolder(join(dir, "claude2"), { links: "own" })).toBe(true)
    link("round", "round")
    expect(refusal(() => readText(join(dir, "round"), { links: "own" }))).toContain("cycle of links")
  })

  test.runIf(isRoot)("of another user are not followed", () => {
    link("theirs", join(dir, "secret"))
    lchownSync(join(dir, "theirs"), NOBODY, NOBODY)
    expect(refusal(() => readText(join(dir, "theirs"), { links: "own" }))).toBe(
      "theirs is a link that belongs to another user",
    )
    link("folder", project)
    lchownSync(join(dir, "folder"), NOBODY, NOBODY)
    put("project/a")
    expect(refusal(() => readText(join(dir, "folder", "a"), { links: "own" }))).toContain("folder is a link")
  })
})

describe("what must be ours", () => {
  test("may be written by nobody else", () => {
    const path = put("key")
    const why = "key can be written by other users: run chmod go-w key"
    chmodSync(path, 0o620)
    expect(refusal(() => readText(path, { ours: "alone" }))).toBe(why)
    // Where each user has a group of their own, editors leave files like this.
    expect(readText(path, { ours: "mine" })).toBe("text")
    chmodSync(path, 0o602)
    expect(refusal(() => readText(path, { ours: "mine" }))).toBe(why)
    expect(readText(path), "nothing else was asked for").toBe("text")
    chmodSync(path, 0o644)
    expect(readText(path, { ours: "alone" })).toBe("text")
  })

  test.runIf(isRoot)("does not belong to another user", () => {
    const path = put("key")
    chownSync(path, NOBODY, NOBODY)
    expect(refusal(() => readText(path, { ours: "mine" }))).toBe("key belongs to another user")
  })
})

describe("what is written", () => {
  test("is added to the end of a file, which is made if need be", () => {
    const path = join(project, "sub", "log")
    appendText(path, "a\n", { within: project })
    appendText(path, "b\n", { within: project })
    expect(readFileSync(path, "utf8")).toBe("a\nb\n")
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
  })

  test("never goes through a link of the project", () => {
    link("project/log", "../secret")
    link("project/dangling", "../made")
    link("project/folder", "..")
    for (const name of ["log", "dangling", "folder/secret", "folder/made"]) {
      const path = join(project, name)
      expect(refusal(() => appendText(path, "x", { within: project }))).toContain("is a link")
      if (name.includes("/")) {
        expect(refusal(() => createFile(path, "x", { within: project }))).toContain("is a link")
        expect(refusal(() => replaceFile(path, "x", { within: project }))).toContain("is a link")
        expect(refusal(() => removeFile(path, { within: project }))).toContain("is a link")
      }
    }
    expect(refusal(() => makeFolder(join(project, "folder", "new"), { within: project }))).toBe(
      "project/folder is a link",
    )
    expect(readFileSync(join(dir, "secret"), "utf8")).toBe("secret")
    expect(lookAtFile(join(dir, "made"))).toBeUndefined()
    expect(isFolder(join(dir, "new"))).toBe(false)
  })

  test("replaces a link in its place, and leaves alone what that led to", () => {
    const path = link("project/state.json", join(dir, "secret"))
    replaceFile(path, "new", { within: project })
    expect(lstatSync(path).isFile()).toBe(true)
    expect(readFileSync(path, "utf8")).toBe("new")
    expect(readFileSync(join(dir, "secret"), "utf8")).toBe("secret")
  })

  test("replaces what a link of ours leads to, where that is asked for, also when it is gone", () => {
    const target = put("dotfiles/settings.json", "{}")
    chmodSync(target, 0o644)
    const path = link("settings.json", "dotfiles/settings.json")
    replaceFile(path, "new", { links: "own" })
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, "utf8")).toBe("new")
    expect(lstatSync(target).mode & 0o777).toBe(0o644)
    removeFile(path, { links: "own" })
    expect(lookAtFile(target)).toBeUndefined()
    replaceFile(path, "again", { links: "own" })
    expect(readFileSync(target, "utf8")).toBe("again")
  })

  test("is not made over what is there", () => {
    expect(createFile(put("a", "old"), "new")).toBe(false)
    expect(createFile(link("b", "a"), "new")).toBe(false)
    expect(readFileSync(join(dir, "a"), "utf8")).toBe("old")
    expect(createFile(join(dir, "c"), "new")).toBe(true)
  })

  test("leaves no draft behind where it is refused", () => {
    expect(refusal(() => replaceFile(project, "x"))).toBe("project is a folder")
    expect(execFileSync("ls", ["-A", dir], { encoding: "utf8" })).toBe("project\nsecret\n")
  })
})

describe("a private folder", () => {
  test("is made for us alone, and found again", () => {
    privateFolder(join(dir, "own"))
    privateFolder(join(dir, "own"))
    expect(lstatSync(join(dir, "own")).mode & 0o777).toBe(0o700)
  })

  test("is no link, no file, and open to nobody else", () => {
    mkdirSync(join(dir, "own"), { mode: 0o700 })
    expect(refusal(() => privateFolder(link("linked", "own")))).toBe("linked is a link")
    expect(refusal(() => privateFolder(put("file")))).toBe("file is not a folder")
    chmodSync(join(dir, "own"), 0o770)
    expect(refusal(() => privateFolder(join(dir, "own")))).toContain("run chmod 700")
  })

  test.runIf(isRoot)("does not belong to another user", () => {
    mkdirSync(join(dir, "own"), { mode: 0o700 })
    chownSync(join(dir, "own"), NOBODY, NOBODY)
    expect(refusal(() => privateFolder(join(dir, "own")))).toBe("own belongs to another user")
  })
})

test("a hard link inside a project to a file outside of it is a regular file: only its owner can make one", () => {
  linkSync(join(dir, "secret"), join(project, "hard"))
  expect(readText(join(project, "hard"), { within: project })).toBe("secret")
})

test("a long file is streamed from its beginning, by the same rules", async () => {
  const path = put("project/long", "0123456789".repeat(50_000))
  const chunks: Buffer[] = []
  for await (const chunk of streamFile(path, { within: project })) chunks.push(chunk as Buffer)
  expect(Buffer.concat(chunks).toString()).toBe(readFileSync(path, "utf8"))
  link("project/out", join(dir, "secret"))
  expect(refusal(() => streamFile(join(project, "out"), { within: project }))).toContain("is a link")
  expect(refusal(() => streamFile(join(project, "out")))).toBe("project/out is a link")
})

test("a file that a person names may be linked to, unless the link is in the project", () => {
  const path = link("named", join(dir, "secret"))
  expect(readNamed(path, project)).toBe("secret")
  link("project/named", join(dir, "secret"))
  expect(refusal(() => readNamed(join(project, "named"), project))).toContain("links inside a project")
})

describe("a look", () => {
  test("tells what is there, links included or followed", () => {
    const path = link("linked", "project")
    expect(lookAt(path)?.isSymbolicLink()).toBe(true)
    expect(lookBehind(path)?.isDirectory()).toBe(true)
    expect([path, join(dir, "secret"), fifo("pipe"), join(dir, "none")].map(kindOf)).toEqual([
      "folder",
      "file",
      "other",
      undefined,
    ])
    expect([lookAt(join(dir, "none")), lookBehind(join(dir, "none"))]).toEqual([undefined, undefined])
  })

  test("at what cannot be looked at finds nothing, and throws nothing", () => {
    const long = join(dir, "x".repeat(300))
    expect([lookAt(long), lookBehind(long), kindOf(long), lookAtFile(long), textIfAny(long)]).toEqual(
      Array(5).fill(undefined),
    )
    expect(isFolder(long)).toBe(false)
    expect(() => bytesOrNull(long), "it is no absence").toThrow("ENAMETOOLONG")
    expect(() => bytesOrNull(project)).toThrow("project is a folder")
  })

  test("for a folder finds no file, and for a file no folder", () => {
    expect(lookAtFile(project)).toBeUndefined()
    expect(isFolder(join(dir, "secret"))).toBe(false)
    expect(isFolder(join(dir, "none"))).toBe(false)
    expect(bytesOrNull(join(dir, "secret", "deeper"))).toBeNull()
    expect(bytesOrNull(join(dir, "secret"))?.toString()).toBe("secret")
  })
})

test("the way to a file that is not there yet is checked for links too", () => {
  link("project/out", "..")
  checkLinks(join(project, "sub", "none"), { within: project })
  expect(refusal(() => checkLinks(join(project, "out", "none"), { within: project }))).toContain(
    "project/out is a link",
  )
})

describe("what was replaced while it was opened", () => {
  test("is refused inside a project: another file, or a link on the way", () => {
    const stats = lstatSync(put("project/sub/a"))
    const path = join(project, "sub", "a")
    assertSame(path, stats, { within: project })
    expect(refusal(() => assertSame(put("project/sub/b"), stats, { within: project }))).toBe(
      "project/sub/b was replaced while it was opened",
    )
    // On another disk the same number is another file.
    const elsewhere = Object.assign(lstatSync(path), { dev: stats.dev + 1 })
    expect(refusal(() => assertSame(path, elsewhere, { within: project }))).toContain("was replaced")
    link("project/way", "sub")
    expect(refusal(() => assertSame(join(project, "way", "a"), stats, { within: project }))).toContain("is a link")
  })

  test("is not asked for where links may lead anywhere", () => {
    const stats = lstatSync(put("a"))
    expect(() => assertSame(put("b"), stats, {})).not.toThrow()
  })
})

test.runIf(process.platform === "linux")(
  "a file that grows while it is read is read up to the limit, and whole below it",
  () => {
    const whole = readFileSync("/proc/self/smaps").length
    expect(whole).toBeGreaterThan(4_096)
    expect(readText("/proc/self/smaps", { maxBytes: 64 * 1024 * 1024 }).length).toBeGreaterThan(4_096)
    expect(refusal(() => readText("/proc/self/smaps", { maxBytes: 5_000 }))).toBe(
      "/proc/self/smaps has 5001 bytes; at most 5000 bytes are read",
    )
  },
)

test.runIf(process.platform === "linux")("no descriptor stays open, whatever became of the file", () => {
  const path = put("key", "text")
  readText(path)
  firstBytes(path, 2)
  expect(refusal(() => readText(path, { maxBytes: 1 }))).toContain("at most")
  chmodSync(path, 0o666)
  expect(refusal(() => readText(path, { ours: "mine" }))).toContain("can be written by other users")
  expect(() => firstBytes(path, -1)).toThrow()
  expect(openBelow(dir)).toEqual([])
})

test("sizes are told in bytes, and from a million on in megabytes", () => {
  const sized = (bytes: number) => {
    truncateSync(put("sized"), bytes)
    return refusal(() => readText(join(dir, "sized"), { maxBytes: 1_000 }))
  }
  expect(sized(999_999)).toBe("sized has 999999 bytes; at most 1000 bytes are read")
  expect(sized(1_000_000)).toBe("sized has 1.0 MB; at most 1000 bytes are read")
})
