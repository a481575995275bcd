import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openBrowser, openPage } from "../fixtures/browser.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient, type McpClientOptions } from "../fixtures/mcp.ts"

const SOON = { timeout: 60_000, interval: 50 }
const SLOW_MS = 240_000

/** An agent that nothing is known of but the file that it writes: no hooks, no registry, no session in its environment. */
let home: TestHome
let lake: string
let shore: string
let agent: McpClient
let sender: McpClient
const open: McpClient[] = []
beforeAll(async () => {
  home = makeHome()
  ;[lake, shore] = ["lake", "shore"].map((name) => join(home.env.HOME!, name)) as [string, string]
  for (const dir of [lake, shore, home.dir]) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const teams = { lake: { project: lake, session_file: join(lake, ".claude-session") }, shore: { project: shore } }
  writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams }))
  await home.run("start")
  agent = await client({ cwd: lake })
  sender = await client({ cwd: shore })
}, SLOW_MS)
afterAll(async () => {
  for (const one of open) await one.close().catch(() => {})
  await home.dispose()
})

const client = async (options: McpClientOptions) => {
  const made = await connect(home, options)
  open.push(made)
  return made
}
const begins = (id: string) => {
  const path = join(lake, ".claude-session")
  const now = new Date().toISOString()
  writeFileSync(`${path}.new`, JSON.stringify({ id, started_at: now, chat_id: "-100", project: "lake" }))
  renameSync(`${path}.new`, path)
}
interface Page {
  updates: { type: string; message_id: string; content: string }[]
  session_restart: {
    task_file?: object
    old_session_id: string
    new_session_id: string
    pending_messages: string[]
  } | null
}
const messages = ({ updates }: Page) => updates.filter(({ type }) => type === "message")
const pull = async (from: McpClient, meta?: Record<string, unknown>) =>
  messages(await from.call<Page>("pull_updates", { target: "lake" }, meta))
const ids = (list: { message_id: string }[]) => list.map(({ message_id }) => message_id)
const mail = async (message: string, more: object = {}) =>
  (await sender.call<{ id: string }>("send_message", { target: "lake", message, ...more })).id
const words = async (message: string, ...more: string[]) =>
  (await home.json<{ id: string; note: string }>("send", "lake", message, ...more)).id
const state = async (id: string) => (await home.json<{ state: string }>("queue", "show", id)).state

test("it fetches its pending messages, once and in order, and nobody else gets them", {
  timeout: SLOW_MS,
}, async () => {
  begins("first")
  const first = await mail("Paint the boat.")
  const answer = await home.json<{ id: string; note: string }>("send", "lake", "Mind the weather.")
  expect(answer.note).toMatch(/^Its agent fetches its messages itself/)
  const urgent = await mail("The tide is early.", { priority: "urgent" })
  await expect
    .poll(async () => (await home.json<{ reason?: string }>("queue", "show", first)).reason, SOON)
    .toBe("the agent fetches its messages itself")

  const strangers = [sender, await client({ transport: "http" }), await client({ cwd: home.env.HOME! })]
  for (const stranger of strangers) expect(await pull(stranger)).toEqual([])
  const remote = { threadId: "first", callId: "c1" }
  expect(await pull(strangers[1]!, remote), "over TCP a session is only a claim").toEqual([])
  expect(messages(await home.json<Page>("updates", "lake"))).toEqual([])
  expect(await state(first)).toBe("queued")

  const fetched = await pull(agent)
  expect(ids(fetched)).toEqual([urgent, first, answer.id])
  expect(fetched[1]!.content).toMatch(/^\[Message m-\w+ from .*, via Throughline\]\n> Paint the boat\./)
  expect(fetched[2]!.content).toMatch(/from the owner, via Throughline\]\n> Mind the weather\./)
  expect(await pull(agent)).toEqual([])
  for (const id of ids(fetched)) expect(await state(id)).toBe("done")
})

test("its known state is visible everywhere", { timeout: SLOW_MS }, async () => {
  const waiting = await mail("For the morning.")
  const [target] = (await sender.call<{ targets: object[] }>("queue_status", {})).targets
  expect(target).toMatchObject({ target: "lake", pending: 1, session_id: "first", fetches: true })
  const { session_file_at } = target as { session_file_at: string }
  expect(Date.now() - Date.parse(session_file_at)).toBeLessThan(SLOW_MS)
  const known = { name: "lake", sessionId: "first", sessionFileAt: session_file_at, fetches: true }
  const status = await sender.call<{ teams: object[] }>("teams_status", {})
  expect(status.teams).toMatchObject([
    { ...known, mail: 1, waiting: 0 },
    { name: "shore", mail: 0 },
  ])
  expect(status.teams[1]).not.toHaveProperty("fetches")
  expect(await home.json("teams")).toMatchObject({ teams: [{ ...known, waiting: 1 }, { name: "shore" }] })
  const said = "fetches its messages with pull_updates"
  expect((await home.run("queue")).stdout).toMatch(
    new RegExp(`lake +1 \\(${said}\\) .*first \\(reported .*(ago|just now)\\)`),
  )
  for (const command of [["teams"], ["teams", "status"]])
    expect((await home.run(...command)).stdout).toMatch(
      new RegExp(`lake .*${said}, 1 queued; reported session first, written (just now|.* ago)`),
    )
  expect(await sender.text("queue_status", {})).toContain(said)
  const browser = await openBrowser()
  try {
    const { page } = await openPage(browser, home, "/teams")
    const queues = page.getByRole("region", { name: "Queues" })
    await queues.getByText("fetches messages itself").waitFor()
    expect(await queues.textContent()).toMatch(/lake.*1 queued.*fetches messages itself.*session first, reported/s)
  } finally {
    await browser.close()
  }
  expect(ids(await pull(agent))).toEqual([waiting])
  expect((await sender.call<{ targets: object[] }>("queue_status", {})).targets[0]).toMatchObject({ in_progress: 1 })
})

test("a call that a killed daemon did not answer is answered by the next one", { timeout: SLOW_MS }, async () => {
  const meta = { "claudecode/toolUseId": "toolu_lost" }
  const sent = [await mail("one"), await words("two"), await mail("three", { priority: "urgent" })]
  // As if this answer had been lost: the relay repeats a call that was not answered, under the same key.
  const lost = await pull(agent, meta)
  expect(ids(lost)).toEqual([sent[2], sent[0], sent[1]])
  await home.kill()
  expect(await pull(agent, meta)).toEqual(lost)
  expect(await pull(agent)).toEqual([])
})

test("killed at any moment, the daemon loses nothing and gives nothing twice", { timeout: SLOW_MS }, async () => {
  const got: string[] = []
  const sent: string[] = []
  let isSent = false
  const fetching = (async () => {
    while (!isSent || got.length < sent.length) got.push(...ids(await pull(agent)))
  })()
  for (let round = 0; round < 12; round++) {
    for (let n = 0; n < 3; n++) sent.push(await mail(`round ${round}, ${n}`, { idempotency_key: `${round}.${n}` }))
    if (round % 2 === 0) await home.kill()
  }
  isSent = true
  await fetching
  expect(got).toEqual(sent)
  expect(await pull(agent)).toEqual([])
})

test("a restart comes before the new session's mail, with the old one's unfinished work", {
  timeout: SLOW_MS,
}, async () => {
  const fetched = await mail("half done")
  await pull(agent)
  const waiting = await mail("not begun")
  const task = { current_task: "Fix the DNS record", current_task_id: "msg-456", last_completed_step: 2 }
  const file = { session_id: "first", ...task, pending_messages: ["msg-789"], updated_at: "2026-03-30T01:15:00Z" }
  writeFileSync(join(lake, ".claude-session-state.json"), JSON.stringify(file))
  begins("second")
  const page = await agent.call<Page>("pull_updates", { target: "lake" })
  expect(page.session_restart).toMatchObject({
    old_session_id: "first",
    new_session_id: "second",
    pending_messages: [fetched, waiting],
    task_file: { ...task, pending_messages: ["msg-789"], untrusted: true },
  })
  expect((await home.run("updates", "lake")).stdout).toMatch(
    /\.claude-session-state\.json in the project says \(untrusted.*\):\n> task: Fix the DNS record\n/,
  )
  expect(ids(messages(page))).toEqual([waiting])
  expect(await state(fetched)).toBe("uncertain")
  expect(
    (await agent.call<Page>("pull_updates", { target: "lake", since: "u0", limit: 200 })).updates.filter(isRestart),
  ).toHaveLength(1)
})
const isRestart = ({ type }: { type: string }) => type === "session_restart"
