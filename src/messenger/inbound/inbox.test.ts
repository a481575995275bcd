import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { safeName, saveToInbox } from "./inbox.ts"

describe("the inbox", () => {
  let dir: string
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-inbox-")))
    mkdirSync(join(dir, "shop"))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  const save = (name: string, text: string, atMs = 1_800_000_000_000) =>
    saveToInbox(join(dir, "shop"), { name, bytes: Buffer.from(text), atMs })

  test("never replaces a file, and keeps the same one once", async () => {
    const paths = [await save("a.txt", "one"), await save("a.txt", "two"), await save("a.txt", "one")]
    expect(paths.map((path) => path.slice(-8))).toEqual([
      "-a.txt".padStart(8, "0"),
      "-a-2.txt",
      "-a.txt".padStart(8, "0"),
    ])
    expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(["one", "two", "one"])
  })

  test.each([".throughline", ".throughline/inbox"])(
    "is not looked for behind a link that is called %s",
    async (place) => {
      const outside = join(dir, "outside")
      mkdirSync(outside)
      if (place.includes("/")) mkdirSync(join(dir, "shop", ".throughline"))
      symlinkSync(outside, join(dir, "shop", place))
      await expect(save("a.txt", "one")).rejects.toThrow("is a link")
      expect(readdirSync(outside)).toEqual([])
    },
  )

  test("a link in the place of a file is not followed", async () => {
    const first = await save("a.txt", "one")
    const target = join(dir, "target")
    const path = first.replace("-a.txt", "-b.txt")
    symlinkSync(target, path)
    writeFileSync(target, "mine")
    const saved = await save("b.txt", "theirs")
    expect(saved).toBe(path.replace("-b.txt", "-b-2.txt"))
    expect(readFileSync(target, "utf8")).toBe("mine")
    expect(existsSync(saved)).toBe(true)
  })
})

test.each([
  ["../../etc/passwd", "etc-passwd"],
  ["a b\u0000c\n.txt", "a-b-c-.txt"],
  [".bashrc", "bashrc"],
  ["-rf", "rf"],
  ["", "file"],
  ["$(x)`y`;z.sh", "x-y-z.sh"],
  ["Ärger größer.md", "Ärger-größer.md"],
  ["…", "file"],
  [`${"x".repeat(300)}.txt`, `${"x".repeat(80)}.txt`],
])("a file called %j is kept as %j", (given, kept) => {
  expect(safeName(given)).toBe(kept)
})
