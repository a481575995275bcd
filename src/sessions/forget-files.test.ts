import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { forgetInFiles } from "./forget-files.ts"

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "forget-files-")))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const WORD = "zebrasecret"
const MODULE = new URL("./forget-files.ts", import.meta.url)
const STAYS = Array.from({ length: 20_000 }, (_, n) => `{"msg":"line ${n} stays"}\n`)

test.skipIf(process.platform === "win32")("a process that dies while it takes a text out loses no other line", () => {
  const logs = join(dir, "logs")
  const conversations = join(dir, "shop", ".throughline", "conversations")
  for (const folder of [logs, conversations]) mkdirSync(folder, { recursive: true })
  const files = [join(logs, "a.log"), join(conversations, "x.jsonl")]
  const text = `{"msg":"${WORD}"}\n${STAYS.join("")}`
  for (const path of files) writeFileSync(path, text)
  const run = `import(${JSON.stringify(MODULE.href)}).then(({ forgetInFiles }) => {
    const own = { lineFolders: [${JSON.stringify(logs)}], copies: [] }
    process.stdout.write(JSON.stringify(forgetInFiles("${WORD}", own, [${JSON.stringify(files[1])}])))
  })`
  // In the middle of what is to be written, the system refuses more of it.
  const { stdout, signal } = spawnSync("sh", ["-c", 'ulimit -f 200; exec "$0" -e "$1"', process.execPath, run], {
    encoding: "utf8",
  })
  for (const path of files) expect(readFileSync(path, "utf8").split("\n").length, path).toBe(text.split("\n").length)
  if (signal === null) expect(JSON.parse(stdout)).toEqual(files)

  expect(forgetInFiles(WORD, { lineFolders: [logs], copies: [] }, [files[1]!])).toEqual([])
  for (const path of files) expect(readFileSync(path, "utf8")).toBe(STAYS.join(""))
})

test("a file keeps its name and mode where every line of it goes", () => {
  const path = join(dir, "a.log")
  writeFileSync(path, `${WORD}\n`, { mode: 0o640 })
  expect(forgetInFiles(WORD, { lineFolders: [dir], copies: [] }, [])).toEqual([])
  expect(readFileSync(path, "utf8")).toBe("")
  expect(statSync(path).mode & 0o777).toBe(0o640)
})
