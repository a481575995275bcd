// How many deliberate faults the tests notice, in the modules that must not fail. Run by hand: `npm run mutation -- evidence paths`.
// Without a name it takes all of them, for hours. Writes bench/results/mutation.json and prints a table.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const RESULTS = join(ROOT, "bench", "results")
const GOAL = 80

/** What each module is made of, and the tests that see its source: those that start the built program do not. */
const MODULES: Record<string, { mutate: string[]; tests: string[] }> = {
  pasting: { mutate: ["src/queue/paste.ts"], tests: ["src/queue/paste.test.ts"] },
  panes: { mutate: ["src/adapters/tmux/tmux.ts"], tests: ["src/adapters/tmux/tmux.test.ts"] },
  "panes-shell": { mutate: ["src/adapters/tmux/tmux-shell.ts"], tests: ["src/adapters/tmux/tmux-shell.test.ts"] },
  "panes-screen": {
    mutate: ["src/adapters/tmux/tmux.ts", "src/adapters/tmux/process-tree.ts"],
    tests: ["src/adapters/tmux/screen.test.ts", "src/adapters/tmux/process-tree.test.ts"],
  },
  presence: { mutate: ["src/live/presence.ts"], tests: ["src/live/presence*.test.ts"] },
  leases: { mutate: ["src/store/tables/leasing.ts"], tests: ["test/contracts/leases.mutation.ts"] },
  "leases-messages": {
    mutate: ["src/queue/message-leases.ts", "src/lib/leases.ts"],
    tests: ["src/queue/message-leases.test.ts", "src/lib/lane-runner.test.ts"],
  },
  lanes: {
    mutate: ["src/lib/lane-runner.ts", "src/lib/backoff.ts", "src/lib/transitions.ts"],
    tests: ["src/lib/lane-runner.test.ts", "src/lib/backoff.test.ts", "src/lib/transitions.test.ts"],
  },
  recovery: { mutate: ["src/queue/recovery.ts"], tests: ["src/queue/recovery.test.ts"] },
  "recovery-teams": { mutate: ["src/teams/recovery.ts"], tests: ["src/teams/recovery.test.ts"] },
  evidence: {
    mutate: ["src/queue/evidence.ts"],
    tests: ["src/queue/evidence.test.ts"],
  },
  relay: { mutate: ["src/surfaces/mcp/mcp-stdio.ts"], tests: ["src/surfaces/mcp/mcp-stdio.lines.test.ts"] },
  redaction: {
    mutate: ["src/capture/redact/redaction.ts", "src/capture/redact/scan.ts", "src/capture/redact/rarest-part.ts"],
    tests: [
      "src/capture/redact/redaction.edges.test.ts",
      "src/capture/redact/scan.test.ts",
      "src/capture/redact/rarest-part.test.ts",
    ],
  },
  paths: {
    mutate: ["src/lib/untrusted-file.ts", "src/lib/untrusted-write.ts", "src/lib/path-rules.ts", "src/lib/roots.ts"],
    tests: ["src/lib/untrusted-*.test.ts", "src/lib/path-rules.test.ts", "src/lib/roots.test.ts"],
  },
  // pending.test.ts waits for real seconds, and is left out: what it alone sees counts as survived.
  permissions: {
    mutate: [
      "src/permissions/pending.ts",
      "src/permissions/permits.ts",
      "src/operations/invoke.ts",
      "src/domain/caller.ts",
    ],
    tests: [
      "src/permissions/pending.clock.test.ts",
      "src/permissions/permits.test.ts",
      "src/operations/invoke.test.ts",
      "src/operations/access.test.ts",
    ],
  },
}

interface Score {
  module: string
  score: number
  killed: number
  survived: number
  notCovered: number
  timedOut: number
  survivors: string[]
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in MODULES))
if (unknown.length > 0) {
  console.error(`unknown module: ${unknown.join(", ")}. There are: ${Object.keys(MODULES).join(", ")}`)
  process.exit(2)
}
const scores = (names.length > 0 ? names : Object.keys(MODULES)).map(measure)
mkdirSync(RESULTS, { recursive: true })
writeFileSync(join(RESULTS, "mutation.json"), `${JSON.stringify(scores, null, 2)}\n`)
for (const { module, score, killed, survived, notCovered, timedOut } of scores)
  console.log(
    `${module.padEnd(12)} ${score.toFixed(1).padStart(5)} %  killed ${killed}, timed out ${timedOut}, survived ${survived}, not covered ${notCovered}${score < GOAL ? "  below the goal" : ""}`,
  )
for (const { module, survivors } of scores) for (const line of survivors) console.log(`${module}: ${line}`)

function measure(module: string): Score {
  const { mutate, tests } = MODULES[module]!
  const folder = join(ROOT, ".mutation", module)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const report = join(folder, "report.json")
  const config = join(folder, "stryker.config.json")
  writeFileSync(
    config,
    JSON.stringify({
      testRunner: "vitest",
      plugins: ["@stryker-mutator/vitest-runner"],
      vitest: { configFile: "vitest.mutation.config.ts", related: false },
      mutate: [...mutate, "!src/**/*.test.ts"],
      ignorePatterns: [".mutation", "dist", "bench/results", "docs", "web", "test/agents", ".git"],
      // TypeScript 7 has no API that Stryker could rewrite a tsconfig with; vitest needs none.
      tsconfigFile: "none.json",
      coverageAnalysis: "perTest",
      concurrency: 2,
      // Beside what the tests take: a slow machine is no endless loop.
      timeoutMS: 30_000,
      reporters: ["json", "progress-append-only"],
      jsonReporter: { fileName: report },
      tempDirName: join(folder, "work"),
    }),
  )
  spawnSync(
    process.execPath,
    [join(ROOT, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js"), "run", config],
    {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, MUTATION_TESTS: tests.join(",") },
    },
  )
  if (!existsSync(report)) throw new Error(`Stryker wrote no report for ${module}`)
  return scoreOf(module, report)
}

interface Report {
  files: Record<
    string,
    { mutants: { status: string; mutatorName: string; replacement?: string; location: { start: { line: number } } }[] }
  >
}

function scoreOf(module: string, path: string): Score {
  const { files } = JSON.parse(readFileSync(path, "utf8")) as Report
  const mutants = Object.entries(files).flatMap(([file, { mutants }]) => mutants.map((mutant) => ({ file, ...mutant })))
  const count = (status: string) => mutants.filter((mutant) => mutant.status === status).length
  const [killed, survived, notCovered, timedOut] = ["Killed", "Survived", "NoCoverage", "Timeout"].map(count) as [
    number,
    number,
    number,
    number,
  ]
  return {
    module,
    score: (100 * (killed + timedOut)) / Math.max(1, killed + timedOut + survived + notCovered),
    killed,
    survived,
    notCovered,
    timedOut,
    survivors: mutants
      .filter(({ status }) => status === "Survived" || status === "NoCoverage")
      .map(
        ({ file, location, mutatorName, replacement }) =>
          `${file}:${location.start.line} ${mutatorName} → ${(replacement ?? "").slice(0, 80)}`,
      ),
  }
}
