import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { processStart } from "../../src/daemon/process/process-identity.ts"
import { ask, BIN, homeIn, makeHome, spawnCli, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"
import { startPostgres } from "../fixtures/postgres.ts"
import { proves } from "../promises.ts"

const VERSION = (JSON.parse(readFileSync(join(dirname(BIN), "../package.json"), "utf8")) as { version: string }).version

interface Loaded {
  session?: { id: string; title: string; thoughtCount: number }
  thoughts?: { thought: string }[]
}

/** A home that ends with the test it was made in. */
function home(settings: Record<string, string> = {}): TestHome {
  const made = makeHome(settings)
  onTestFinished(() => made.dispose())
  return made
}
async function agentOf(at: TestHome, options: Parameters<typeof connect>[1] = {}): Promise<McpClient> {
  const agent = await connect(at, options)
  onTestFinished(() => agent.close())
  return agent
}
const thought = (text: string) => ({ thought: text, nextThoughtNeeded: true })
const logged = (at: TestHome) =>
  readFileSync(join(at.dir, "logs/throughline.log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { msg: string; level: number; pid: number })
const isAlive = (pid: number) => processStart(pid) !== undefined
async function until(condition: () => boolean, withinMs = 10_000): Promise<void> {
  await expect.poll(condition, { timeout: withinMs, interval: 20 }).toBe(true)
}
async function freePort(): Promise<string> {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, "close")
  return String(port)
}

describe(proves("daemon.one-per-home"), () => {
  test("ten clients that come at once, and again after it is killed, find the same one", async () => {
    const at = home()
    for (const round of [1, 2]) {
      const agents = Promise.all(Array.from({ length: 5 }, () => agentOf(at)))
      const commands = Promise.all(Array.from({ length: 5 }, () => at.json<{ pid: number }>("start")))
      const [{ pid }, ...others] = (await commands) as [{ pid: number }, ...{ pid: number }[]]
      expect(others.filter((other) => other.pid !== pid)).toEqual([])
      for (const agent of await agents) await agent.call("init", { operation: "get_state" })
      expect(at.registration().pid).toBe(pid)
      expect(logged(at).filter((line) => line.msg === "ready")).toHaveLength(round)
      await at.kill()
    }
  })

  test("a registration that names another program's process never harms it", async () => {
    const at = home()
    const stranger = spawn("sleep", ["60"])
    onTestFinished(() => void stranger.kill("SIGKILL"))
    mkdirSync(at.dir)
    const stale = {
      id: "stale",
      version: VERSION,
      pid: stranger.pid,
      processStart: "1",
      socket: join(at.dir, "daemon.sock"),
      startedAt: new Date().toISOString(),
    }
    const path = join(at.dir, "daemon.json")
    for (const command of [["stop"], ["stop", "--force"], ["start"]]) {
      writeFileSync(path, JSON.stringify(stale))
      expect((await at.run(...command)).code, command.join(" ")).toBe(0)
      expect(isAlive(stranger.pid!)).toBe(true)
    }
    expect(at.registration().pid).not.toBe(stranger.pid)
  })

  test("half a registration counts as none", async () => {
    const at = home()
    mkdirSync(at.dir)
    writeFileSync(join(at.dir, "daemon.json"), '{"id": "x", "pid"')
    expect((await at.run("stop")).stdout).toBe("Throughline was not running.\n")
    expect((await at.run("start")).code).toBe(0)
  })

  test("whose data directory was deleted exits, and does no harm to its successor there", async () => {
    const at = home()
    await at.run("start")
    const { pid } = at.registration()
    rmSync(at.dir, { recursive: true, force: true, maxRetries: 5 })
    await at.run("start")
    const next = at.registration()
    expect(next.pid).not.toBe(pid)
    await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false)
    expect(isAlive(next.pid)).toBe(true)
    expect(await at.json<{ pid: number }>("status"), "on its socket").toMatchObject({ pid: next.pid })
  })

  test("whose registration was deleted is found again", async () => {
    const at = home()
    await at.run("start")
    const { pid } = at.registration()
    const file = join(at.dir, "daemon.json")
    rmSync(file)
    // Nothing can be written in its place, for a while.
    mkdirSync(file)
    const isTold = () => logged(at).some(({ msg }) => msg === "the data directory could not be checked")
    await expect.poll(isTold, { timeout: 60_000 }).toBe(true)
    rmSync(file, { recursive: true })
    await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(true)
    expect(at.registration().pid).toBe(pid)
  })
})

describe("another version", () => {
  /** This program under another version's number, in a folder of its own. */
  function installed(at: TestHome, version: string) {
    const root = join(dirname(BIN), "..")
    const copy = join(at.env.HOME!, `v${version}`)
    for (const part of ["bin", "dist"]) cpSync(join(root, part), join(copy, part), { recursive: true })
    const description = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object
    writeFileSync(join(copy, "package.json"), JSON.stringify({ ...description, version }))
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
    const bin = join(copy, "bin/throughline.js")
    const start = async () => {
      const child = spawn(process.execPath, [bin, "start"], { env: at.env, cwd: copy })
      expect((await once(child, "exit"))[0]).toBe(0)
    }
    return { bin, start }
  }

  test("that is older is replaced, under a live agent too", async () => {
    const at = home()
    const older = installed(at, "0.0.1")
    await older.start()
    const before = at.registration()
    expect(before.version).toBe("0.0.1")
    const agent = await agentOf(at, { bin: older.bin })
    await agent.call("init", { operation: "start_new", title: "kept over the change" })
    expect(at.registration().pid).toBe(before.pid)

    const { sessions } = await at.json<{ sessions: { title: string }[] }>("sessions")
    expect(sessions.map((session) => session.title)).toEqual(["kept over the change"])
    expect(at.registration().version).toBe(VERSION)
    expect(isAlive(before.pid)).toBe(false)
    expect(await agent.call("thought", thought("goes on"))).toMatchObject({ thoughtNumber: 1 })
    expect(at.registration().version).toBe(VERSION)
  })

  test("that is newer is used unchanged, and doctor says so", async () => {
    const at = home()
    await installed(at, "99.0.0").start()
    const { pid } = at.registration()
    const agent = await agentOf(at)
    await agent.call("init", { operation: "start_new", title: "by an older client" })
    expect((await at.json<{ sessions: object[] }>("sessions")).sessions).toHaveLength(1)
    expect(at.registration()).toMatchObject({ version: "99.0.0", pid })
    expect((await at.run("doctor")).stdout).toContain(`99.0.0, pid ${pid}`)
  })
})

describe("a daemon that dies", () => {
  test("is not noticed by an agent over stdio, in either era", async () => {
    const at = home()
    for (const era of ["legacy", "modern"] as const) {
      const agent = await agentOf(at, { era })
      const { session } = await agent.call<Loaded>("init", { operation: "start_new" })
      await agent.call("thought", thought("before"))
      await at.kill()
      const kept = await agent.call("thought", thought("after"))
      expect(kept).toMatchObject({ sessionId: session!.id, thoughtNumber: 2, thoughtCount: 2 })
    }
  })

  test("costs a 2026 agent over HTTP nothing once it is back at its port", async () => {
    const at = home({ THROUGHLINE_HTTP_PORT: await freePort() })
    await at.run("start")
    const agent = await agentOf(at, { transport: "http", era: "modern" })
    const { session } = await agent.call<Loaded>("init", { operation: "start_new" })
    await at.kill()
    await at.run("start")
    const kept = await agent.call("thought", { ...thought("after"), sessionId: session!.id })
    expect(kept).toMatchObject({ thoughtNumber: 1 })
  })

  test("answers a 2025 agent's old HTTP session with 404 once it is back; a new one finds everything", async () => {
    const at = home()
    await at.run("start")
    const agent = await agentOf(at, { transport: "http" })
    const { session } = await agent.call<Loaded>("init", { operation: "start_new", mcpRootUri: at.env.HOME })
    await agent.call("thought", thought("before"))
    const id = (agent.client.transport as { sessionId?: string }).sessionId!
    await at.kill()
    await at.run("start")
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "thought", arguments: thought("into the void") },
    }
    const answer = await ask(at, {
      path: "/mcp",
      body: JSON.stringify(call),
      headers: { accept: "application/json, text/event-stream", "mcp-session-id": id },
    })
    expect(answer.status).toBe(404)
    const again = await agentOf(at, { transport: "http" })
    const found = await again.call<Loaded>("init", { operation: "load_context", mcpRootUri: at.env.HOME })
    expect(found.session?.id).toBe(session!.id)
    expect(found.thoughts?.map((kept) => kept.thought)).toEqual(["before"])
  })

  test("by SIGTERM closes its connections to live agents quickly and leaves nothing behind", async () => {
    const at = home()
    await at.run("start")
    const [agent] = [await agentOf(at), await agentOf(at, { transport: "http" })]
    await agent.call("thought", thought("before"))
    const { pid, socket } = at.registration()
    const begun = performance.now()
    process.kill(pid, "SIGTERM")
    await until(() => !isAlive(pid))
    expect(performance.now() - begun).toBeLessThan(20_000)
    expect([join(at.dir, "daemon.json"), socket].filter(existsSync)).toEqual([])
    expect(logged(at).at(-1)?.msg).toBe("stopped")
    expect(logged(at).filter((line) => line.level >= 40)).toEqual([])
    expect(await agent.call("thought", thought("after"))).toMatchObject({ thoughtNumber: 2 })
  })

  test("on request: stop says whether one ran, status that none does", async () => {
    const at = home()
    await at.run("start")
    expect((await at.run("stop")).stdout).toBe("Throughline stopped.\n")
    expect((await at.run("stop")).stdout).toBe("Throughline was not running.\n")
    const status = await at.run("status")
    expect([status.code, status.stderr]).toEqual([5, expect.stringContaining("Throughline isn't running")])
    expect((await at.run("doctor")).stdout).toMatch(/warn +daemon +not running/)
  })
})

test("a daemon that hangs is named by stop and doctor, and ended by stop --force", async () => {
  const at = home()
  await at.run("start")
  const { pid } = at.registration()
  process.kill(pid, "SIGSTOP")
  const stop = await at.run("stop")
  expect([stop.code, stop.stderr]).toEqual([5, expect.stringContaining(`(pid ${pid}) runs but does not answer`)])
  expect(stop.stderr).toContain("throughline stop --force")
  const doctor = await at.run("doctor")
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(new RegExp(`FAIL +daemon +pid ${pid} runs but does not answer`))
  expect(isAlive(pid)).toBe(true)
  expect((await at.run("stop", "--force")).stdout).toBe("Throughline stopped.\n")
  expect(isAlive(pid)).toBe(false)
  expect((await at.run("start")).code).toBe(0)
})

describe(proves("store.damaged-file-kept-aside"), () => {
  const PAGE = 4096
  test.each<[string, (size: number) => { at: number; bytes: Buffer }]>([
    ["whose header is garbage", () => ({ at: 0, bytes: Buffer.from("no database at all".repeat(10)) })],
    [
      "with torn pages in the middle",
      (size) => ({ at: Math.floor(size / 2 / PAGE) * PAGE, bytes: Buffer.alloc(4 * PAGE, 0xff) }),
    ],
  ])("%s is kept aside; a new one works; status, doctor and the log say so", async (_, damage) => {
    const at = home()
    const agent = await agentOf(at)
    for (let number = 1; number <= 40; number++) await agent.call("thought", thought("x".repeat(3000)))
    await at.run("stop")
    const path = join(at.dir, "throughline.db")
    const { at: position, bytes } = damage(statSync(path).size)
    writeSync(openSync(path, "r+"), bytes, 0, bytes.length, position)
    const damaged = readFileSync(path)

    expect((await at.run("start")).code).toBe(0)
    const { notices, store } = await at.json<{ notices: string[]; store: { thoughts: number } }>("status")
    expect(store.thoughts).toBe(0)
    const aside = /was moved to (\S+);/.exec(notices[0] ?? "")![1]!
    expect(readFileSync(aside).equals(damaged)).toBe(true)
    expect(statSync(aside).mode & 0o777).toBe(0o600)
    expect((await at.run("status")).stdout).toContain(aside)
    expect((await at.run("doctor")).stdout).toMatch(/warn +damage +a damaged database was moved to/)
    expect(logged(at).filter((line) => line.level === 50)).toMatchObject([{ msg: expect.stringContaining("damaged") }])
    expect(await agent.call("init", { operation: "start_new" })).toMatchObject({ success: true })
    expect(await agent.call("thought", thought("anew"))).toMatchObject({ thoughtNumber: 1 })

    rmSync(aside)
    expect((await at.run("doctor")).stdout).toMatch(/All good\.|disk/)
  })
})

describe("the log", () => {
  test("is shown formatted for people or raw, its last lines, and followed", async () => {
    const at = home()
    expect((await at.run("logs")).stdout).toBe("No log yet: the daemon has not been started.\n")
    await at.run("start")
    const lines = (await at.run("logs")).stdout.trim().split("\n")
    expect(lines[0]).toMatch(/^\d{4}-\S+ info {2}starting {2}version=/)
    expect(lines.at(-1)).toMatch(/ info {2}ready {2}socket=/)
    expect((await at.run("logs", "-n", "1")).stdout.trim().split("\n")).toEqual([lines.at(-1)])
    const raw = (await at.run("logs", "--json")).stdout.trim().split("\n")
    expect(raw.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(["starting", "ready"])
    const refused = await at.run("logs", "-n", "0")
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("positive whole number")])

    const following = spawnCli(at, ["logs", "-f", "-n", "1"])
    onTestFinished(() => void following.kill("SIGKILL"))
    let seen = ""
    following.stdout.on("data", (text: Buffer) => {
      seen += text.toString()
    })
    await until(() => seen.includes("ready"))
    await at.run("stop")
    await until(() => seen.includes("stopped"))
  })
})

describe("a configuration", () => {
  let at: TestHome
  let file: string
  beforeAll(() => {
    at = makeHome()
    file = join(at.dir, "config.json")
    mkdirSync(at.dir)
  })
  afterAll(() => at.dispose())

  const NOT_A_SETTING = "is not a setting (known: database.url, "
  test.each<[what: string, text: string, said: string]>([
    ["that is no JSON", '{\n  "http": {\n    "port" 4747\n  }\n}', ":3:12: ColonExpected"],
    ["that is no object", "[1]", "must hold an object"],
    ["with an unknown key", '{"http": {"prot": 1}}', `http.prot = 1 (FILE:1:11): ${NOT_A_SETTING}`],
    ["with an unknown section", '{"nonsense": true}', `nonsense = true (FILE:1:2): ${NOT_A_SETTING}`],
    ["with a value of a wrong type", '{"http": {"behindTls": "x"}}', 'http.behindTls = "x" (FILE:1:11): '],
    [
      "with a value out of range",
      '{"sessions": {"archiveAfterDays": -1}}',
      "sessions.archiveAfterDays = -1 (FILE:1:15): ",
    ],
    ["with a value for a whole section", '{"log": 5}', "log = 5 (FILE:1:2): "],
    [
      "with a host that others can reach",
      '{"http": {"host": "banana"}}',
      'http.host = "banana" (FILE:1:11): an address',
    ],
    [
      "with a regular expression that is none",
      '{"capture": {"redactionExtra": ["a=["]}}',
      "(FILE:1:14): capture.redac",
    ],
    [
      "with a wrong secret",
      '{"database": {"url": "mysql://u:hidden@h/d"}}',
      'database.url = "***" (FILE:1:15): must start',
    ],
  ])("file %s is refused by name, and nothing is started", async (_, text, said) => {
    writeFileSync(file, text)
    for (const command of ["config", "start"]) {
      const { code, stderr } = await at.run(command)
      expect([code, stderr]).toEqual([2, expect.stringContaining(said.replace("FILE", file))])
      expect(stderr).not.toContain("hidden")
    }
    expect((await at.run("doctor")).stdout).toMatch(/FAIL +config/)
    expect(existsSync(join(at.dir, "daemon.json"))).toBe(false)
    rmSync(file)
  })

  test("is changed by config set and unset: checked first, comments kept, also where the daemon cannot start", async () => {
    writeFileSync(file, '{\n  // mine\n  "http": { "host": "banana" }\n}\n')
    expect((await at.run("start")).code).toBe(2)
    expect((await at.run("doctor")).stdout).toContain("throughline config unset http.host")
    expect(await at.run("config", "unset", "http.host")).toMatchObject({ code: 0 })
    expect((await at.run("config", "set", "log.level", "debug")).stdout).toContain(`Saved log.level in ${file}`)
    expect(readFileSync(file, "utf8")).toContain("// mine")
    const good = readFileSync(file, "utf8")
    for (const [key, value] of [
      ["http.host", "banana"],
      ["http.port", "70000"],
      ["nonsense", "1"],
    ])
      expect([key, (await at.run("config", "set", key!, value!)).code]).toEqual([key, 2])
    expect(readFileSync(file, "utf8")).toBe(good)
  })

  test("that is broken by hand leaves the running daemon as it was, and is reported with line and column", async () => {
    const running = home()
    const path = join(running.dir, "config.json")
    mkdirSync(running.dir)
    writeFileSync(path, '{ "log": { "level": "debug" } }', { mode: 0o600 })
    await running.run("start")
    const { pid } = running.registration()
    expect(await running.run("config", "set", "log.level", "info")).toMatchObject({ code: 0 })
    // No agent may choose what agents may do.
    const shell = homeIn({ ...running.env, CLAUDECODE: "1" })
    expect(await shell.run("config", "set", "log.level", "warn")).toMatchObject({ code: 4 })
    expect(readFileSync(path, "utf8")).toContain('"info"')
    writeFileSync(path, '{\n  "log": { "level": "loud" }\n}\n')
    const place = `log.level = "loud" (${path}:2:12)`
    const doctor = await running.run("doctor")
    expect(doctor.stdout).toMatch(/FAIL +config/)
    expect(doctor.stdout).toContain(place)
    expect(doctor.stdout).toContain("The running daemon keeps its settings until it is restarted.")
    expect((await running.run("config")).stderr).toContain(place)
    const { findings } = (await ask(running, { path: "/api/doctor", body: "{}", socket: true })).json<{
      findings: { check: string; detail: string }[]
    }>()
    expect(findings.find(({ check }) => check === "config")?.detail).toContain(place)
    expect((await running.run("status")).code).toBe(0)
    expect(running.registration().pid).toBe(pid)
    await running.run("stop")
    expect(await running.run("start")).toMatchObject({ code: 2, stderr: expect.stringContaining(place) })
  })

  test("in the environment or by --set is refused by name, value and source", async () => {
    const wrong = makeHome({ THROUGHLINE_HTTP_ENABLED: "maybe" })
    const unknown = makeHome({ THROUGHLINE_HTTP_PROT: "1" })
    const said = async (from: TestHome, ...args: string[]) => {
      const { code, stderr } = await from.run(...args)
      expect(code).toBe(2)
      return stderr
    }
    expect(await said(wrong, "config")).toContain('http.enabled = "maybe" (environment THROUGHLINE_HTTP_ENABLED): ')
    expect(await said(unknown, "start")).toMatch(/^THROUGHLINE_HTTP_PROT = "1" \(the environment\): is not a setting/)
    expect(await said(at, "start", "--set", "log.level=loud")).toContain('log.level = "loud" (--set): ')
    expect(await said(at, "config", "--set", "log.levle=info")).toContain(
      `log.levle = "info" (--set): ${NOT_A_SETTING}`,
    )
    await Promise.all([wrong.dispose(), unknown.dispose()])
  })

  test("shows the effective values and their sources, but no secret", async () => {
    const url = "postgres://user:hidden@localhost/db"
    const shown = home({ THROUGHLINE_DATABASE_URL: url, THROUGHLINE_HTTP_PORT: "0" })
    mkdirSync(shown.dir)
    // Comments and a trailing comma are allowed.
    writeFileSync(join(shown.dir, "config.json"), '{"http": {"port": 1}, "log": {"level": "debug" /* for now */},}')
    const { settings } = await shown.json<{ settings: { key: string; value: unknown; source: string }[] }>(
      "config",
      "--set",
      "http.behindTls=true",
    )
    expect(settings).toEqual(
      expect.arrayContaining([
        { key: "database.url", value: "***", source: "environment THROUGHLINE_DATABASE_URL" },
        { key: "http.port", value: 0, source: "environment THROUGHLINE_HTTP_PORT" },
        { key: "log.level", value: "debug", source: join(shown.dir, "config.json") },
        { key: "http.behindTls", value: true, source: "--set" },
        { key: "http.host", value: "127.0.0.1", source: "default" },
      ]),
    )
    const text = await shown.run("config")
    expect(text.stdout).toMatch(/database\.url +"\*\*\*"/)
    expect(text.stdout).not.toContain("hidden")
  })

  test("by --set holds for the daemon that start begins, and is refused for one that runs", async () => {
    const set = home()
    expect((await set.run("start", "--set", "http.enabled=false")).code).toBe(0)
    expect(set.registration().url).toBeUndefined()
    const again = await set.run("start", "--set", "http.enabled=true")
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("already running")])
  })
})

test("on PostgreSQL reasoning survives the daemon as well, and the password is nowhere", async () => {
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const url = await server.createDatabase()
  const at = home({ THROUGHLINE_DATABASE_URL: url })
  const agent = await agentOf(at)
  await agent.call("init", { operation: "start_new", title: "in PostgreSQL" })
  for (const text of ["one", "two"]) await agent.call("thought", thought(text))
  await agent.call("thought", { ...thought("aside"), branchId: "b", branchFromThought: 1 })
  await at.kill()
  const found = await (await agentOf(at)).call<Loaded>("init", { operation: "load_context" })
  expect(found).toMatchObject({
    session: { title: "in PostgreSQL", thoughtCount: 3 },
    branches: { b: [{ thought: "aside" }] },
  })
  expect(found.thoughts?.map((kept) => kept.thought)).toEqual(["one", "two"])
  const status = await at.run("status")
  expect(status.stdout).toMatch(/store +postgres/)
  const everything = [status.stdout, (await at.run("doctor")).stdout, (await at.run("logs", "--json")).stdout]
  expect(everything.join("\n")).not.toContain(new URL(url).password)
})
