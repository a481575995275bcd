import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"

/**
 * Files that a repository, an agent or another user can influence are opened by src/lib/untrusted-file.ts and its two
 * neighbours. Whoever else opens, reads, stats or writes with node:fs is listed here, with the functions and the reason.
 */
const MODULE = /^src\/lib\/(?:path-rules|untrusted-file|untrusted-write)\.ts$/

const OWN_DATA = "its own file in the data directory, which only we can enter"
const PROC = "/proc of a process id: the kernel's files"
const SHIPPED = "a file of the package itself"
const DEMO = "in the demo's own folder, which is made anew for us alone"

const allowed: Record<string, { uses: string[]; why: string }> = {
  "src/agents/shared/driver/processes.ts": { uses: ["readFileSync"], why: PROC },
  "src/agents/codex/line-terminals.ts": { uses: ["readFileSync"], why: PROC },
  "src/adapters/tmux/process-tree.ts": { uses: ["readFileSync"], why: PROC },
  "src/agents/shared/records/foreign-sqlite.ts": { uses: ["writeFileSync"], why: "a copy in a new folder of ours" },
  "src/agents/gemini-cli/process-command.ts": { uses: ["readFile"], why: PROC },
  "src/adapters/tokens/o200k.ts": { uses: ["readFileSync"], why: SHIPPED },
  "src/daemon/wiring/agent-shell.ts": { uses: ["readFileSync"], why: PROC },
  "src/daemon/commands/commands.ts": { uses: ["open", "readFileSync", "statSync"], why: `the log: ${OWN_DATA}` },
  "src/daemon/commands/connect.ts": {
    uses: ["openSync", "readFileSync"],
    why: `what a starting daemon says: ${OWN_DATA}`,
  },
  "src/daemon/commands/dashboard-command.ts": { uses: ["writeFileSync"], why: OWN_DATA },
  "demo/agent-records.ts": { uses: ["appendFileSync", "readFileSync", "writeFileSync"], why: DEMO },
  "demo/compose.ts": { uses: ["chmodSync"], why: DEMO },
  "demo/files.ts": { uses: ["utimesSync", "writeFileSync"], why: DEMO },
  "demo/place.ts": {
    uses: ["lstatSync", "readFileSync", "writeFileSync"],
    why: "checks the owner of the demo's folder before it uses it",
  },
  "demo/stories.ts": { uses: ["readFileSync"], why: SHIPPED },
  "src/daemon/doctor/doctor.ts": { uses: ["statSync"], why: "the mode of the data directory" },
  "src/daemon/process/home.ts": { uses: ["chmodSync", "statSync"], why: "checks the data directory itself" },
  "src/daemon/process/lock.ts": { uses: ["chmodSync", "openSync", "statSync"], why: OWN_DATA },
  "src/daemon/process/log.ts": { uses: ["chmodSync", "statSync"], why: OWN_DATA },
  "src/daemon/process/process-identity.ts": { uses: ["readFileSync"], why: PROC },
  "src/daemon/process/serve.ts": { uses: ["chmodSync"], why: "the daemon's own socket" },
  "src/daemon/commands/telegram-setup.ts": { uses: ["chmodSync"], why: OWN_DATA },
  "src/daemon/version.ts": { uses: ["readFileSync"], why: SHIPPED },
  "src/messenger/inbound/attachments.ts": { uses: ["writeFile"], why: "a voice message in a new folder of ours" },
  "src/capture/read/spool.ts": { uses: ["writeFile"], why: OWN_DATA },
  "src/lib/true-case.ts": { uses: ["statSync"], why: "compares inodes, and opens nothing" },
  "src/store/dialects/index-sqlite.ts": { uses: ["chmodSync", "statSync"], why: OWN_DATA },
  "src/store/dialects/sqlite.ts": { uses: ["chmodSync", "statSync"], why: OWN_DATA },
  "src/store/dialects/vectors-sqlite.ts": { uses: ["chmodSync"], why: OWN_DATA },
  "src/surfaces/http/web.ts": { uses: ["readFile"], why: `${SHIPPED}, and the name is checked` },
}

/** They open no file and follow no link to what is written: names, existence, descriptors that are open already. */
const HARMLESS =
  /^(?:exists|access|realpath|readdir|readlink|rm|rename|link|mkdir|mkdtemp|close|fsync|ftruncate|fstat|fchmod|read|write|statfs)(?:Sync)?$|^(?:constants|watch|watchFile|unwatchFile)$/

const IMPORT = /^import\s+(?!type\s)(?:\{([^}]*)\}|([^"{]+))\s*from\s*["'](?:node:)?fs(?:\/promises)?["']/gm
const OTHERWISE = /(?:import\(|require\(|getBuiltinModule\()\s*["'](?:node:)?fs(?:\/promises)?["']/

/** The functions of node:fs that a file uses to open, read, stat or write; "all of it" where that cannot be told. */
function opens(source: string): string[] {
  const named = [...source.matchAll(IMPORT)].flatMap(([, names, whole]) =>
    whole === undefined ? names!.split(",").map((name) => name.trim()) : ["all of it"],
  )
  const values = named.filter((name) => name !== "" && !name.startsWith("type "))
  const used = values.map((name) => name.split(" as ")[0]!.trim()).filter((name) => !HARMLESS.test(name))
  return [...used, ...(OTHERWISE.test(source) ? ["all of it"] : [])].sort()
}

const project = fileURLToPath(new URL("..", import.meta.url))
const files = (await Array.fromAsync(glob(["src/**/*.ts", "demo/**/*.ts"], { cwd: project }))).filter(
  (file) => !file.endsWith(".test.ts") && !MODULE.test(file),
)
const found = Object.fromEntries(
  files
    .map((file) => [file, opens(readFileSync(`${project}/${file}`, "utf8"))] as const)
    .filter(([, uses]) => uses.length > 0),
)

test("nothing but the module opens a path that others can influence; the exceptions are listed with their reasons", () => {
  const listed = Object.fromEntries(Object.entries(allowed).map(([file, { uses }]) => [file, uses]))
  expect(found).toEqual(listed)
})

describe("the check sees", () => {
  test.each([
    ['import { readFileSync } from "node:fs"', ["readFileSync"]],
    ['import { existsSync, readFile as read } from "node:fs/promises"', ["readFile"]],
    ['import {\n  lstatSync,\n  rmSync,\n} from "fs"', ["lstatSync"]],
    ['import fs from "node:fs"', ["all of it"]],
    ['import * as fs from "node:fs/promises"', ["all of it"]],
    ['const { open } = await import("node:fs/promises")', ["all of it"]],
    ['process.getBuiltinModule("node:fs")', ["all of it"]],
    ['import { type Stats, existsSync } from "node:fs"', []],
    ['import type { Stats } from "node:fs"', []],
  ])("%s", (source, uses) => {
    expect(opens(source)).toEqual(uses)
  })
})
