import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { AuditEntry } from "../../domain/permission.ts"
import { type Home, homeAt } from "../process/home.ts"
import { recordCommand, takeInCommands } from "./command-audit.ts"

type Entry = Omit<AuditEntry, "seq">
let dir: string
let home: Home
let rows: Entry[]
let unreadable: string[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tl-audit-"))
  home = homeAt(join(dir, "home"), dir)
  rows = []
  unreadable = []
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const takeIn = (add = async (entry: Entry) => void rows.push(entry)) =>
  takeInCommands(home, add, (path) => unreadable.push(path))
const files = () => readdirSync(home.audit)
const environment = { agent: {} }

test("what a command does is written before, for us alone, and taken in once", async () => {
  await takeIn()
  recordCommand({ home, environment }, "config.set", { key: "http.port", isSet: true })
  expect(files()).toHaveLength(1)
  expect(statSync(join(home.audit, files()[0]!)).mode & 0o777).toBe(0o600)
  expect(statSync(home.audit).mode & 0o777).toBe(0o700)
  await takeIn()
  await takeIn()
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    who: "the owner",
    what: "config.set",
    data: { via: "terminal", key: "http.port", isSet: true, recordId: expect.any(String) },
  })
  expect(rows[0]!.atMs).toBeGreaterThan(Date.now() - 60_000)
  expect(files()).toEqual([])
})

test("in the shell of an agent it is that agent's", async () => {
  recordCommand({ home, environment: { agent: { shell: "codex" } } }, "setup", { agents: ["codex"] })
  await takeIn()
  expect(rows[0]!.who).toBe("the shell of an agent (codex)")
})

test("a record whose row could not be stored stays for the next time, with the same id", async () => {
  recordCommand({ home, environment }, "start", { set: ["http.port"] })
  const seen: unknown[] = []
  const full = async (entry: Entry) => {
    seen.push(entry.data.id)
    throw new Error("disk full")
  }
  await expect(takeIn(full)).rejects.toThrow("disk full")
  expect(files()).toHaveLength(1)
  await takeIn()
  expect(rows.map(({ data }) => data.id)).toEqual(seen)
})

test("what is no record of ours stays where it is and is reported; the others are taken in", async () => {
  recordCommand({ home, environment }, "unsetup", { agents: ["codex"] })
  writeFileSync(join(home.audit, "0-broken.json"), '{"atMs":', { mode: 0o600 })
  writeFileSync(join(home.audit, "0-shape.json"), '{"atMs":"x","who":1}', { mode: 0o600 })
  writeFileSync(join(home.audit, "0-open.json"), "{}", { mode: 0o600 })
  chmodSync(join(home.audit, "0-open.json"), 0o666)
  symlinkSync("/etc/passwd", join(home.audit, "0-link.json"))
  writeFileSync(join(home.audit, "0-empty.json"), "", { mode: 0o600 })
  await takeIn()
  expect(rows.map(({ what }) => what)).toEqual(["unsetup"])
  const left = ["0-broken.json", "0-link.json", "0-open.json", "0-shape.json"]
  expect(unreadable).toEqual(left.map((name) => join(home.audit, name)))
  expect(files().sort()).toEqual(left)
})

test("nothing is done where it cannot be written down", () => {
  writeFileSync(join(dir, "home"), "a file")
  expect(() => recordCommand({ home, environment }, "setup", {})).toThrow()
})
