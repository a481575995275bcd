import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { compareVersions, VERSION } from "./version.ts"

test("the version is the package's", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  expect(VERSION).toBe(version)
})

test.each([
  ["1.2.3", "1.2.4"],
  ["1.2.9", "1.2.10"],
  ["1.9.9", "1.10.0"],
  ["0.9.0", "1.0.0"],
  ["1.0.0-beta.1", "1.0.0"],
  ["1.0", "1.0.1"],
])("%s is older than %s", (older, newer) => {
  expect(compareVersions(older, newer)).toBeLessThan(0)
  expect(compareVersions(newer, older)).toBeGreaterThan(0)
})

test.each([
  ["1.2.3", "1.2.3"],
  ["1.0", "1.0.0"],
  ["1.0.0-beta.1", "1.0.0-beta.2"],
])("%s and %s are not told apart, so neither replaces the other", (a, b) => {
  expect(compareVersions(a, b)).toBe(0)
  expect(compareVersions(b, a)).toBe(0)
})
