import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { tmuxPanes } from "../../adapters/tmux/tmux.ts"
import { consoles } from "../../agents/list.ts"
import { processStart } from "../../daemon/process/process-identity.ts"
import { newSessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeRoster, type TeamSetting } from "../../teams/roster.ts"
import { makeSupervisor, type Supervisor } from "./supervisor.ts"

const SOON = { timeout: 60_000, interval: 50 }
let dir: string
let store: Store
let settings: Record<string, TeamSetting>
let aheadMs: number
/** A clock that moves only when it is told to. */
let frozenMs: number | undefined
/** How often the clock was looked at, which is done in each round. */
let looks: number
let troubles: string[]
let stopping: AbortController
let running: Promise<void>[]
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "keep-")))
  mkdirSync(join(dir, "web"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  writeFileSync(join(dir, "agent"), AGENT.replaceAll("DIR", dir))
  chmodSync(join(dir, "agent"), 0o755)
  settings = { web: team() }
  aheadMs = 0
  frozenMs = undefined
  looks = 0
  troubles = []
  stopping = new AbortController()
  running = []
})
afterEach(async () => {
  stopping.abort()
  await Promise.all(running)
  try {
    tmux("kill-server")
  } catch {
    // None was started.
  }
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Does what stands in the file `mode`, and writes down how it was started. */
const AGENT = `#!/bin/sh
echo "$PWD|$*" >> DIR/started
case "$(cat DIR/mode 2>/dev/null)" in
  die) exit 1 ;;
  die-resumed) case "$*" in *--resume*) exit 1 ;; esac ;;
  ask) printf 'Do you trust this folder?\\n> No, exit\\n\\nEnter to confirm\\n' ;;
esac
[ "$(cat DIR/mode 2>/dev/null)" = ask ] || printf '────────────\\n❯ \\n────────────\\033[1A\\033[9D'
exec sleep 600
`
const team = (more: Partial<TeamSetting> = {}): TeamSetting => ({
  project: join(dir, "web"),
  description: "",
  platform: "claude-code",
  program: join(dir, "agent"),
  skipPermissions: false,
  permissionMode: "plan",
  whenAway: "keep",
  taskStateFile: false,
  ...more,
})
const mode = (word: string) => writeFileSync(join(dir, "mode"), word)
const starts = () =>
  existsSync(join(dir, "started")) ? readFileSync(join(dir, "started"), "utf8").trim().split("\n") : []
const tmux = (...args: string[]) =>
  execFileSync("tmux", ["-S", join(dir, "tmux.sock"), ...args], { encoding: "utf8", stdio: "pipe" })
const agentPid = () => Number(tmux("list-panes", "-a", "-F", "#{pane_pid}").trim().split("\n")[0])

/** As one daemon has it; another one is the next daemon. */
function supervisor(known = consoles): Supervisor {
  const made = makeSupervisor({
    store,
    clock: {
      nowMs() {
        looks++
        return (frozenMs ?? Date.now()) + aheadMs
      },
    },
    roster: makeRoster({ read: () => settings }),
    panes: tmuxPanes({ env: { PATH: "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin", LANG: "C.UTF-8" } }),
    consoles: known,
    machine: { os: "linux", homeDir: dir, env: {} },
    host: "here",
    socket: join(dir, "tmux.sock"),
    isRunning: (pid, start) => processStart(pid) !== undefined && (start === null || processStart(pid) === start),
    onTrouble: (error, what) => troubles.push(`${what}: ${(error as Error).message}`),
    tickMs: 20,
    settleMs: 5_000,
  })
  return made
}
const tended = () => {
  const made = supervisor()
  running.push(made.run(stopping.signal))
  return made
}
const stateOf = async (made: Supervisor, name = "web") => (await made.states()).find(({ team }) => team === name)!

/** A session that was the team's current one, with something said in it. */
async function lastSession(
  nativeId: string,
  place: { pid?: number; start?: string | null; goneAtMs?: number | null } = {},
) {
  const { session } = await store.sessions.create({
    id: newSessionId(),
    platform: "claude-code",
    nativeId,
    projectId: null,
    title: "t",
    tags: [],
    key: null,
    createdAtMs: 1,
  })
  await store.sessions.grow(session.id, { turns: 2, prompts: 1, lastAtMs: 2 })
  await store.presence.put({
    team: "web",
    host: "here",
    sessionId: session.id,
    nativeId,
    pid: place.pid ?? 0,
    processStart: place.start ?? null,
    sinceMs: 1,
    goneAtMs: place.goneAtMs === undefined ? 2 : place.goneAtMs,
    cause: "killed",
    isTold: true,
    isSupervised: false,
  })
}

describe("up", () => {
  test("starts the team's agent in its project, in the configured mode, and says how to attach", async () => {
    const made = supervisor()
    const answer = await made.up("web")
    expect(answer).toMatchObject({ how: "started", attach: `tmux -S ${dir}/tmux.sock attach -t throughline-web` })
    expect(starts()).toEqual([`${join(dir, "web")}|--allowedTools mcp__throughline --permission-mode plan`])
    expect(await made.up("web")).toMatchObject({ how: "running" })
    expect(starts()).toHaveLength(1)
    expect(await stateOf(made)).toMatchObject({ isSupervised: true, state: "up" })
  })

  test("reports the agent's question, and answers nothing", async () => {
    mode("ask")
    const made = tended()
    expect((await made.up("web")).asks).toBe("Do you trust this folder?")
    expect(await stateOf(made)).toMatchObject({ state: "up", note: "asks: Do you trust this folder?" })
    expect(tmux("capture-pane", "-p", "-t", "throughline-web")).toContain("Enter to confirm")
  })

  test("resumes the last session, and starts a new one if the agent cannot", async () => {
    await lastSession("11111111-1111-4111-8111-111111111111")
    mode("die-resumed")
    const made = tended()
    await made.up("web").catch(() => {})
    await vi.waitFor(() => expect(starts()).toHaveLength(2), SOON)
    expect(starts()[0]).toContain("--resume 11111111-1111-4111-8111-111111111111")
    expect(starts()[1]).not.toContain("--resume")
  })

  test("starts nothing beside a session that runs in another terminal", async () => {
    await lastSession("s", { pid: process.pid, start: processStart(process.pid)!, goneAtMs: null })
    const made = tended()
    expect(await made.up("web")).toEqual({ how: "elsewhere" })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(starts()).toEqual([])
    expect(await stateOf(made)).toMatchObject({ isSupervised: true, state: "up" })
  })

  test.each<[string, () => void, string, RegExp]>([
    ["a team that is not there", () => {}, "nobody", /no team "nobody" \(known: web\)/],
    [
      "an agent without a terminal",
      () => Object.assign(settings, { web: team({ platform: "cursor" }) }),
      "web",
      /cursor/,
    ],
    [
      "instructions that are not there",
      () => Object.assign(settings, { web: team({ claude_md: "/nowhere.md" }) }),
      "web",
      /teams\.web\.claude_md = "\/nowhere\.md"/,
    ],
  ])("refuses %s", async (_, prepare, name, message) => {
    prepare()
    await expect(supervisor().up(name)).rejects.toThrow(message)
    expect(await store.presence.list()).toEqual([])
  })
})

describe("one that is kept", () => {
  test("is started again when it dies, by the next daemon too", async () => {
    const made = tended()
    await made.up("web")
    process.kill(agentPid(), "SIGKILL")
    await vi.waitFor(() => expect(starts()).toHaveLength(2), SOON)
    stopping.abort()
    await Promise.all(running)
    await vi.waitFor(() => expect(agentPid()).toBeGreaterThan(0), SOON)
    process.kill(agentPid(), "SIGKILL")
    stopping = new AbortController()
    tended()
    await vi.waitFor(() => expect(starts()).toHaveLength(3), SOON)
  })

  test("and is there when a daemon starts is left alone", async () => {
    await supervisor().up("web")
    tended()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(starts()).toHaveLength(1)
  })

  test("that dies at once is retried for a while, then given up with a report", async () => {
    mode("die")
    frozenMs = 1_700_000_000_000
    const made = tended()
    await made.up("web").catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(starts(), "not before its time").toHaveLength(1)
    for (let state = ""; state !== "given up"; { state } = await stateOf(made)) {
      // A death that is found out late would have been a life: time goes on once it was looked for again.
      const from = looks
      await vi.waitFor(() => expect(looks).toBeGreaterThan(from + 4), SOON)
      // In steps that are shorter than a life that counts as lived.
      if (state === "starting again") aheadMs += 9_000
    }
    expect(starts()).toHaveLength(10)
    expect((await stateOf(made)).note).toMatch(/it ended 10 times within 10 seconds/)
    expect(troubles.at(-1)).toMatch(/^web is given up/)
    aheadMs += 3_600_000
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(starts()).toHaveLength(10)
    mode("live")
    expect(await made.up("web")).toMatchObject({ how: "started" })
  }, 240_000)

  test("is ended by down, and not started again", async () => {
    const made = tended()
    await made.up("web")
    expect(await made.down("web")).toEqual({ wasSupervised: true, wasRunning: true })
    aheadMs += 120_000
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(starts()).toHaveLength(1)
    expect(await stateOf(made)).toMatchObject({ isSupervised: false, state: "down" })
    expect(await made.down("web")).toEqual({ wasSupervised: false, wasRunning: false })
  })

  test.each([
    ["is reached no more once a process of many sessions has closed it", undefined, 0],
    ["is reached still while that process keeps it open", "another terminal has it open", 1],
  ])("ended by down, %s", async (_, why, left) => {
    const shared = consoles.map((one) => ({ ...one, closeSession: async () => why }))
    const made = supervisor(shared)
    await made.up("web")
    await lastSession("one")
    const session = (await store.sessions.byNative("claude-code", "one"))!
    const here = { host: "here", pid: process.pid, processStart: processStart(process.pid)!, pane: null, seenAtMs: 1 }
    await store.routes.put({ sessionId: session.id, ...here })
    await made.down("web")
    expect(await store.routes.ofSession(session.id)).toHaveLength(left)
  })

  test("stays as it is when a person opens a pane beside it", async () => {
    const made = tended()
    await made.up("web")
    tmux("split-window", "-t", "throughline-web", "-d")
    expect(await stateOf(made)).toMatchObject({ state: "up" })
    expect(starts()).toHaveLength(1)
  })

  test("of a team that was taken out of the configuration is named", async () => {
    const made = supervisor()
    await made.up("web")
    settings = {}
    expect(await stateOf(supervisor())).toMatchObject({
      isSupervised: true,
      note: expect.stringContaining("no longer in"),
    })
  })
})

describe("something waits for a team", () => {
  test("that may be started: a session is started once, and not kept", async () => {
    settings = { web: team({ whenAway: "start" }) }
    await lastSession("s")
    const made = tended()
    expect(await made.wake("web")).toBe(true)
    expect(await made.wake("web")).toBe(false)
    await vi.waitFor(
      () => expect(starts()).toEqual([`${join(dir, "web")}|--allowedTools mcp__throughline --permission-mode plan`]),
      SOON,
    )
    expect(await stateOf(made)).toMatchObject({ isSupervised: false, state: "up" })
  })

  test("that may be resumed: its last session goes on", async () => {
    settings = { web: team({ whenAway: "resume" }) }
    await lastSession("s-1")
    expect(await supervisor().wake("web")).toBe(true)
    await vi.waitFor(() => expect(starts()[0]).toMatch(/--resume s-1$/), SOON)
  })

  test("that keeps it: nothing is started", async () => {
    expect(await supervisor().wake("web")).toBe(false)
    expect(starts()).toEqual([])
  })

  test("and idles afterwards: it is ended after the time that is set", async () => {
    settings = { web: team({ whenAway: "start", idleTimeout: 5_000 }) }
    const made = tended()
    await made.wake("web")
    const pid = agentPid()
    mkdirSync(join(dir, ".claude", "sessions"), { recursive: true })
    const entry = { pid, sessionId: "s", status: "busy", statusUpdatedAt: Date.now() - 60_000 }
    writeFileSync(join(dir, ".claude", "sessions", `${pid}.json`), JSON.stringify(entry))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(processStart(pid), "busy").toBeDefined()
    writeFileSync(join(dir, ".claude", "sessions", `${pid}.json`), JSON.stringify({ ...entry, status: "idle" }))
    await vi.waitFor(() => expect(processStart(pid)).toBeUndefined(), SOON)
  })
})
