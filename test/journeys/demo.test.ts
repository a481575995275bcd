import { execFile } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import type { Registration } from "../../src/daemon/wiring/registration.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect } from "../fixtures/mcp.ts"

const SLOW_MS = 240_000
const SOON = { timeout: 60_000, interval: 100 }

let home: TestHome
/** Of somebody who has no tmux. */
let bare: TestHome
let bareText: string
let text: string
let dir: string
beforeAll(async () => {
  ;[home, bare] = [somebody(), somebody()]
  // All of this is the user's own, and none of the demo's.
  Object.assign(home.env, { CODEX_HOME: join(home.env.HOME!, ".codex"), THROUGHLINE_LOG_LEVEL: "nonsense" })
  bare.env.PATH = join(bare.env.HOME!, "nowhere")
  const [first, second] = await Promise.all([home.run("start", "--demo"), bare.run("start", "--demo")])
  for (const { code, stderr } of [first, second]) expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  ;[text, bareText] = [first.stdout, second.stdout]
  dir = placeIn(text)
}, SLOW_MS)
afterAll(async () => {
  for (const one of [home, bare]) {
    await one.run("stop", "--demo", "--force")
    await one.dispose()
  }
})

function somebody(): TestHome {
  const made = makeHome()
  const tmp = join(made.env.HOME!, "tmp")
  mkdirSync(tmp)
  made.env.TMPDIR = tmp
  return made
}
const placeIn = (said: string) => /a fictional shop, in (\S+)\./.exec(said)?.[1] ?? ""

interface Live {
  status: string
  pane?: string
  teams: string[]
  session: { title: string }
  last: { role: string; text: string }
}
const demo = <T>(...args: string[]) => home.json<T>(...args, "--demo")
interface Hit {
  title: string
  platform: string
  snippet: string
}
const titles = async (query: string) =>
  (await demo<{ hits: Hit[] }>("search", query, "--limit", "4")).hits.map(({ title }) => title)

test("it is in a private folder of its own, and the user's data directory is unchanged", () => {
  expect(dir).toBe(join(home.env.HOME!, "tmp", `throughline-demo-${process.getuid?.()}`))
  expect(statSync(dir).mode & 0o777).toBe(0o700)
  expect(readdirSync(home.env.HOME!).sort()).toEqual(["tmp"])
})

test("five agents, four projects, two weeks: all of it imported as any agent's files are", async () => {
  const { sources } = await demo<{
    sources: { platform: string; found: boolean; sessions: number; unknown: number; unreadable: number }[]
  }>("sources")
  const found = sources.filter((source) => source.found)
  expect(found.map(({ platform }) => platform).sort()).toEqual([
    "aider",
    "claude-code",
    "codex",
    "gemini-cli",
    "opencode",
  ])
  expect(found.reduce((sum, { sessions }) => sum + sessions, 0)).toBeGreaterThanOrEqual(45)
  expect(found.map(({ unknown, unreadable }) => unknown + unreadable)).toEqual([0, 0, 0, 0, 0])
  const { code, stdout } = await home.run("doctor", "--demo")
  expect({ code, last: stdout.trim().split("\n").at(-1) }).toEqual({ code: 0, last: "All good." })
})

test("a search finds the exchange that was meant", async () => {
  expect((await titles("refund rounding"))[0]).toBe("Refund rounding loses a cent")
  expect((await titles("why did we drop redis")).slice(0, 2).sort()).toEqual([
    "Drop Redis: carts go to Postgres",
    "Why did we drop Redis?",
  ])
  expect((await titles("checkout timeout")).slice(0, 2).sort()).toEqual([
    "Checkout timeout is back",
    "Checkout timeout under load",
  ])
})

test("a session shows its lineage: a fork, a sub-agent, a clear, a compaction", async () => {
  const all = ["sessions", "--limit", "100", "--subagents"]
  const { sessions } = await demo<{ sessions: { id: string; title: string }[] }>(...all)
  const show = async (title: string) => {
    const { id } = sessions.find((session) => session.title.startsWith(title))!
    return (await home.run("sessions", "show", id, "--demo")).stdout
  }
  expect(await show("Checkout as a saga, tried and dropped")).toMatch(/fork/i)
  expect(await show("Packing slip shows the gift wrap")).toMatch(/clear/i)
  expect(await show("Find every place that creates a charge")).toMatch(/sub-?agent/i)
  expect(await show("Checkout timeout is back")).toContain("no network call inside of a transaction")
})

test("a restart is reported with the interrupted task", async () => {
  await vi.waitFor(async () => {
    const { stdout } = await home.run("updates", "storefront", "--demo")
    expect(stdout).toMatch(/session_restart .*\(clear\)/)
    expect(stdout).toContain("was working on: Packing slip shows the gift wrap")
  }, SOON)
})

test("reasoning with its branch is recovered by the project alone, and a brief shows its state", async () => {
  const cwd = join(dir, "you", "storefront")
  const inDemo = { ...home, env: { ...home.env, THROUGHLINE_HOME: join(dir, "home"), THROUGHLINE_LOG_LEVEL: "info" } }
  const agent = await connect(inDemo, { cwd, env: { CLAUDE_PROJECT_DIR: cwd } })
  const found = await agent.call<{ thoughts: unknown[]; branches: Record<string, unknown[]> }>("init", {
    operation: "load_context",
  })
  expect([found.thoughts.length, found.branches.outbox?.length]).toEqual([5, 2])
  const { brief } = await agent.call<{ brief: string }>("resume_session_context", { current_query: "checkout timeout" })
  expect(brief).toContain("no call over the network inside of a transaction")
  await agent.close()
})

describe("the proposed command", () => {
  const commands = () => [...text.matchAll(/^ {2}(\S.* --demo)$/gm)].map(([, command]) => command!)
  const paste = (command: string) =>
    new Promise<{ code: number; stdout: string }>((resolve) => {
      execFile("sh", ["-c", command], { env: home.env, cwd: "/" }, (error, stdout) =>
        resolve({ code: error ? Number(error.code) : 0, stdout }),
      )
    })

  const said = new Map<string, string>()
  test(
    "works when pasted in any folder",
    async () => {
      expect(commands().length).toBeGreaterThanOrEqual(5)
      for (const command of commands()) {
        const { code, stdout } = await paste(command)
        expect(code, `${command}\n${stdout}`).toBe(0)
        expect(stdout.length, command).toBeGreaterThan(40)
        said.set(command, stdout)
      }
    },
    SLOW_MS,
  )

  test("works in the demo: the live agent waits, the team answers", async () => {
    const to = (part: string) => [...said].find(([command]) => command.includes(part))?.[1]
    expect(to("sessions live")).toContain("waiting (permission)")
    expect(to("permissions")).toContain("Add --demo")
    expect(to("ask payments")?.split("in proportion to how the order was paid")).toHaveLength(2)
    expect(to("handoff")).toContain("codex resume")
    expect((await home.run("search", "refund rounding", "--open", "--demo")).stdout).toContain("33.34, 33.33, 33.33")
  })

  test("a mock agent answers a question that contains U+2028", async () => {
    const { answer } = await demo<{ answer: string }>("ask", "payments", "Where does a refund\u2028of a gift card go?")
    expect(answer).toContain("in proportion")
  })
})

test("an agent runs in the demo's own terminal, and answers messages there", async () => {
  const live = async () =>
    (await demo<{ sessions: Live[] }>("sessions", "live")).sessions.find(({ pane }) => pane !== undefined)
  expect(await live()).toMatchObject({
    status: "idle",
    teams: ["warehouse"],
    session: { title: "Count the lamps again before the shop opens: the last count differs by 14." },
    last: { role: "agent", text: expect.stringContaining("Counted again: 212 lamps") },
  })
  const { id } = await demo<{ id: string }>("send", "warehouse", "What does a wrapped parcel weigh on its slip?")
  await vi.waitFor(async () => {
    expect((await demo<{ state: string }>("queue", "show", id)).state).toBe("done")
    expect((await live())?.last.text).toContain("a wrapped item adds 75 g")
  }, SOON)
  expect((await home.run("teams", "--demo")).stdout).toMatch(/warehouse.*up/)
})

test("two messages wait for a person's word, and each has a way out", async () => {
  const { messages } = await demo<{ messages: { id: string; state: string; target: string; reason: string }[] }>(
    "queue",
    "stuck",
  )
  expect(messages).toMatchObject([
    { state: "failed", target: "warehouse", reason: "the session ended mid-turn" },
    {
      state: "uncertain",
      target: "payments",
      reason: "the agent has been active since but never acknowledged this message",
    },
  ])
  await demo("queue", "settle", messages[1]!.id, "leave")
  const { newId } = await demo<{ newId: string }>("queue", "settle", messages[0]!.id, "again")
  await vi.waitFor(async () => {
    expect((await demo<{ state: string }>("queue", "show", newId)).state).toBe("done")
  }, SOON)
  expect((await demo<{ messages: unknown[] }>("queue", "stuck")).messages).toEqual([])
})

test("the page is served with its token, and not without", async () => {
  const { url, address } = await demo<{ url: string; address: string }>("dashboard")
  expect(await (await fetch(url)).text()).toMatch(/<!doctype html>/i)
  const ask = (authorization: string) =>
    fetch(`${url}/api/sessions.live`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization },
      body: "{}",
    })
  expect((await ask(`Bearer ${address.split("#token=")[1]}`)).status).toBe(200)
  expect((await ask("Bearer nonsense")).status).toBe(401)
})

test(
  "a pending request continues once allowed, and the queue has messages in several states",
  async () => {
    const { targets } = await demo<{ targets: { target: string; pending: number }[] }>("queue")
    expect(targets.filter(({ pending }) => pending > 0)).toMatchObject([{ target: "storefront", pending: 2 }])
    const { permissions } = await demo<{ permissions: { id: string }[] }>("permissions")
    expect(permissions).toHaveLength(1)
    await demo("permissions", "answer", permissions[0]!.id, "allow")
    await vi.waitFor(async () => {
      const { hits } = await demo<{ hits: Hit[] }>("search", "the alarm CheckoutSwept is live")
      expect(hits[0]?.snippet).toContain("is live")
    }, SOON)
  },
  SLOW_MS,
)

test(
  "a second start finds the first; stop throws it away with all that ran in it, though its daemon was killed",
  async () => {
    const { pid } = registration()
    const again = await home.run("start", "--demo")
    expect(again.stdout).toContain("The demo is already running")
    expect(registration().pid).toBe(pid)
    const running = processesOf(dir)
    expect(running.some((words) => words.includes("tmux"))).toBe(true)
    expect(running.filter((words) => words.includes("demo/agent.js")).length).toBeGreaterThanOrEqual(2)
    process.kill(pid, "SIGKILL")
    expect((await home.run("stop", "--demo")).stdout).toContain("Demo removed")
    await expectNothingLeft(home, dir)
    const { code, stderr } = await home.run("search", "refund", "--demo")
    expect(code).toBe(2)
    expect(stderr).toContain("throughline start --demo")
  },
  SLOW_MS,
)

test("without tmux everything works except the agent in a terminal, and the demo says so", async () => {
  expect(bareText).toContain("No agent runs in a terminal: tmux is not installed, or not on the daemon's PATH.")
  const { sessions } = await bare.json<{ sessions: Live[] }>("sessions", "live", "--demo")
  expect(sessions.map(({ status, pane }) => [status, pane])).toContainEqual(["waiting", undefined])
  const { targets } = await bare.json<{ targets: { target: string; pending: number }[] }>("queue", "--demo")
  expect(targets.find(({ target }) => target === "warehouse")?.pending).toBe(1)
  expect((await bare.run("doctor", "--demo")).stdout).toContain("All good.")
  expect((await bare.run("stop", "--demo")).stdout).toContain("Demo removed")
  await expectNothingLeft(bare, placeIn(bareText))
})

test("it is not made in a place that is somebody else's, and never through a link", async () => {
  const other = join(home.env.HOME!, "other")
  mkdirSync(other)
  symlinkSync(other, dir)
  const { code, stderr } = await home.run("start", "--demo")
  expect(code).not.toBe(0)
  expect(stderr).toContain("is not a folder of yours alone")
  expect(readdirSync(other)).toEqual([])
})

const registration = () => JSON.parse(readFileSync(join(dir, "home", "daemon.json"), "utf8")) as Registration

async function expectNothingLeft({ env }: TestHome, place: string): Promise<void> {
  // One that was driven ends when it notices that nobody listens.
  await vi.waitFor(() => expect(processesOf(place)).toEqual([]), SOON)
  expect(readdirSync(env.TMPDIR!)).toEqual([])
  expect(readdirSync(env.HOME!)).toEqual(["tmp"])
}

/** The command lines of all that run in the demo: they name its folder, work in it or have it for their home. */
function processesOf(place: string): string[] {
  const about = (pid: string, what: string) => {
    try {
      return what === "cwd" ? readlinkSync(`/proc/${pid}/cwd`) : readFileSync(`/proc/${pid}/${what}`, "utf8")
    } catch {
      // It has ended meanwhile.
      return ""
    }
  }
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return pids
    .filter((pid) => ["cwd", "environ", "cmdline"].some((what) => about(pid, what).includes(place)))
    .map((pid) => about(pid, "cmdline").replaceAll("\0", " "))
    .filter((words) => words !== "")
}
