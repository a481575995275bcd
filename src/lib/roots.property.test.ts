import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, normalize } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Failure } from "../domain/failure.ts"
import { ancestorsOf, canonicalRoot, parseRoot, rootUri } from "./roots.ts"

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-roots-")))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Any name that a folder can have on disk. */
const name = fc
  .string({ unit: "binary", minLength: 1, maxLength: 12 })
  .filter((text) => !/[/\0]|^\.{1,2}$/.test(text) && text.isWellFormed() && !text.includes("\uFFFD"))
const names = fc.array(name, { minLength: 1, maxLength: 4 })
const HOME = "/home/me"

test("any absolute path comes back from its URI", () => {
  fc.assert(
    fc.property(names, (parts) => {
      const path = `/${parts.join("/")}`
      expect(parseRoot(rootUri(path), HOME)).toBe(normalize(path).replace(/(?<=.)\/$/, ""))
    }),
  )
})

test("whatever is given, the answer is an absolute normal path or a failure that names the value", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.constantFrom("~", "~/x/..", "file:")),
      (given) => {
        try {
          const path = parseRoot(given, HOME)
          expect([path.startsWith("/"), path.includes("\0"), normalize(path)]).toEqual([true, false, path])
        } catch (error) {
          expect(error).toBeInstanceOf(Failure)
          expect((error as Failure).code).toBe("root_invalid")
          expect((error as Failure).message).toContain(JSON.stringify(given))
        }
      },
    ),
    { numRuns: 500 },
  )
})

test("every spelling of a folder leads to the same project", () => {
  const spelling = fc.array(fc.constantFrom("./", "/", "detour/../"), { maxLength: 4 })
  let round = 0
  fc.assert(
    fc.property(names, spelling, fc.boolean(), (parts, detours, throughLink) => {
      const base = join(dir, `round${round++}`)
      const folder = join(base, ...parts)
      mkdirSync(folder, { recursive: true })
      mkdirSync(join(base, "detour"), { recursive: true })
      symlinkSync(base, `${base}-link`)
      const start = `${throughLink ? `${base}-link` : base}/${detours.join("")}`
      const root = canonicalRoot(`${start}${parts.join("/")}/`, HOME)
      expect(root).toEqual(canonicalRoot(folder, HOME))
      expect(root.rootPath).toBe(root.realPath)
    }),
    { numRuns: 60 },
  )
})

test("no ancestor that is offered is the home folder, the temporary folder or above them", () => {
  fc.assert(
    fc.property(names, names, names, (path, home, temp) => {
      const [at, homeDir, tempDir] = [path, home, temp].map((parts) => `/${parts.join("/")}`) as [
        string,
        string,
        string,
      ]
      for (const found of ancestorsOf(at, homeDir, tempDir)) {
        expect(at.startsWith(`${found}/`)).toBe(true)
        for (const guarded of [homeDir, tempDir]) expect(`${guarded}/`.startsWith(`${found}/`)).toBe(false)
      }
    }),
    { numRuns: 300 },
  )
})
