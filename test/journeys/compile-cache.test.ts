import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { BIN } from "../fixtures/daemon.ts"

const ENTRY = fileURLToPath(new URL("../../dist/daemon/main.js", import.meta.url))
const NOBODY = 65534
/** In an entry of Node's cache these come before the bytecode: what is checked of the source, and of the bytecode. */
const HEADER = { sourceBytes: 4, sourceHash: 12 }
const isRoot = process.getuid?.() === 0

let dir: string
let temp: string
let home: string
let mark: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-cache-")))
  chmodSync(dir, 0o755)
  for (const name of ["temp", "attacker"]) mkdirSync(join(dir, name))
  // As /tmp is: everybody's, and nobody removes what is another's.
  chmodSync(join(dir, "temp"), 0o1777)
  chownSync(join(dir, "attacker"), NOBODY, NOBODY)
  mkdirSync(join(dir, "home"), { mode: 0o700 })
  ;[temp, home, mark] = [join(dir, "temp"), join(dir, "home"), join(dir, "attacked")]
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const node = (args: string[], env: Record<string, string>, uid?: number) =>
  spawnSync(process.execPath, args, {
    env: { PATH: process.env.PATH ?? "", HOME: dir, ...env },
    cwd: dir,
    encoding: "utf8",
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
const victim = (env: Record<string, string> = {}) =>
  node([BIN, "--version"], { TMPDIR: temp, THROUGHLINE_HOME: home, ...env })

/** Bytecode of a module that leaves a mark, dressed up as that of the program's entry. All of it is done as another user. */
function forgedCache(): { folder: string; entry: string; bytes: Buffer } {
  const own = join(dir, "attacker")
  const attacker = (name: string, script: string) => {
    const { status, stderr } = node([script, "--version"], { NODE_COMPILE_CACHE: join(own, name) }, NOBODY)
    return { status, stderr, cache: join(own, name) }
  }
  const source = readFileSync(ENTRY)
  const evil = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(mark)}, String(process.getuid()));`
  const script = join(own, "evil.mjs")
  writeFileSync(script, evil.padEnd(source.length, " "))
  const [genuine, forged] = [attacker("genuine", BIN).cache, attacker("forged", script).cache]
  const [folder = ""] = readdirSync(genuine)
  const entries = readdirSync(join(genuine, folder)).map((name) => ({
    name,
    bytes: readFileSync(join(genuine, folder, name)),
  }))
  const real = entries.find(({ bytes }) => bytes.readUInt32LE(HEADER.sourceBytes) === source.length)!
  const [name = ""] = readdirSync(join(forged, folder))
  const bytes = readFileSync(join(forged, folder, name))
  for (const at of Object.values(HEADER)) real.bytes.copy(bytes, at, at, at + 4)
  return { folder: folder.replace(/\d+$/, "0"), entry: real.name, bytes }
}

function plant(cache: string): void {
  const { folder, entry, bytes } = forgedCache()
  mkdirSync(join(cache, folder), { recursive: true })
  writeFileSync(join(cache, folder, entry), bytes)
  execFileSync("chown", ["-R", String(NOBODY), cache])
  execFileSync("chmod", ["-R", "a+rwX", cache])
}

test.runIf(isRoot)("another user who creates the shared compile cache first does not get their code run", () => {
  plant(join(temp, "node-compile-cache"))
  // The attack is real: a program that trusts the shared folder runs it.
  const trusting = `import("node:module").then((m) => { m.enableCompileCache(); return import(${JSON.stringify(ENTRY)}) })`
  node(["-e", trusting], { TMPDIR: temp })
  expect(existsSync(mark) && readFileSync(mark, "utf8")).toBe("0")
  rmSync(mark)
  expect(victim()).toMatchObject({ status: 0, stderr: "" })
  expect(victim({ THROUGHLINE_HOME: join(dir, "none") })).toMatchObject({ status: 0, stderr: "" })
  expect(existsSync(mark)).toBe(false)
})

test.runIf(isRoot)(
  "nor with a cache planted in a data directory that others can write to, or as a link to theirs",
  () => {
    plant(join(home, "cache"))
    chmodSync(join(home, "cache"), 0o700)
    expect(victim()).toMatchObject({ status: 0, stderr: "" })
    expect(existsSync(mark)).toBe(false)

    rmSync(join(home, "cache"), { recursive: true })
    plant(join(dir, "theirs"))
    execFileSync("chown", ["-R", "0", join(dir, "theirs")])
    chmodSync(join(dir, "theirs"), 0o700)
    symlinkSync(join(dir, "theirs"), join(home, "cache"))
    lchownSync(join(home, "cache"), NOBODY, NOBODY)
    expect(victim()).toMatchObject({ status: 0, stderr: "" })
    expect(existsSync(mark)).toBe(false)

    rmSync(join(home, "cache"))
    plant(join(home, "cache"))
    execFileSync("chown", ["-R", "0", join(home, "cache")])
    chmodSync(join(home, "cache"), 0o700)
    chmodSync(home, 0o777)
    expect(victim()).toMatchObject({ status: 0, stderr: "" })
    expect(existsSync(mark)).toBe(false)
  },
)

test("the cache is in the data directory, for its owner alone, and only once that exists", () => {
  victim({ THROUGHLINE_HOME: join(dir, "none") })
  expect(existsSync(join(dir, "none"))).toBe(false)
  victim()
  expect(statSync(join(home, "cache")).mode & 0o777).toBe(0o700)
  const [folder = ""] = readdirSync(join(home, "cache"))
  expect(readdirSync(join(home, "cache", folder)).length).toBeGreaterThan(0)
  expect(readdirSync(temp)).toEqual([])
})
