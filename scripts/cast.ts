// Records a newcomer's first minutes as a real terminal shows them: installs the package from its tarball into a
// throw-away home, types what docs/first-minutes.md says, and writes docs/first-minutes.cast (asciicast 2) and .svg.
import { execFileSync } from "node:child_process"
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { screenSvg } from "./screen-svg.ts"

const PROJECT = fileURLToPath(new URL("..", import.meta.url))
const [COLUMNS, ROWS] = [112, 32]
const KEY_MS = 35
const READ_MS = 2_500
/** Nobody wants to watch an install. */
const LONGEST_PAUSE_S = 2
const PATIENCE_MS = 120_000
const SYSTEM_CA = "/etc/ssl/certs/ca-certificates.crt"
const PROMPT = "$"

const dir = mkdtempSync(join(tmpdir(), "tl-cast-"))
const place = (name: string) => join(dir, name)
for (const name of ["home", "tmp", "bin", "prefix"]) mkdirSync(place(name))
symlinkSync(process.execPath, join(place("bin"), "node"))
const outside = (process.env.PATH ?? "").split(":").filter((folder) => !/node_modules\/\.bin$/.test(folder))
const env: Record<string, string> = {
  PATH: [join(place("prefix"), "bin"), place("bin"), ...outside].join(":"),
  HOME: place("home"),
  // The paths that are shown are short, and of no machine.
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
  TERM: "xterm-256color",
  PS1: `${PROMPT} `,
  PAGER: "cat",
  npm_config_prefix: place("prefix"),
  npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? dir, ".npm"),
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(process.env.HOME ?? dir, ".npmrc"),
  npm_config_loglevel: "error",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
  ...(existsSync(SYSTEM_CA) ? { NODE_EXTRA_CA_CERTS: SYSTEM_CA } : {}),
}
execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", place("home")], { cwd: PROJECT, env })
const tarball = readdirSync(place("home")).find((name) => name.endsWith(".tgz"))!

const tmux = (...args: string[]) => execFileSync("tmux", ["-S", place("tmux"), ...args], { env, encoding: "utf8" })
const screen = (...flags: string[]) =>
  tmux("capture-pane", "-p", ...flags)
    .trimEnd()
    .split("\n")
const events: [seconds: number, kind: "o", text: string][] = []
const kept: string[] = []

try {
  await record()
  writeCast()
  const label = "Throughline's demo: a search over five agents' sessions, an agent that waits for a person, an answer"
  writeFileSync(join(PROJECT, "docs/first-minutes.svg"), screenSvg(kept, { label, columns: COLUMNS }))
} finally {
  try {
    execFileSync("throughline", ["stop", "--demo", "--force"], { env })
  } catch {
    // It was stopped already, or never started.
  }
  tmux("kill-server")
  rmSync(dir, { recursive: true, force: true })
}

async function record(): Promise<void> {
  const shell = ["sh", "-c", "cd; exec bash --norc --noprofile"]
  tmux("-f", "/dev/null", "new-session", "-d", "-x", String(COLUMNS), "-y", String(ROWS), ...shell)
  await settled()
  execFileSync("mkfifo", [place("output")])
  tmux("pipe-pane", "-O", `cat > ${place("output")}`)
  const startMs = Date.now()
  const output = createReadStream(place("output"), "utf8")
  output.on("data", (text) => events.push([(Date.now() - startMs) / 1000, "o", String(text)]))
  await type(`npm install --global ./${tarball}`)
  await type("throughline start --demo")
  await type('throughline search "why did we drop redis" --limit 3 --demo', { isKept: true })
  await type("throughline resume checkout timeout --demo")
  await type("throughline sessions live --demo")
  await type("throughline permissions --demo", { isKept: true })
  const id = /^(q-[0-9a-f]+)/m.exec(screen().join("\n"))?.[1] ?? "q-"
  await type(`throughline permissions answer ${id.slice(0, 6)} allow --demo`, { isKept: true })
  await type('throughline ask payments "where does a refund of a gift card go?" --demo', { isKept: true })
  await type("throughline stop --demo")
  output.destroy()
}

/** A person types, Enter, the command ends, the person reads. */
async function type(line: string, { isKept = false } = {}): Promise<void> {
  tmux("send-keys", "-l", "clear")
  tmux("send-keys", "Enter")
  await settled()
  for (const letter of line) {
    tmux("send-keys", "-l", letter === ";" ? "\\;" : letter)
    await sleep(KEY_MS)
  }
  tmux("send-keys", "Enter")
  await sleep(300)
  await settled()
  if (isKept) kept.push(...screen("-e").slice(0, -1), "")
  await sleep(READ_MS)
}

/** The shell is in front again. */
async function settled(): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await sleep(50))
    if (screen().at(-1) === PROMPT) return
  throw new Error(`it did not end:\n${screen().join("\n")}`)
}

function writeCast(): void {
  const header = {
    version: 2,
    width: COLUMNS,
    height: ROWS,
    title: "Throughline: the first minutes",
    env: { TERM: env.TERM },
  }
  let [beforeS, atS] = [0, 0]
  const lines = events.map(([seconds, kind, text]) => {
    atS += Math.min(seconds - beforeS, LONGEST_PAUSE_S)
    beforeS = seconds
    return JSON.stringify([Math.round(atS * 1000) / 1000, kind, text])
  })
  writeFileSync(join(PROJECT, "docs/first-minutes.cast"), `${[JSON.stringify(header), ...lines].join("\n")}\n`)
}
