// All that must hold before a change goes in: style, types, and every test, with the real agents the journeys drive.
// Arguments go to vitest: `npm test -- test/contracts`.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, totalmem } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Run, runTwice } from "./again.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const BIN = join(ROOT, "node_modules", ".bin")
const AGENTS = join(ROOT, "test", "agents")
const SYSTEM_CA = "/etc/ssl/certs/ca-certificates.crt"
const ENOUGH_BYTES = 8e9
const SYSTEM_PACKAGES = ["chromium", "curl", "fish", "git", "tmux", "zsh"]

const path = (process.env.PATH ?? "").split(delimiter)
const ownEnv = { ...process.env, PATH: [BIN, ...path].join(delimiter) }
/** Without the project's Node, which would run npm and does not know the system's certificates. */
const systemEnv = {
  ...process.env,
  PATH: path.filter((folder) => !/node_modules[/\\]\.bin$/.test(folder)).join(delimiter),
  ...(process.env.NODE_EXTRA_CA_CERTS === undefined && existsSync(SYSTEM_CA) ? { NODE_EXTRA_CA_CERTS: SYSTEM_CA } : {}),
}

step("style", join(BIN, "biome"), ["check", "."])
step("types", join(BIN, "tsc"), ["-p", "tsconfig.json"])
ensureSystemPackages()
ensureAgents()
say("tests")
const { status, unsteady } = runTwice(vitestInMemory(), process.argv.slice(2), ROOT)
for (const { file, tests } of unsteady)
  say(`${file} failed among the others and passed alone; look into it: ${tests.join("; ") || "the file itself"}`)
if (status !== 0) {
  say("tests failed")
  process.exit(status)
}

function step(title: string, command: string, args: string[], cwd = ROOT, env: NodeJS.ProcessEnv = ownEnv): void {
  say(title)
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: "inherit" })
  if (status === 0) return
  say(`${title} failed${error ? `: ${error.message}` : ""}`)
  process.exit(status ?? 1)
}

function ensureSystemPackages(): void {
  const missing = SYSTEM_PACKAGES.filter((name) => !isOnPath(name))
  if (missing.length === 0) return
  if (process.getuid?.() === 0 && isOnPath("apt-get")) {
    step("refreshing the list of Debian packages", "apt-get", ["update", "-q"])
    step(`installing ${missing.join(", ")}`, "apt-get", ["install", "-qy", "--no-install-recommends", ...missing])
  } else say(`${missing.join(" and ")} missing: the tests that need it will fail until you install it`)
}

/** Installed anew only when the lock has changed: they are 1.6 GB. */
function ensureAgents(): void {
  const stamp = join(AGENTS, "node_modules", ".installed-lock")
  const lock = createHash("sha256")
    .update(readFileSync(join(AGENTS, "package-lock.json")))
    .digest("hex")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return
  step(
    "installing the agents into test/agents (1.6 GB, once)",
    "npm",
    ["ci", "--no-audit", "--no-fund", "--loglevel=error"],
    AGENTS,
    systemEnv,
  )
  writeFileSync(stamp, lock)
}

/**
 * With temporary files in memory, where root can have that: no commit waits for a disk there, and a killed process has
 * lost nothing that it would have kept on one. The mount is seen by this step only, and gone with it.
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
