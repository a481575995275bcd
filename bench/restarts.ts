// Everything that happens to an agent's terminal, again and again, while somebody polls for updates: exactly one notice for
// each real restart, none for anything else, and how long each takes. `fake` (the default) or `claude`, and how many rounds.
import { execFile } from "node:child_process"
import { mkdirSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { tmuxPanes } from "../src/adapters/tmux/tmux.ts"
import { claudeCode } from "../src/agents/claude-code/console.ts"
import { parentOf, processStart } from "../src/daemon/process/process-identity.ts"
import type { Team } from "../src/domain/team.ts"
import { makeWatching } from "../src/live/module.ts"
import { sqlite } from "../src/store/dialects/sqlite.ts"
import { openStore } from "../src/store/open.ts"
import { agents, claudeEnv } from "../test/fixtures/agents.ts"
import { makeHome } from "../test/fixtures/daemon.ts"
import { makeFakeAgents } from "../test/fixtures/fake-agents.ts"
import { anthropicMessages, startModelApi } from "../test/fixtures/model-api.ts"
import { type Living, makeRestartStage, subagentScript } from "../test/fixtures/restart-stage.ts"
import { type Row, report, round, summarize } from "./lib.ts"

const isReal = process.argv[2] === "claude"
const ROUNDS = Number(process.argv[3] ?? (isReal ? 2 : 4))
const POLLS = 1_000
const LOOKS = 1_000
/** Longer than we wait for a replacement session. */
const QUIET_MS = 9_000

const home = makeHome()
const cwd = join(home.env.HOME!, "api")
mkdirSync(cwd, { recursive: true })
const model = await startModelApi(anthropicMessages)
const fakes = isReal ? undefined : makeFakeAgents(home)
const env = isReal ? claudeEnv(home, model.url, cwd) : { ...home.env, LANG: "C.UTF-8", TERM: "xterm-256color" }
const program = isReal ? agents.claude("claude-new") : fakes!.program
const stage = await makeRestartStage(home, {
  argv: [program, "--permission-mode", "default"],
  env,
  cwd,
  pollMs: 50,
})

const afterHook: Record<string, number[]> = {}
const afterDeath: number[] = []
const problems: string[] = []
let expected = 0
let harmless = 0
let living: Living

const asking = subagentScript()
model.script(asking.script)

try {
  living = await stage.start()
  await talk()
  for (let at = 0; at < ROUNDS; at++) {
    await nothing("compaction", async () => {
      const done = stage.next(({ event, start }) => event === "SessionStart" && start === "compact")
      await stage.say(living, "/compact")
      await done
      await sleep(1_000)
    })
    await nothing("a sub-agent", () => talk("ASK-A-SUBAGENT\nTOOL 50"))
    await nothing("killed, and resumed at once", async () => {
      await stage.kill(living)
      living = await stage.start(["--resume", living.sessionId])
      await talk()
    })
    await nothing("a second session beside it", async () => {
      const other = await stage.start([], `beside${at}`)
      stage.tmux(`beside${at}`, "kill-server")
      await sleep(500)
      if (processStart(other.pid) !== undefined) await sleep(1_500)
    })
    await nothing("a fork beside it", async () => {
      await stage.start(["--resume", living.sessionId, "--fork-session"], `fork${at}`)
      stage.tmux(`fork${at}`, "kill-server")
      await sleep(500)
    })
    if (isReal)
      await nothing("print mode beside it", async () => {
        await new Promise((resolve) => {
          execFile(program, ["-p", "Say four."], { env, cwd, timeout: 20_000 }, resolve).stdin?.end()
        })
      })
    await nothing("the daemon killed", async () => {
      await home.kill()
      await home.run("start")
    })
    await switches("/branch", "branch")
    await switches("/clear", "clear")
    await talk()
    await replaces("kill -9, new", () => stage.kill(living))
    await talk()
    await replaces("kill -9, fork", () => stage.kill(living), ["--resume", living.sessionId, "--fork-session"])
    await replaces("exit, new", async () => {
      const ended = stage.next(({ event }) => event === "SessionEnd")
      await stage.say(living, "exit")
      await ended
    })
    await talk()
    await replaces("tmux server killed", async () => {
      const ended = stage.next(({ event }) => event === "SessionEnd")
      stage.tmux("a", "kill-server")
      await ended
    })
    await talk()
    const diedAtMs = await stage.kill(living)
    const told = await one("kill -9, nobody", { old: living.sessionId, next: null })
    if (told) afterDeath.push(told.visibleAtMs - diedAtMs)
    living = await stage.start()
    await talk()
  }
  await sleep(QUIET_MS)
  while (stage.polls() < POLLS) await talk()
  const looks = await lookAround()

  const told = stage.restarts().length
  const hooks = Object.entries(afterHook)
  const rows: Row[] = [
    ...hooks.map(([what, values]): Row => {
      const { p50, max } = summarize(values)
      return {
        what: `${what}: after its first hook, ms (p50, max of ${values.length})`,
        value: `${round(p50, 0)}, ${round(max, 0)}`,
        bar: "≤ 5,000",
        holds: max <= 5_000,
      }
    }),
    {
      what: `kill -9, nobody: after death, ms (all of ${afterDeath.length})`,
      value: afterDeath.map((ms) => round(ms, 0)).join(", "),
      bar: "≤ 15,000",
      holds: afterDeath.length === ROUNDS && afterDeath.every((ms) => ms <= 15_000),
    },
    { what: "real restarts, and notices", value: `${expected}, ${told}`, bar: "as many", holds: told === expected },
    { what: "things that are no restart", value: harmless },
    { what: "sub-agents that ran", value: isReal ? asking.count() : "-" },
    { what: "false notices", value: problems.length, bar: "0", holds: problems.length === 0 },
    { what: "polls of pull_updates meanwhile", value: stage.polls(), bar: "≥ 1,000", holds: stage.polls() >= POLLS },
    { what: `notices in ${LOOKS} looks at a live session`, value: looks, bar: "0", holds: looks === 0 },
  ]
  report(`restarts-${isReal ? "claude" : "fake"}`, rows, { problems, afterHook, afterDeath })
} finally {
  await stage.end()
  fakes?.end()
  await home.dispose()
  await model.close()
}

async function talk(words = "Say that it is done.") {
  const done = stage.next(({ event, session }) => event === "Stop" && session === living.sessionId)
  await stage.say(living, words)
  await done
  // The terminal is ready for the next line a moment later.
  await sleep(300)
}

async function nothing(what: string, happens: () => Promise<unknown>) {
  const before = stage.restarts().length
  await happens()
  harmless++
  const after = stage.restarts().slice(before)
  if (after.length > 0) problems.push(`${what}: ${JSON.stringify(after)}`)
}

async function one(what: string, { old, next }: { old: string; next: string | null }) {
  expected++
  const told = await stage.restarted()
  if (told.old_session_id === old && told.new_session_id === next) return told
  problems.push(`${what}: ${JSON.stringify(told)} instead of ${old} → ${next}`)
  return undefined
}

async function switches(command: string, what: string) {
  const begun = stage.next(({ event, start }) => event === "SessionStart" && start !== "compact")
  await stage.say(living, command)
  const { session, atMs } = await begun
  const told = await one(what, { old: living.sessionId, next: session! })
  if (told) note(what, told.visibleAtMs - atMs)
  living = { ...living, sessionId: session! }
  await sleep(500)
}

function note(what: string, ms: number) {
  afterHook[what] = [...(afterHook[what] ?? []), ms]
}

async function replaces(what: string, ends: () => Promise<unknown>, args: string[] = []) {
  const old = living.sessionId
  await ends()
  living = await stage.start(args)
  const told = await one(what, { old, next: living.sessionId })
  if (told) note(what, told.visibleAtMs - living.hookAtMs)
}

/** The same look that the daemon takes every two seconds, as fast as it goes, on a store of its own. */
async function lookAround(): Promise<number> {
  const store = await openStore(sqlite({ path: join(home.env.HOME!, "looks.db") }))
  const project = await store.projects.ensure(`file://${cwd}`, Date.now())
  await store.sessions.create({
    ...{ id: "s" as never, platform: "claude-code", nativeId: living.sessionId, projectId: project.id },
    ...{ title: "t", tags: [], key: null, createdAtMs: Date.now() },
  })
  const team: Team = {
    ...{
      name: "api",
      projectDir: cwd,
      description: "",
      platform: "claude-code",
      program: null,
      skipPermissions: false,
    },
    ...{ permissionMode: "default", whenAway: "keep", instructionsFile: null, settingsFile: null, sessionFile: null },
    ...{ taskStateFile: false, color: null, chat: null, idleTimeoutMs: null },
  }
  const at = (dir: string) => (dir === cwd ? [team] : [])
  const roster = { list: () => [team], byName: () => team, at, onChange: () => () => {} }
  const { watch } = makeWatching({
    ...{ store, clock: { nowMs: () => Date.now() }, roster, consoles: [claudeCode], host: hostname() },
    ...{
      machine: { os: "linux", homeDir: home.env.HOME!, env: {} },
      panes: tmuxPanes({ env }),
      processStart,
      parentOf,
      meet: async () => {},
      paneOf: async () => undefined,
      taskFile: () => undefined,
    },
    onTrouble: (error) => problems.push(String(error)),
  })
  await watch.look()
  const before = await store.updates.last("api")
  for (let at = 0; at < LOOKS; at++) await watch.look()
  const after = await store.updates.after("api", { afterSeq: before, limit: 99 })
  if (before === 0) problems.push("the looks did not see the session")
  await store.close()
  return after.length
}
