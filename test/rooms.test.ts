import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"

interface Room {
  /** Rooms that it may import from. */
  imports: readonly string[]
  /** Rooms whose types it may name, and nothing else of them. */
  types?: readonly string[]
  /** Packages, with everything below their name; "any" where foreign libraries belong. */
  packages: readonly string[] | "any"
  /** Node's own modules: all, or only these in these files. */
  builtins: "any" | Readonly<Record<string, readonly string[]>>
}

const MIDDLE = ["sessions", "recall", "reach", "teams"]
const middleRoom: Room = { imports: ["domain", "lib"], packages: [], builtins: "any" }

/** The whole of it: who may import what. If the test objects, move the code, not the table. */
const rooms: Record<string, Room> = {
  domain: { imports: [], packages: ["zod"], builtins: { "ids.ts": ["node:crypto"] } },
  // Mechanisms that every module may use and that know no noun of ours.
  lib: { imports: ["domain"], packages: [], builtins: "any" },
  store: { imports: ["domain", "lib"], packages: ["kysely", "better-sqlite3", "pg"], builtins: "any" },
  sessions: middleRoom,
  recall: middleRoom,
  reach: middleRoom,
  teams: middleRoom,
  // Loads nothing heavy, so that a command line which only asks the daemon starts fast.
  operations: { imports: ["domain", "lib"], types: MIDDLE, packages: ["zod"], builtins: {} },
  adapters: { imports: ["domain", "lib"], packages: "any", builtins: "any" },
  surfaces: {
    imports: ["domain", "lib", "operations"],
    packages: ["zod", "hono", "commander", "@modelcontextprotocol/server"],
    builtins: "any",
  },
  daemon: {
    imports: ["domain", "lib", "store", ...MIDDLE, "operations", "adapters", "surfaces"],
    packages: "any",
    builtins: "any",
  },
}

const MAX_LINES = 300

/** Words that may stand in few places only, because what they reach must be reached in few places only. */
const confined: { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: "the environment",
    pattern: /\bprocess\s*\??\.\s*env\b|\bprocess\[|from "node:process"/,
    allowed: /^src\/daemon\/environment\.ts$/,
  },
  { what: "console", pattern: /(?<!agent-)\bconsole\s*\??\./, allowed: /^$/ },
  {
    what: "other processes",
    pattern: /["'](?:node:)?child_process["']|["']execa["']/,
    allowed: /^src\/(daemon\/(connect|process-identity|terminal)\.ts|adapters\/|teams\/)/,
  },
]

interface Import {
  from: string
  typeOnly: boolean
}

const STATIC = /^\s*(?:import|export)\s+(type\s)?(?:[^"'`;]*?\sfrom\s*)?["']([^"']+)["']/gm
const DYNAMIC = /\bimport\(\s*(?:["'`]([^"'`$]+)["'`]\s*[,)])?|\b(require)\(/g

/** Static and dynamic ones. What cannot be read off the source is named as such, and then refused. */
function importsOf(source: string): Import[] {
  return [
    ...[...source.matchAll(STATIC)].map((match) => ({ from: match[2]!, typeOnly: match[1] !== undefined })),
    ...[...source.matchAll(DYNAMIC)].map((match) => ({ from: match[1] ?? "(computed)", typeOnly: false })),
  ]
}

/** Everything that is wrong with one file of src/, by path from the project's folder. */
function violations(file: string, source: string): string[] {
  const name = file.split("/")[1]!
  const room = rooms[name]
  if (!room) return [`${file}: ${name} is not a room`]
  const imports = importsOf(source)
    .filter((found) => !mayImport(file, name, room, found))
    .map(({ from, typeOnly }) => `${file}: imports ${typeOnly ? "types of " : ""}${from}`)
  const words = confined
    .filter(({ pattern, allowed }) => pattern.test(source) && !allowed.test(file))
    .map(({ what }) => `${file}: reaches for ${what}`)
  const lines = source.trimEnd().split("\n").length
  return [...imports, ...words, ...(lines > MAX_LINES ? [`${file}: has ${lines} lines`] : [])]
}

function mayImport(file: string, name: string, room: Room, { from, typeOnly }: Import): boolean {
  if (from.startsWith(".")) {
    const target = posix.join(posix.dirname(file), from)
    const other = target.split("/")[1]!
    if (!target.startsWith("src/") || !target.endsWith(".ts") || target.endsWith(".test.ts")) return false
    return other === name || room.imports.includes(other) || (typeOnly && (room.types?.includes(other) ?? false))
  }
  if (from.startsWith("node:"))
    return room.builtins === "any" || (room.builtins[posix.basename(file)]?.includes(from) ?? false)
  if (from === "(computed)") return false
  return room.packages === "any" || room.packages.some((allowed) => from === allowed || from.startsWith(`${allowed}/`))
}

const project = fileURLToPath(new URL("..", import.meta.url))
// Tests stand beside what they test, and may open a real store for it.
const files = (await Array.fromAsync(glob("src/**/*.ts", { cwd: project }))).filter(
  (file) => !file.endsWith(".test.ts"),
)

test("the files of src are found", () => {
  expect(files.length).toBeGreaterThan(50)
})

test("every file is in a room, imports what its room may, is short, and reaches only for what it may", () => {
  expect(files.flatMap((file) => violations(file, readFileSync(`${project}/${file}`, "utf8")))).toEqual([])
})

test("no import escapes: as many are read as there are lines that end one", () => {
  const LAST_LINE = /^(?:import|export|\}).* from "[^"]+"$|^import "[^"]+"$/gm
  for (const file of files) {
    const source = readFileSync(`${project}/${file}`, "utf8")
    expect([file, [...source.matchAll(STATIC)].length]).toEqual([file, source.match(LAST_LINE)?.length ?? 0])
  }
})

describe("the checker catches", () => {
  test.each([
    ["a middle room that imports another", "src/recall/x.ts", 'import { a } from "../sessions/room.ts"'],
    ["also over several lines", "src/recall/x.ts", 'import {\n  a,\n  b,\n} from "../sessions/room.ts"'],
    ["also as a type", "src/recall/x.ts", 'import type { A } from "../sessions/room.ts"'],
    ["also when it is loaded later", "src/recall/x.ts", 'const a = await import("../sessions/room.ts")'],
    ["also for its side effects", "src/recall/x.ts", 'import "../sessions/room.ts"'],
    ["also when it is passed on", "src/recall/x.ts", 'export { a } from "../sessions/room.ts"'],
    ["a room that reaches up", "src/domain/x.ts", 'import { a } from "../store/open.ts"'],
    ["a surface that opens the store", "src/surfaces/x.ts", 'import { openStore } from "../store/open.ts"'],
    ["an operation that imports a room's code", "src/operations/x.ts", 'import { a } from "../sessions/room.ts"'],
    ["a type hidden in such an import", "src/operations/x.ts", 'import { type A } from "../sessions/room.ts"'],
    ["a package that is another room's", "src/sessions/x.ts", 'import { sql } from "kysely"'],
    ["a package whose name only begins alike", "src/domain/x.ts", 'import * as z from "zodiac"'],
    ["the disk in the domain", "src/domain/x.ts", 'import { readFileSync } from "node:fs"'],
    ["a file outside of src", "src/daemon/x.ts", 'import { a } from "../../test/promises.ts"'],
    ["a test's code in the program", "src/daemon/x.ts", 'import { a } from "./log.test.ts"'],
    ["an import that is computed", "src/daemon/x.ts", "await import(name)"],
    ["a require", "src/daemon/x.ts", 'require("zod")'],
    ["a room that is not in the table", "src/utils/x.ts", "export const a = 1"],
    ["the environment", "src/daemon/x.ts", "const home = process.env.HOME"],
    ["the console", "src/surfaces/x.ts", "console.log(1)"],
    ["another process", "src/sessions/x.ts", 'import { spawn } from "node:child_process"'],
    ["a long file", "src/daemon/x.ts", "const a = 1\n".repeat(301)],
  ])("%s", (_, file, source) => {
    expect(violations(file, source)).toHaveLength(1)
  })

  test.each([
    ["its own room", "src/recall/x.ts", 'import { a } from "./search.ts"'],
    ["the domain", "src/recall/x.ts", 'import type { A } from "../domain/store.ts"'],
    ["types of a room, for an operation", "src/operations/x.ts", 'import type { A } from "../sessions/room.ts"'],
    ["a part of a package", "src/store/x.ts", 'import { Migrator } from "kysely/migration"'],
    ["ids in the domain", "src/domain/ids.ts", 'import { randomUUID } from "node:crypto"'],
    ["an agent's process", "src/teams/pool.ts", 'import { spawn } from "node:child_process"'],
    ["a file of just enough lines", "src/daemon/x.ts", "const a = 1\n".repeat(300)],
  ])("but not %s", (_, file, source) => {
    expect(violations(file, source)).toEqual([])
  })
})
