import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { DECLARED, declaredTwice } from "./type-names.ts"

const project = fileURLToPath(new URL("..", import.meta.url))
test("the name of an exported type has one meaning in all of src", async () => {
  const files = (await Array.fromAsync(glob("src/**/*.ts", { cwd: project }))).filter(
    (file) => !file.endsWith(".test.ts"),
  )
  const sources = files.sort().map((file) => [file, readFileSync(`${project}/${file}`, "utf8")] as const)
  expect(sources.flatMap(([, text]) => [...text.matchAll(DECLARED)]).length).toBeGreaterThan(500)
  expect(declaredTwice(sources)).toEqual([])
})

test("a second declaration is found, an import or a type for one file alone is none", () => {
  const once = "export interface Turn {\n  seq: number\n}\n"
  expect(
    declaredTwice([
      ["a.ts", once],
      ["b.ts", "export type Turn = string\n"],
    ]),
  ).toEqual(["Turn: a.ts, b.ts"])
  expect(
    declaredTwice([
      ["a.ts", once],
      ["b.ts", 'import type { Turn } from "./a.ts"\ntype Own = Turn\n'],
    ]),
  ).toEqual([])
})
