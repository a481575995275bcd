import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { bundledPackages, nestedPackages, noticesText, sbom } from "../scripts/notices.ts"

let dir = ""
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "notices-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function installed(name: string, { license = "MIT", text = "The licence of it", under = dir } = {}): string {
  const folder = join(under, "node_modules", name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version: "1.2.3", license }))
  if (text !== "") writeFileSync(join(folder, "LICENSE.md"), text)
  return join(folder, "index.js")
}

test("every package of which a file is bundled is named once, with its text, also one inside of another", () => {
  const outer = installed("outer")
  const inner = installed("@scope/inner", { under: join(dir, "node_modules/outer"), text: "Inner words" })
  const packages = bundledPackages([outer, outer, inner, join(dir, "src/own.ts"), "src/daemon/process/main.ts"])
  expect(packages.map(({ name, version }) => `${name} ${version}`)).toEqual(["@scope/inner 1.2.3", "outer 1.2.3"])
  const text = noticesText(packages)
  expect(text).toContain("@scope/inner 1.2.3 (MIT)")
  expect(text).toContain("Inner words")
  const self = { name: "throughline", version: "0.1.0", license: "MIT" }
  expect(JSON.parse(sbom(self, packages)).components.map(({ purl }: { purl: string }) => purl)).toEqual([
    "pkg:npm/%40scope/inner@1.2.3",
    "pkg:npm/outer@1.2.3",
  ])
  expect(sbom(self, packages)).toBe(sbom(self, bundledPackages([inner, outer])))
})

test.each([
  ["a licence that is not known", { license: "GPL-3.0-only" }, /its licence is "GPL-3.0-only"/],
  ["a licence that is not told", { license: "SEE LICENSE IN x" }, /its licence is/],
  ["no text of its licence", { text: "" }, /without the text of its licence/],
])("a package with %s fails the build", (_, with_, why) => {
  const file = installed("odd", with_)
  expect(() => bundledPackages([file])).toThrow(why)
})

test("a package inside of another package is named, and one whose licence is not known fails the build", () => {
  const path = (folder: string, name: string) => `../../node_modules/.pnpm/${folder}/node_modules/${name}/index.js`
  const found = nestedPackages([
    path("ajv-formats@3.0.1_ajv@8.18.0", "ajv-formats"),
    path("ajv@8.18.0", "ajv"),
    "src/a.ts",
  ])
  expect(found.map(({ name, version }) => `${name} ${version}`)).toEqual(["ajv 8.18.0", "ajv-formats 3.0.1"])
  expect(() => nestedPackages([path("odd@1.0.0", "odd")])).toThrow(/odd@1.0.0 is bundled inside of another package/)
})
