import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { forgetInFiles } from "../../sessions/forget-files.ts"
import { type Home, homeAt } from "./home.ts"
import { openLog } from "./log.ts"
import { privacy } from "./own-files.ts"

let folder: string
let home: Home
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-log-"))
  home = homeAt(join(folder, "home"), folder)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lines = () =>
  readFileSync(home.log, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test("only its owner can read it, also when it was made with other rights", () => {
  openLog(home, "info").info("first")
  expect(statSync(home.log).mode & 0o777).toBe(0o600)
  rmSync(home.log)
  writeFileSync(home.log, "", { mode: 0o644 })
  openLog(home, "info")
  expect(statSync(home.log).mode & 0o777).toBe(0o600)
})

test("a planted token does not reach it", () => {
  const token = "hunter2-planted"
  const log = openLog(home, "debug")
  log.info({ token, url: `postgres://me:${token}@localhost/db`, authorization: `Bearer ${token}` }, "at the top")
  log.info(
    { config: { token, url: `postgres://${token}` }, headers: { authorization: `Bearer ${token}` } },
    "one below",
  )
  log
    .child({ module: "reach" })
    .warn({ err: Object.assign(new Error("refused"), { token, url: token }) }, "on an error")
  expect(lines()).toHaveLength(3)
  expect(readFileSync(home.log, "utf8")).not.toContain(token)
})

test("it holds what its level says, with time and process, and errors whole", () => {
  const log = openLog(home, "warn")
  log.info("too small")
  log.error({ err: new Error("broken", { cause: new Error("the reason") }) }, "it failed")
  expect(lines()).toEqual([
    expect.objectContaining({
      msg: "it failed",
      pid: process.pid,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      err: expect.objectContaining({ message: expect.stringContaining("broken"), stack: expect.any(String) }),
    }),
  ])
})

test("what was written before stays, and a large one is put aside once", () => {
  openLog(home, "info").info("before")
  openLog(home, "info").info("after")
  expect(lines().map((line) => line.msg)).toEqual(["before", "after"])
  truncateSync(home.log, 21 * 1024 * 1024)
  openLog(home, "info").info("anew")
  expect(lines().map((line) => line.msg)).toEqual(["anew"])
  expect(existsSync(`${home.log}.1`)).toBe(true)
})

test("a text is taken out of it while it is open: no draft stays beside it, and what is logged from then on is in it", () => {
  const log = openLog(home, "info")
  log.info("about zebrasecret")
  log.info("stays")
  const { ownFiles } = privacy(home, { exclude: [], redactionOff: [], redactionExtra: [] }, log)
  expect(forgetInFiles("zebrasecret", ownFiles, [])).toEqual([])
  log.child({ module: "reach" }).info("and later")
  expect(lines().map(({ msg }) => msg)).toEqual(["stays", "and later"])
  expect(statSync(home.log).mode & 0o777).toBe(0o600)
  expect(readdirSync(home.logs)).toEqual(["throughline.log"])
})
