import { execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { ask, BIN, makeHome, spawnCli, type TestHome } from "../fixtures/daemon.ts"
import { receivedHooks, runHook, spooled } from "../fixtures/hooks.ts"

/** hook.sh allows itself 0.3 s; the machine is busy with other tests. */
const MOMENT_MS = 20_000
const SOON = { timeout: 60_000 }

let home: TestHome
beforeEach(async () => {
  home = makeHome()
  await home.json("setup", "claude-code", "--yes")
})
afterEach(() => home.dispose())

const event = (number: number, more: object = {}) => ({
  hook_event_name: "PostToolUse",
  session_id: "s1",
  cwd: home.env.HOME,
  tool_use_id: String(number),
  ...more,
})
const numbers = () => receivedHooks(home).map((hook) => Number(hook.tool_use_id))
const range = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("while the daemon is down", () => {
  test("200 events wait, one of 3 MB among them, and are there in order and once, though the daemon is killed over them", async () => {
    for (const number of range(200)) {
      const said = await runHook(home, event(number, number === 100 ? { tool_response: "x".repeat(3_000_000) } : {}))
      expect(said).toMatchObject({ code: 0, output: "" })
    }
    expect(spooled(home)).toHaveLength(200)
    for (let kills = 0; kills < 4; kills++) {
      await home.run("start")
      await expect.poll(() => numbers().length, { interval: 1, ...SOON }).toBeGreaterThan(Math.min(kills * 50, 150))
      await home.kill()
    }
    await home.run("start")
    await expect.poll(() => spooled(home), SOON).toEqual([])
    expect(numbers()).toEqual(range(200))
    const { sessions } = await home.json<{ sessions: { nativeId: string; platform: string }[] }>("sessions", "--empty")
    expect(sessions).toMatchObject([{ nativeId: "s1", platform: "claude-code" }])
  })

  test("events of concurrent hooks are all stored", async () => {
    const answers = await Promise.all(range(60).map((number) => runHook(home, event(number))))
    expect(answers.every(({ code, output }) => code === 0 && output === "")).toBe(true)
    await home.run("start")
    await expect.poll(() => numbers().length, SOON).toBe(60)
    expect(new Set(numbers()).size).toBe(60)
  })

  test("doctor reports spooled events", async () => {
    await runHook(home, event(1))
    expect((await home.run("doctor")).stdout).toContain("1 agent event waiting in")
  })

  test("other users cannot read spooled events", async () => {
    await runHook(home, event(1))
    const modes = execFileSync("stat", ["-c", "%a", "spool", `spool/${spooled(home)[0]}`], { cwd: home.dir })
    expect(modes.toString().trim().split("\n")).toEqual(["700", "600"])
  })
})

describe("while the daemon runs", () => {
  beforeEach(() => home.run("start"))

  test("an event is there when the hook has ended, with where the agent runs", async () => {
    const env = { TMUX: "/tmp/tmux-0/default,12,3", TMUX_PANE: "%5", CLAUDE_PROJECT_DIR: "/ü b" }
    expect(await runHook(home, event(1), { env })).toMatchObject({ code: 0, output: "" })
    expect(spooled(home)).toEqual([])
    expect(receivedHooks(home)).toMatchObject([{ env: { ...env, PPID: String(process.pid) }, pid: process.pid }])
    const { sessions } = await home.json<{ sessions: { id: string }[] }>("sessions", "--empty")
    expect((await home.run("sessions", "show", sessions[0]!.id)).stdout).toMatch(/Ran: .* pane %5/)
  })

  test("hooks come in over the socket only, and get an empty answer", async () => {
    const request = { path: "/hook/claude-code", body: JSON.stringify(event(1)) }
    expect(await ask(home, { ...request, socket: true })).toMatchObject({ status: 204, body: "" })
    expect((await ask(home, request)).status).toBe(404)
    expect(numbers()).toEqual([1])
  })

  test("a daemon that hangs costs a moment and no event", async () => {
    await runHook(home, event(0))
    const { pid } = home.registration()
    process.kill(pid, "SIGSTOP")
    try {
      for (const number of [1, 2, 3]) {
        const { code, output, ms } = await runHook(home, event(number))
        expect([code, output]).toEqual([0, ""])
        expect(ms).toBeLessThan(MOMENT_MS)
      }
      expect(spooled(home)).toHaveLength(3)
    } finally {
      process.kill(pid, "SIGCONT")
    }
    await expect.poll(() => spooled(home), SOON).toEqual([])
    await sleep(300)
    expect(numbers()).toEqual([0, 1, 2, 3])
  })

  test("without curl the daemon finds it in the spool", async () => {
    const bin = mkdtempSync(join(home.env.HOME!, "bin-"))
    for (const name of ["sh", "head", "date", "mkdir", "mv", "rm"]) symlinkSync(`/bin/${name}`, join(bin, name))
    expect(await runHook(home, event(1), { env: { PATH: bin } })).toMatchObject({ code: 0, output: "" })
    await expect.poll(numbers, SOON).toEqual([1])
  })

  test("a read-only data directory and a socket with invalid answers do not disturb the agent", async () => {
    await home.run("stop")
    mkdirSync(join(home.dir, "spool"), { recursive: true })
    chmodSync(join(home.dir, "spool"), 0o500)
    expect(await runHook(home, event(1))).toMatchObject({ code: 0, output: "" })
    chmodSync(join(home.dir, "spool"), 0o700)
    writeFileSync(join(home.dir, "daemon.sock"), "")
    expect(await runHook(home, event(2))).toMatchObject({ code: 0, output: "" })
  })

  test("`throughline hook` does the same where there is no sh", async () => {
    const say = (number: number) =>
      new Promise<[number | null, string]>((resolve) => {
        const child = spawnCli(home, ["hook", "claude-code"], { env: { TMUX_PANE: "%ü" } })
        let output = ""
        child.stdout.on("data", (chunk: Buffer) => {
          output += chunk
        })
        child.on("close", (code) => resolve([code, output]))
        child.stdin.end(JSON.stringify(event(number)))
      })
    expect(await say(1)).toEqual([0, ""])
    expect(receivedHooks(home)).toMatchObject([{ tool_use_id: "1", pid: process.pid, env: { TMUX_PANE: "%ü" } }])
    await home.run("stop")
    expect(await say(2)).toEqual([0, ""])
    expect(spooled(home)).toHaveLength(1)
    await home.run("start")
    await expect.poll(numbers, SOON).toEqual([1, 2])
  })
})

describe("a payload without an end", () => {
  beforeEach(() => home.run("start"))

  // The limit keeps a hook that does read it all from taking the machine's memory.
  const endless = (command: string) =>
    new Promise<{ code: number | null; output: string }>((resolve) => {
      const script = `yes '{"hook_event_name":"Stop"}' | (ulimit -v ${MOST_KB}; exec ${command})`
      const child = spawn("sh", ["-c", script], { env: home.env, cwd: home.env.HOME! })
      const output: Buffer[] = []
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output.push(chunk))
      child.on("close", (code) => resolve({ code, output: Buffer.concat(output).toString("utf8") }))
    })
  const MOST_KB = 4_000_000

  test.each([
    ["hook.sh", () => `'${join(home.dir, "hook.sh")}' claude-code`],
    ["`throughline hook`", () => `'${process.execPath}' --max-old-space-size=200 '${BIN}' hook claude-code`],
  ])(
    "is read by %s to a limit, disturbs nobody, and is marked as cut",
    async (_, command) => {
      expect(await endless(command())).toEqual({ code: 0, output: "" })
      await expect.poll(() => receivedHooks(home), SOON).toMatchObject([{ platform: "claude-code", cut: "true" }])
      await runHook(home, event(2))
      await expect.poll(() => numbers().at(-1), SOON).toBe(2)
      expect(readFileSync(join(home.dir, "logs/throughline.log"), "utf8")).toContain("payload was cut")
    },
    240_000,
  )
})

describe("the commands", () => {
  let other: TestHome
  beforeAll(() => {
    other = makeHome()
  })
  afterAll(() => other.dispose())
  const settings = () => readFileSync(join(other.env.HOME!, ".cursor", "hooks.json"), "utf8")

  test("show the changes and ask before making them", async () => {
    const shown = await other.json<{ applied: boolean; changes: { diff: string }[] }[]>("setup", "cursor")
    expect(shown).toMatchObject([{ platform: "cursor", applied: false }])
    expect(shown[0]!.changes[0]!.diff).toContain("hook.sh cursor")
    expect(settings).toThrow("ENOENT")
    const refused = await other.run("setup", "cursor")
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Add --yes")])
    // A summary first: line by line it can be hundreds of lines.
    expect(refused.stdout).toMatch(/create .*hooks\.json: .*\(\+\d+ −0 lines\)/)
    expect(refused.stdout).toContain("line by line: throughline setup cursor --diff")
    expect(refused.stdout).not.toContain("hook.sh cursor")
    expect((await other.run("setup", "cursor", "--diff")).stdout).toContain("hook.sh cursor")
    expect(settings).toThrow("ENOENT")
  })

  test("set up, say so, change nothing the second time, and take it back", async () => {
    expect((await other.run("setup", "cursor", "--yes")).stdout).toContain("Cursor is set up")
    expect(settings()).toContain("hook.sh cursor")
    expect((await other.run("setup", "cursor", "--yes")).stdout).toBe("Nothing to change.\n")
    expect((await other.run("setup")).stdout).toMatch(/cursor +Cursor +yes +ready/)
    expect((await other.run("unsetup", "--all", "--yes")).stdout).toContain("2 files restored")
    expect(settings).toThrow("ENOENT")
  })

  test("name a malformed file by line and column, and leave it", async () => {
    const path = join(other.env.HOME!, ".cursor", "mcp.json")
    writeFileSync(path, '{\n  "mcpServers": {,}\n}\n')
    const { code, stderr } = await other.run("setup", "cursor", "--yes")
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${path}:2:18: `)])
    expect(readFileSync(path, "utf8")).toBe('{\n  "mcpServers": {,}\n}\n')
    expect(settings).toThrow("ENOENT")
  })
})
