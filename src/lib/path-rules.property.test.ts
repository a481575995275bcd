import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { isRefusal } from "./path-rules.ts"
import { readText } from "./untrusted-file.ts"
import { appendText, createFile, replaceFile } from "./untrusted-write.ts"

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-rules-")))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const step = fc.constantFrom("..", ".", "a", "b", "link", "out", "")
const steps = fc.array(step, { minLength: 1, maxLength: 6 })

/** A project whose links lead outside, at any depth. */
function makeProject(round: number) {
  const base = join(dir, String(round))
  const project = join(base, "project")
  const outside = join(base, "outside")
  mkdirSync(join(project, "a", "b"), { recursive: true })
  mkdirSync(join(outside, "a", "b"), { recursive: true })
  for (const folder of [outside, join(outside, "a"), join(outside, "a", "b")])
    writeFileSync(join(folder, "file"), "secret")
  for (const folder of [project, join(project, "a"), join(project, "a", "b")]) {
    symlinkSync(outside, join(folder, "link"))
    symlinkSync(join(outside, "file"), join(folder, "out"))
  }
  return { project, outside }
}

const contents = (outside: string) => ["file", "a/file", "a/b/file"].map((path) => readText(join(outside, path)))

test("no path below a project reads or writes outside of it, whatever links and dots it goes through", () => {
  let round = 0
  fc.assert(
    fc.property(steps, fc.constantFrom("file", "out", "link", "new"), (parts, last) => {
      const { project, outside } = makeProject(round++)
      const path = `${project}/${[...parts, last].join("/")}`
      const isOutside = !resolve(path).startsWith(`${project}/`)
      const attempts = [
        () => expect(readText(path, { within: project })).not.toBe("secret"),
        () => appendText(path, "planted", { within: project }),
        () => replaceFile(path, "planted", { within: project }),
        () => void createFile(path, "planted", { within: project }),
      ]
      for (const attempt of attempts) {
        try {
          attempt()
          expect(isOutside, path).toBe(false)
        } catch (error) {
          // A refusal, or the system's own word that there is nothing to open.
          if (!isRefusal(error) && (error as NodeJS.ErrnoException).code === undefined) throw error
        }
      }
      expect(contents(outside)).toEqual(["secret", "secret", "secret"])
    }),
    { numRuns: 150 },
  )
})
