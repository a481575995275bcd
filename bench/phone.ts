// How long a person with a phone waits: an agent's words to the phone, theirs to the agent, and approvals either way.
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { makePocket } from "../test/fixtures/pocket.ts"
import { makeQueueHome } from "../test/fixtures/queue.ts"
import type { Seen } from "../test/fixtures/telegram/seen.ts"
import { type Row, report, round, summarize } from "./lib.ts"

const times = Number(process.argv[2] ?? 10)
/** A chat takes one message a second: what is measured must not wait for what was said before it. */
const GAP_MS = 2_500
const REST_MS = 20_000

const bots = [{ username: "throughline_bot", topicsInPrivate: true }]
const pocket = await makePocket({ limits: false, bots }, "private")
const q = await makeQueueHome(["shop"], { THROUGHLINE_TELEGRAM_API_ROOT: pocket.apiRoot })
const took = { told: [] as number[], prompted: [] as number[], decided: [] as number[], stale: [] as number[] }
let rssMb = 0
try {
  // A bot may write to those only who have written to it.
  await pocket.write("/start")
  await q.home.json("telegram", "setup", "--token", pocket.token, "--private", "--user", String(pocket.ada))
  const agent = await q.start("shop")
  const atDesk = async (text: string) => {
    await q.agents.panes.paste(agent.pane, text)
    await q.agents.panes.key(agent.pane, "Enter")
  }
  const until = async <T>(find: () => T | undefined | false): Promise<T> => {
    for (const untilMs = Date.now() + 30_000; Date.now() < untilMs; await sleep(10)) {
      const found = find()
      if (found) return found
    }
    throw new Error("it took more than 30 seconds")
  }
  const rest = async () => {
    await until(() => agent.registry()?.status === "idle")
    await sleep(GAP_MS)
  }
  const has = (words: string) => (message: Seen) => message.isBot && message.text.includes(words)

  await atDesk("Begin")
  while ((await pocket.topics()).length === 0) await sleep(100)
  const thread = (await pocket.topics())[0]!.id
  await pocket.until(thread, has("✅ done"), "done")
  for (let n = 0; n < times; n++) {
    await rest()
    await atDesk(`Say it\nREPLY word-${n}.`)
    const { at } = await pocket
      .until(thread, has(`\nREPLY word-${n}.`), "the prompt")
      .then(() => pocket.until(thread, (message) => message.isBot && message.text === `word-${n}.`, "the reply"))
    const turn = agent.log().findLast(({ kind, text }) => kind === "turn" && text.includes(`word-${n}.`))!
    took.told.push(at - turn.atMs)
  }

  await pocket.write("/quiet", { thread })
  for (let n = 0; n < times; n++) {
    await rest()
    const text = `from the phone ${n}`
    const beganMs = Date.now()
    await pocket.write(text, { thread })
    const { atMs } = await until(() => agent.log().find((one) => one.kind === "prompt" && one.text === text))
    took.prompted.push(atMs - beganMs)
  }

  const asked = async (command: string) => {
    await rest()
    await pocket.write(`Please\nDIALOG ${command}`, { thread })
    return pocket.until(
      thread,
      ({ text, buttons }) => text.includes(command) && buttons.length > 0,
      "the approval request",
    )
  }
  for (let n = 0; n < times; n++) {
    const approval = await asked(`make tap-${n}`)
    const before = agent.log().length
    const beganMs = Date.now()
    await pocket.press(approval, /Allow$/)
    const { atMs } = await until(() =>
      agent
        .log()
        .slice(before)
        .find(({ kind }) => kind === "hook-decided"),
    )
    took.decided.push(atMs - beganMs)
  }
  for (let n = 0; n < times; n++) {
    const approval = await asked(`make desk-${n}`)
    await sleep(500)
    const beganMs = Date.now()
    await q.agents.panes.key(agent.pane, "Enter")
    await pocket.until(
      thread,
      ({ id, buttons }) => id === approval.id && buttons.length === 0,
      "the end of the buttons",
    )
    took.stale.push(Date.now() - beganMs)
  }
  await sleep(REST_MS)
  const status = readFileSync(`/proc/${q.home.registration().pid}/status`, "utf8")
  rssMb = round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024, 0)
} finally {
  await q.dispose()
  await pocket.close()
}

const row = (what: string, values: number[], barMs: number): Row => {
  const { p95 } = summarize(values)
  return { what: `${what}, p95 ms`, value: p95, bar: String(barMs), holds: p95 <= barMs }
}
report(
  "phone",
  [
    row("an agent's reply to the phone", took.told, 2_000),
    row("a text from the phone to the submitted prompt", took.prompted, 1_500),
    row("a tap to the agent's decision", took.decided, 2_000),
    row("an answer at the terminal to the end of the buttons", took.stale, 3_000),
    { what: "the daemon with a bot at rest, MB", value: rssMb },
  ],
  { times, ...Object.fromEntries(Object.entries(took).map(([what, values]) => [what, summarize(values)])) },
)
