// The state of the house: what src is like, counted alike for the present tree and for a commit before it.
// node scripts/house.ts [ref] [--paths]: with --paths both are built and run, which takes some minutes.
import { execFileSync } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { retiredNamesIn } from "../test/retired-names.ts"
import { declaredTwice } from "../test/type-names.ts"
import type { Paths } from "./house-paths.ts"

interface House {
  files: number
  lines: number
  median: number
  p90: number
  most: number
  typesWithTwoMeanings: number
  repeatedRuns: number
  droppedWords: number
  paths?: Paths
}

/** So many lines in a row that are somewhere else as well count as a repetition. */
const RUN_LINES = 6
const ROOT = fileURLToPath(new URL("..", import.meta.url))
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { paths: { type: "boolean" }, json: { type: "boolean" } },
})
const [ref] = positionals
const columns: Record<string, House> = {
  ...(ref === undefined ? {} : { [ref]: inWorktree(ref, stateOf) }),
  now: stateOf(ROOT),
}
console.log(values.json ? JSON.stringify(columns, null, 2) : table(columns))

function stateOf(tree: string): House {
  const files = globSync("src/**/*.ts", { cwd: tree })
    .filter((file) => !file.endsWith(".test.ts"))
    .sort()
  const sources = files.map((file) => [file, readFileSync(join(tree, file), "utf8")] as const)
  const lengths = sources.map(([, text]) => text.trimEnd().split("\n").length).toSorted((a, b) => a - b)
  return {
    files: files.length,
    lines: lengths.reduce((sum, lines) => sum + lines, 0),
    median: lengths[lengths.length >> 1]!,
    p90: lengths[Math.floor(lengths.length * 0.9)]!,
    most: lengths.at(-1)!,
    typesWithTwoMeanings: declaredTwice(sources).length,
    repeatedRuns: repeatedRuns(sources.map(([, text]) => text)),
    droppedWords: sources.reduce((sum, [, text]) => sum + retiredNamesIn(text).length, 0),
    ...(values.paths ? { paths: pathsOf(tree) } : {}),
  }
}

/** Lines that begin a run which is somewhere else too, without imports, blank lines and lines that only close something. */
function repeatedRuns(texts: string[]): number {
  const places = new Map<string, number>()
  for (const text of texts) {
    const lines = text
      .replaceAll(/^import [\s\S]*?from "[^"]*"$/gm, "")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => /\w/.test(line))
    for (let at = 0; at + RUN_LINES <= lines.length; at++) {
      const run = lines.slice(at, at + RUN_LINES).join("\n")
      places.set(run, (places.get(run) ?? 0) + 1)
    }
  }
  return [...places.values()].filter((count) => count > 1).length
}

function pathsOf(tree: string): Paths {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: tree, stdio: ["ignore", "ignore", "inherit"] })
  const script = fileURLToPath(new URL("house-paths.ts", import.meta.url))
  return JSON.parse(execFileSync(process.execPath, [script, tree], { encoding: "utf8" })) as Paths
}

/** The commit beside the present tree, with its packages. */
function inWorktree<T>(ref: string, work: (tree: string) => T): T {
  const tree = join(mkdtempSync(join(tmpdir(), "house-")), "tree")
  const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, stdio: "ignore" })
  git("worktree", "add", "--detach", tree, ref)
  try {
    symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"))
    return work(tree)
  } finally {
    git("worktree", "remove", "--force", tree)
    rmSync(join(tree, ".."), { recursive: true, force: true })
  }
}

function table(columns: Record<string, House>): string {
  const names = Object.keys(columns)
  const houses = Object.values(columns)
  const row = (what: string, value: (house: House) => number | undefined) =>
    `| ${what} | ${houses.map((house) => value(house)?.toLocaleString("en") ?? "").join(" | ")} |`
  const paths = ["A", "B", "C", "D"] as const
  const measured = houses.some((house) => house.paths)
  return [
    `| src, without tests | ${names.join(" | ")} |`,
    `|---|${"---|".repeat(names.length)}`,
    row("files", ({ files }) => files),
    row("lines", ({ lines }) => lines),
    row("median lines", ({ median }) => median),
    row("p90", ({ p90 }) => p90),
    row("most", ({ most }) => most),
    row("exported type names with two meanings", ({ typesWithTwoMeanings }) => typesWithTwoMeanings),
    row(`runs of ${RUN_LINES} lines that repeat`, ({ repeatedRuns }) => repeatedRuns),
    row("dropped words", ({ droppedWords }) => droppedWords),
    ...(measured
      ? paths.flatMap((path) => [
          row(`files on path ${path}`, ({ paths }) => paths?.[path].files.length),
          row(`… in processes started for it`, ({ paths }) => paths?.[path].startedFiles.length),
        ])
      : []),
  ].join("\n")
}
