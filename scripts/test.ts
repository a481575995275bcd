// Everything that must hold before a change goes in: style, types and every test, with the real agents the journeys drive.
// `--unit` runs the tests beside the code only, and installs nothing. Other arguments go to vitest: `npm test -- test/contracts`.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, totalmem } from "node:os"
import { delimiter, join } from "node:path"
import { createInterface } from "node:readline/promises"
import { fileURLToPath } from "node:url"
import { type Run, runVendorJourneysTwice } from "./again.ts"
import { announcement, type Install, missingInstalls, type Surroundings } from "./installs.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const BIN = join(ROOT, "node_modules", ".bin")
const AGENTS = join(ROOT, "test", "agents")
const STAMP = join(AGENTS, "node_modules", ".installed-lock")
const SYSTEM_CA = "/etc/ssl/certs/ca-certificates.crt"
const ENOUGH_BYTES = 8e9
const UNIT_TESTS = ["src", "demo", "web/src", "test/modules.test.ts"]

const path = (process.env.PATH ?? "").split(delimiter)
const ownEnv = { ...process.env, PATH: [BIN, ...path].join(delimiter) }
/** Without the project's Node, which would run npm and does not know the system's certificates. */
const systemEnv = {
  ...process.env,
  PATH: path.filter((folder) => !/node_modules[/\\]\.bin$/.test(folder)).join(delimiter),
  ...(process.env.NODE_EXTRA_CA_CERTS === undefined && existsSync(SYSTEM_CA) ? { NODE_EXTRA_CA_CERTS: SYSTEM_CA } : {}),
}

const [first, ...rest] = process.argv.slice(2)
if (first === "--unit") {
  // They mostly wait, for timers and small processes.
  const status = vitestInMemory()([...UNIT_TESTS, "--maxWorkers=5", ...rest])
  process.exit(status)
}
// First of all, so that nobody waits for style and types before being asked.
await install(missingInstalls(surroundings()))
step("style", join(BIN, "biome"), ["check", "."])
step("types", join(BIN, "tsc"), ["-p", "tsconfig.json"])
step("unused code", join(BIN, "knip"), [])
say("tests")
const { status, secondRuns } = runVendorJourneysTwice(vitestInMemory(), process.argv.slice(2), ROOT)
if (secondRuns.length > 0) say(`second runs, each one to look into:\n${secondRuns.join("\n")}`)
if (status !== 0) {
  say("tests failed")
  process.exit(status)
}

function surroundings(): Surroundings {
  return {
    isOnPath,
    mayInstallPackages: process.getuid?.() === 0 && isOnPath("apt-get"),
    hasAgents: existsSync(STAMP) && readFileSync(STAMP, "utf8") === agentsLock(),
  }
}

async function install(missing: Install): Promise<void> {
  const words = announcement(missing)
  if (words !== undefined) say(words)
  if ((missing.packages.length > 0 || missing.agents) && process.stdin.isTTY && process.stdout.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stdout })
    const answer = (await terminal.question("Install now? [Y/n] ")).trim().toLowerCase()
    terminal.close()
    if (answer !== "" && answer !== "y" && answer !== "yes") {
      say("nothing was installed. `npm run test:unit` runs the tests that need none of it")
      process.exit(1)
    }
  }
  if (missing.packages.length > 0) {
    step("refreshing the list of Debian packages", "apt-get", ["update", "-q"])
    const args = ["install", "-qy", "--no-install-recommends", ...missing.packages]
    step(`installing ${missing.packages.join(", ")}`, "apt-get", args)
  }
  if (missing.agents) {
    const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"]
    step("installing the agents", "npm", args, AGENTS, systemEnv)
    writeFileSync(STAMP, agentsLock())
  }
}

function step(title: string, command: string, args: string[], cwd = ROOT, env: NodeJS.ProcessEnv = ownEnv): void {
  say(title)
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: "inherit" })
  if (status === 0) return
  say(`${title} failed${error ? `: ${error.message}` : ""}`)
  process.exit(status ?? 1)
}

function agentsLock(): string {
  return createHash("sha256")
    .update(readFileSync(join(AGENTS, "package-lock.json")))
    .digest("hex")
}

/**
 * With temporary files in memory, where root can have that: no commit waits for a disk there, and a killed process has
 * lost nothing that it would have kept on one. The mount is visible to this step only, and gone with it.
 */
function vitestInMemory(): Run {
  const vitest = join(BIN, "vitest")
  const folder = process.env.TMPDIR === undefined && totalmem() > ENOUGH_BYTES && mkdtempSync(join(tmpdir(), "tl-"))
  const mounted = ["--mount", "sh", "-c", 'mount -t tmpfs -o mode=755 tmpfs "$0" && exec "$@"', folder || ""]
  if (folder) process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  if (folder && spawnSync("unshare", [...mounted, "true"]).status === 0) {
    const env = { ...ownEnv, TMPDIR: folder }
    return (args) => statusOf("unshare", [...mounted, vitest, "run", ...args], env)
  }
  return (args) => statusOf(vitest, ["run", ...args], ownEnv)
}

function statusOf(command: string, args: string[], env: NodeJS.ProcessEnv): number {
  return spawnSync(command, args, { cwd: ROOT, env, stdio: "inherit" }).status ?? 1
}

function isOnPath(command: string): boolean {
  return path.some((folder) => existsSync(join(folder, command)))
}

function say(words: string): void {
  console.log(`\n== ${words}`)
}
