import { lchownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Failure } from "../domain/failure.ts"
import { checkedPath, isOurs, isRefusal, isUs, partsBelow, refused, rulesFor } from "./path-rules.ts"

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-rule-")))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const link = (name: string, to: string) => {
  symlinkSync(to, join(dir, name))
  return join(dir, name)
}
const own = (path: string) => checkedPath(path, { links: "own" })

describe("the rules for a file that a person has named", () => {
  test.each(["/p/a", "/p/a/../b", "/p/..a", "/p/.git/config"])("%s is in the project", (path) => {
    expect(rulesFor(path, "/p")).toEqual({ within: "/p" })
  })

  test.each(["/p", "/", "/pa/x", "/p/../x", "/x", "/p/a/../.."])("%s is not", (path) => {
    expect(rulesFor(path, "/p")).toEqual({ links: "own" })
  })
})

test("the parts below a folder are those of the path, and a path elsewhere is refused", () => {
  expect(partsBelow("/p", "/p/a/b")).toEqual(["a", "b"])
  expect(partsBelow("/p", "/p")).toEqual([])
  expect(partsBelow("/p", "/p/..a/...")).toEqual(["..a", "..."])
  for (const path of ["/", "/x", "/pa", "/x/p/a"]) expect(() => partsBelow("/p", path)).toThrow(`${path} is not in /p`)
})

test("a refusal names the path and the rule, and no other failure is one", () => {
  const failure = refused("/p/a", "is a link")
  expect(failure).toMatchObject({ code: "file_refused", message: "/p/a is a link", data: { path: "/p/a" } })
  expect(isRefusal(failure)).toBe(true)
  expect(isRefusal(new Failure("bad_input", "x"))).toBe(false)
  expect(isRefusal(Object.assign(new Error("x"), { code: "file_refused" }))).toBe(false)
})

test("ours is what belongs to us or to root, and us is nobody else", () => {
  const uid = process.getuid?.() ?? 0
  expect([isUs(uid), isUs(uid + 1), isOurs({ uid }), isOurs({ uid: 0 }), isOurs({ uid: uid + 1 })]).toEqual([
    true,
    false,
    true,
    true,
    false,
  ])
})

describe("inside a project", () => {
  test("a path is what it says, without its dots, whether it is there or not", () => {
    mkdirSync(join(dir, "a"))
    expect(checkedPath(`${dir}/a/../a/./b`, { within: dir })).toBe(join(dir, "a", "b"))
    expect(checkedPath(dir, { within: dir })).toBe(dir)
  })

  test("a link is refused at its own place, also one of ours and one below what is missing is none", () => {
    link("out", "/")
    expect(() => checkedPath(join(dir, "out", "etc"), { within: dir, links: "own" })).toThrow(
      `${join(dir, "out")} is a link, and links inside a project are not followed`,
    )
    expect(checkedPath(join(dir, "none", "out"), { within: dir })).toBe(join(dir, "none", "out"))
  })
})

describe("behind our own links", () => {
  test("a path without links is itself, with or without dots, there or not", () => {
    expect(own(`${dir}/./none/../none//deeper/`)).toBe(join(dir, "none", "deeper"))
    expect(own("/")).toBe("/")
  })

  test("without that rule, a link is not looked behind", () => {
    expect(checkedPath(link("a", "b"), {})).toBe(join(dir, "a"))
  })

  test("relative ones go on from where they are, absolute ones from the root", () => {
    mkdirSync(join(dir, "x", "y"), { recursive: true })
    link("x/up", "..")
    link("x/y/top", "../../x/up/x/./y")
    link("abs", join(dir, "x"))
    expect(own(join(dir, "x", "up", "none"))).toBe(join(dir, "none"))
    expect(own(join(dir, "x", "y", "top", "file"))).toBe(join(dir, "x", "y", "file"))
    expect(own(join(dir, "abs", "y", "file"))).toBe(join(dir, "x", "y", "file"))
  })

  test("forty in a row are followed, and no more", () => {
    writeFileSync(join(dir, "0"), "")
    for (let at = 1; at <= 41; at++) link(String(at), String(at - 1))
    expect(own(join(dir, "40"))).toBe(join(dir, "0"))
    expect(() => own(join(dir, "41"))).toThrow(`${join(dir, "41")} is a cycle of links`)
  })

  test.runIf(process.getuid?.() === 0)("one of another user is refused, also in the middle of a chain", () => {
    mkdirSync(join(dir, "x"))
    link("theirs", "x")
    lchownSync(join(dir, "theirs"), 65534, 65534)
    link("mine", "theirs")
    expect(() => own(join(dir, "mine", "file"))).toThrow(`${join(dir, "theirs")} is a link that belongs to another`)
  })
})
