import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { liveSessions } from "./registry.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "registry-"))
})
afterEach(() => rmSync(dir, { recursive: true }))

const ENTRY = JSON.stringify({ pid: 7, sessionId: "one", cwd: "/p", status: "idle", kind: "interactive" })

test.each([
  ["empty", ""],
  ["cut in the middle", ENTRY.slice(0, 20)],
])("an entry that is %s while it is written is not a session that was closed", async (_, written) => {
  writeFileSync(join(dir, "7.json"), written)
  setTimeout(() => writeFileSync(join(dir, "7.json"), ENTRY), 20)
  expect(await liveSessions(dir)).toMatchObject([{ nativeId: "one", pid: 7, status: "idle" }])
})

test("an entry that stays unreadable is left out, and the others are not", async () => {
  writeFileSync(join(dir, "7.json"), ENTRY)
  for (const [name, text] of [
    ["8.json", "{"],
    ["9.json", "[]"],
    ["10.json", "null"],
    ["notes.txt", ENTRY],
  ])
    writeFileSync(join(dir, name!), text!)
  expect((await liveSessions(dir)).map(({ pid }) => pid)).toEqual([7])
})
