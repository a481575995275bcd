import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { expect, test } from "vitest"

const docs = fileURLToPath(new URL("../docs", import.meta.url))
const read = (name: string) => readFileSync(join(docs, name), "utf8")
const [header, ...events] = read("first-minutes.cast")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as unknown)
const output = (events as [number, string, string][]).map(([, , text]) => text).join("")

test("the cast of the first minutes is one that a player can play: version 2, times that rise, no long pause", () => {
  expect(header).toMatchObject({ version: 2, width: expect.any(Number), height: expect.any(Number) })
  const times = (events as [number, string, string][]).map(([seconds]) => seconds)
  const pauses = times.map((seconds, at) => seconds - (times[at - 1] ?? 0))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(2.001)
})

test("what is typed in it is in the manual, but for the install and the id that was shown", () => {
  const typed = [...stripVTControlCharacters(output).matchAll(/^\$ (throughline .*?)\r?$/gm)].map(([, line]) => line!)
  expect(typed.length).toBeGreaterThanOrEqual(7)
  const manual = read("first-minutes.md")
  expect(typed.filter((line) => !line.includes("permissions answer") && !manual.includes(line))).toEqual([])
})

test("it ends well, and shows nothing of the machine it was made on", () => {
  const text = stripVTControlCharacters(output)
  expect(text).toContain("Demo removed")
  expect(text).not.toMatch(/Error|FAIL/)
  for (const shown of [text, read("first-minutes.svg")]) {
    expect(shown).not.toMatch(/\/home\/|\/root|\/Users\//)
    expect(shown).not.toContain(dirname(docs))
  }
})
