import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Bytes, openBytes } from "./bytes.ts"

let dir: string
let open: Bytes[]

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tl-"))
  open = []
})

afterEach(() => {
  for (const bytes of open) bytes.close()
  rmSync(dir, { recursive: true, force: true })
})

function file(name: string, text: string): Bytes {
  writeFileSync(join(dir, name), text)
  const bytes = openBytes(join(dir, name), undefined)
  open.push(bytes)
  return bytes
}

/** A plain file's: they come at once. */
const linesOf = (bytes: Bytes) =>
  (bytes.lines(0, () => {}) as Iterable<Buffer[]>)[Symbol.iterator]() as Generator<Buffer[]>

const textOf = (lines: Buffer[] | undefined) => lines?.map((line) => line.toString())

test("files read concurrently do not corrupt each other's lines", () => {
  const [one, two] = [file("one", "1\n"), file("two", "2\n")].map((bytes) => linesOf(bytes))
  const [first, second] = [one!.next().value, two!.next().value]
  expect(textOf(first)).toEqual(["1\n"])
  expect(textOf(second)).toEqual(["2\n"])
})

test("an aborted reading frees its buffer for one other", () => {
  for (const _ of linesOf(file("given up", "0\n"))) break
  const [one, two] = [file("one", "1\n"), file("two", "2\n")].map((bytes) => linesOf(bytes))
  const [first, second] = [one!.next().value, two!.next().value]
  expect([textOf(first), textOf(second)]).toEqual([["1\n"], ["2\n"]])
})

test("a proof is not disturbed by the proof of another file", () => {
  const [one, two] = [file("one", "1\n".repeat(5_000)), file("two", "2\n".repeat(5_000))]
  const [first, second] = [one.proof(10_000), two.proof(10_000)]
  expect(first).toEqual(one.proof(10_000))
  expect(second).toEqual(two.proof(10_000))
  expect(first.headHash).not.toBe(second.headHash)
})
