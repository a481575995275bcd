import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { openBelow } from "../../test/fixtures/open-files.ts"
import { isRefusal } from "./path-rules.ts"
import {
  appendText,
  assertPrivate,
  checkWritable,
  createFile,
  makeFolder,
  privateFolder,
  removeFile,
  replaceFile,
} from "./untrusted-write.ts"

let dir: string
let project: string
let secret: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-write-")))
  project = join(dir, "project")
  secret = join(dir, "secret")
  mkdirSync(join(project, "sub"), { recursive: true })
  writeFileSync(secret, "secret")
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const modeOf = (path: string) => lstatSync(path).mode & 0o7777
const content = (path: string) => readFileSync(path, "utf8")
const refusal = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (!isRefusal(error)) throw error
    return error.message.replaceAll(`${dir}/`, "")
  }
  throw new Error("it was not refused")
}
const codeOf = (act: () => unknown): unknown => {
  try {
    act()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
  return undefined
}

describe("a place that can be written to", () => {
  test("has a regular file, or nothing yet", () => {
    checkWritable(secret)
    checkWritable(join(dir, "new"))
    checkWritable(join(project, "sub", "new"), { within: project })
  })

  test("is no folder, no link, and not behind a link of the project", () => {
    symlinkSync(secret, join(project, "link"))
    symlinkSync("..", join(project, "out"))
    expect(refusal(() => checkWritable(project))).toBe("project is not a regular file")
    expect(refusal(() => checkWritable(join(project, "link")))).toBe("project/link is not a regular file")
    expect(refusal(() => checkWritable(join(project, "out", "secret"), { within: project }))).toContain("is a link")
    checkWritable(join(project, "link"), { links: "own" })
  })
})

describe("a new file", () => {
  test("is for us alone unless a mode is given, and keeps its bytes", () => {
    expect(createFile(join(project, "a"), "text")).toBe(true)
    expect([modeOf(join(project, "a")), content(join(project, "a"))]).toEqual([0o600, "text"])
    createFile(join(project, "b"), new Uint8Array([0, 255]), { within: project, mode: 0o400 })
    expect([modeOf(join(project, "b")), [...readFileSync(join(project, "b"))]]).toEqual([0o400, [0, 255]])
  })

  test("that cannot be made is the system's error, not a file that was there", () => {
    expect(codeOf(() => createFile(join(dir, "none", "a"), "x"))).toBe("ENOENT")
    expect(codeOf(() => createFile(join(secret, "a"), "x"))).toBe("ENOTDIR")
  })

  test("is made behind our own links where these are followed", () => {
    symlinkSync("project", join(dir, "linked"))
    expect(createFile(join(dir, "linked", "a"), "x", { links: "own" })).toBe(true)
    expect(content(join(project, "a"))).toBe("x")
  })

  test("is not made in the place of a link that leads nowhere", () => {
    symlinkSync(join(dir, "made"), join(project, "dangling"))
    expect(createFile(join(project, "dangling"), "x", { within: project })).toBe(false)
    expect(existsSync(join(dir, "made"))).toBe(false)
  })
})

describe("a file that is replaced", () => {
  test.skipIf(process.getuid?.() !== 0)("keeps its owner where we may set it", () => {
    const path = join(project, "theirs")
    writeFileSync(path, "old")
    chownSync(path, 1234, 4321)
    chmodSync(path, 0o2755)
    replaceFile(path, "new", { within: project })
    expect([lstatSync(path).uid, lstatSync(path).gid, modeOf(path)]).toEqual([1234, 4321, 0o2755])
  })

  test("keeps its mode, and one that is new has the given mode", () => {
    writeFileSync(join(project, "old"), "x")
    chmodSync(join(project, "old"), 0o751)
    replaceFile(join(project, "old"), "new", { mode: 0o600 })
    expect([modeOf(join(project, "old")), content(join(project, "old"))]).toEqual([0o751, "new"])
    replaceFile(join(project, "fresh"), "new", { mode: 0o644 })
    expect(modeOf(join(project, "fresh"))).toBe(0o644)
    replaceFile(join(project, "private"), "new")
    expect(modeOf(join(project, "private"))).toBe(0o600)
  })

  test("in the place of a link has the given mode, not the one of what the link led to", () => {
    chmodSync(secret, 0o666)
    symlinkSync(secret, join(project, "link"))
    replaceFile(join(project, "link"), "new", { within: project })
    expect([modeOf(join(project, "link")), modeOf(secret)]).toEqual([0o600, 0o666])
  })

  test("leaves nothing beside it, whether it worked or not", () => {
    replaceFile(join(project, "a"), "new", { within: project })
    expect(refusal(() => replaceFile(join(project, "sub"), "x", { within: project }))).toBe("project/sub is a folder")
    expect(readdirSync(project).sort()).toEqual(["a", "sub"])
  })

  test("behind our own link has its missing folders made, for us alone; nowhere else are they made", () => {
    symlinkSync("dotfiles/deep/settings.json", join(dir, "settings.json"))
    replaceFile(join(dir, "settings.json"), "{}", { links: "own" })
    expect(readlinkSync(join(dir, "settings.json"))).toBe("dotfiles/deep/settings.json")
    expect(content(join(dir, "dotfiles", "deep", "settings.json"))).toBe("{}")
    expect([modeOf(join(dir, "dotfiles")), modeOf(join(dir, "dotfiles", "deep"))]).toEqual([0o700, 0o700])
    expect(codeOf(() => replaceFile(join(project, "none", "a"), "x", { within: project }))).toBe("ENOENT")
    expect(existsSync(join(project, "none"))).toBe(false)
  })

  test("is not outside of the project, nor behind a link of it", () => {
    symlinkSync("..", join(project, "out"))
    expect(refusal(() => replaceFile(secret, "x", { within: project }))).toContain("is not in project")
    expect(refusal(() => replaceFile(join(project, "out", "secret"), "x", { within: project }))).toContain("is a link")
    expect([content(secret), readdirSync(dir).sort()]).toEqual(["secret", ["project", "secret"]])
  })
})

describe("a file that is removed", () => {
  test("may be absent", () => {
    removeFile(secret)
    removeFile(secret)
    expect(existsSync(secret)).toBe(false)
  })

  test("is a link itself, where links are not followed", () => {
    symlinkSync(secret, join(project, "link"))
    removeFile(join(project, "link"), { within: project })
    expect([existsSync(join(project, "link")), content(secret)]).toEqual([false, "secret"])
  })

  test("is not outside of the project", () => {
    expect(refusal(() => removeFile(secret, { within: project }))).toContain("is not in project")
    expect(content(secret)).toBe("secret")
  })
})

describe("folders that are made", () => {
  test("are for us alone, and may be there already", () => {
    makeFolder(join(project, "x", "y"), { within: project })
    makeFolder(join(project, "x", "y"), { within: project })
    makeFolder(project, { within: project })
    expect([modeOf(join(project, "x")), modeOf(join(project, "x", "y"))]).toEqual([0o700, 0o700])
  })

  test("are refused where a link or a file is in their way, and outside", () => {
    symlinkSync(join(dir, "elsewhere"), join(project, "link"))
    writeFileSync(join(project, "file"), "")
    expect(refusal(() => makeFolder(join(project, "link", "x"), { within: project }))).toBe("project/link is a link")
    expect(refusal(() => makeFolder(join(project, "file"), { within: project }))).toBe("project/file is not a folder")
    expect(refusal(() => makeFolder(join(dir, "x"), { within: project }))).toContain("is not in project")
    expect(existsSync(join(dir, "elsewhere"))).toBe(false)
  })

  test("whose names are too long are the system's error", () => {
    expect(codeOf(() => makeFolder(join(project, "x".repeat(300)), { within: project }))).toBe("ENAMETOOLONG")
    expect(codeOf(() => privateFolder(join(dir, "x".repeat(300))))).toBe("ENAMETOOLONG")
  })
})

test("a folder is private only while nobody else can enter, read or write it", () => {
  const own = join(dir, "own")
  mkdirSync(own, { mode: 0o700 })
  assertPrivate(own)
  for (const mode of [0o740, 0o720, 0o710, 0o704, 0o702, 0o701]) {
    chmodSync(own, mode)
    expect(refusal(() => assertPrivate(own))).toBe("own is open to other users: run chmod 700 own")
  }
})

test("the mode of a file that is made for text is ours alone, and that of one that is there stays", () => {
  appendText(join(dir, "log"), "a")
  expect(modeOf(join(dir, "log"))).toBe(0o600)
  chmodSync(join(dir, "log"), 0o644)
  appendText(join(dir, "log"), "b")
  expect([modeOf(join(dir, "log")), content(join(dir, "log"))]).toEqual([0o644, "ab"])
})

test("nothing is added to a hard link in a project: its other name may be outside", () => {
  linkSync(secret, join(project, "hard"))
  expect(refusal(() => appendText(join(project, "hard"), "x", { within: project }))).toContain("is a hard link")
  expect(content(secret)).toBe("secret")
})

test.runIf(process.platform === "linux")("no descriptor stays open, whatever became of the file", () => {
  const failed = (act: () => unknown) => expect(act).toThrow()
  appendText(join(dir, "log"), "a")
  createFile(join(dir, "made"), "a")
  replaceFile(join(dir, "made"), "b")
  failed(() => replaceFile(project, "x"))
  failed(() => createFile(join(dir, "log2"), undefined as never))
  expect(existsSync(join(dir, "log2")), "what could not be written is not left behind").toBe(false)
  expect(openBelow(dir)).toEqual([])
})
