import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const project = fileURLToPath(new URL("..", import.meta.url))
const DECLARED = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm

/** Each name of an exported type that is declared in more than one place, with those places. */
function declaredTwice(sources: Iterable<readonly [file: string, text: string]>): string[] {
  const places = new Map<string, string[]>()
  for (const [file, text] of sources)
    for (const [, name] of text.matchAll(DECLARED)) places.set(name!, [...(places.get(name!) ?? []), file])
  return [...places].filter(([, files]) => files.length > 1).map(([name, files]) => `${name}: ${files.join(", ")}`)
}

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
