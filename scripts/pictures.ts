// Draws docs/pictures/telegram-*.png: the real Claude Code with a scripted model, a daemon, and a Telegram on loopback.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { CLAUDES } from "../test/fixtures/agents.ts"
import { startClaude } from "../test/fixtures/claude-terminal.ts"
import { anthropicMessages, type Block, startModelApi, text, toolUse } from "../test/fixtures/model-api.ts"
import { makeQueueHome } from "../test/fixtures/queue.ts"
import { startTelegram } from "../test/fixtures/telegram/start.ts"
import { pageOf } from "../test/fixtures/telegram/view.ts"
import { repacked } from "./png.ts"

const PICTURES = fileURLToPath(new URL("../docs/pictures", import.meta.url))
const SCREEN = { width: 400, height: 860 }
/** So many messages a minute are a group's limit: the last of them wait for a while. */
const SOON_MS = 90_000

const WORKER = `import { orders } from "./orders.ts"
import { queue } from "./queue.ts"

queue.onPayment(async (payment) => {
  await payment.ack()
  await orders.insert(payment.order)
})
`
const MENDED = `queue.onPayment(async (payment) => {
  await orders.insertOnce(payment.id, payment.order)
  await payment.ack()
})`
const FOUND = `Found it. The worker acknowledges **before** the order is written, so a crash in between loses it:

\`\`\`ts
await payment.ack()
await orders.insert(payment.order)
\`\`\`

Either we write first and make a repeat harmless, or we add an outbox table. I would take the first.`
const RELEASE = `npm run build && npm test -- --run payments orders && docker compose -f deploy/staging.yml up -d --build worker && ./scripts/replay-payments.sh --since 2026-11-14 --env staging`

const BACK = `I am back, and know where it stood:

- orders are written first, with a test
- **14 November** is replayed: 1,204 payments, 1,204 orders
- **15 November** comes next

I go on with it.`

const telegram = await startTelegram({ limits: false, bots: [{ username: "throughline_bot", name: "Throughline" }] })
const ada = telegram.person("Ada")
const group = telegram.group("Work", { people: [ada] })
const model = await startModelApi(anthropicMessages)
const q = await makeQueueHome(["shop"], {
  THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
  THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
  THROUGHLINE_TELEGRAM_CHAT: String(group.id),
  THROUGHLINE_TELEGRAM_USERS: String(ada.id),
})
const files = mkdtempSync(join(tmpdir(), "tl-pictures-"))
const dir = q.dirOf("shop")
mkdirSync(join(dir, "src"))
for (const name of ["orders", "queue"]) writeFileSync(join(dir, "src", `${name}.ts`), "export {}\n")
writeFileSync(join(dir, "src", "worker.ts"), WORKER)
const git = (...args: string[]) =>
  execFileSync("git", ["-C", dir, "-c", "user.name=Ada", "-c", "user.email=a@b.c", ...args])
git("init", "-q")
git("add", ".")
git("commit", "-qm", "Take payments from the queue")
mkdirSync(PICTURES, { recursive: true })

const start = () =>
  startClaude(q, { which: CLAUDES[0]!.name, team: "shop", modelUrl: model.url, permissionMode: "acceptEdits" })
let claude = await start()
try {
  plays(
    [text("I look at how payments are taken in."), toolUse("Read", { file_path: join(dir, "src/worker.ts") })],
    [toolUse("Read", { file_path: join(dir, "src/orders.ts") }), toolUse("Bash", { command: "git log --oneline -5" })],
    [text(FOUND)],
  )
  await claude.type("Orders get lost when two payments land in the same second. Why?")
  await shows("✅ done")
  plays([text("On it.")])
  const go = say("The first. And add a test for it")
  await marked(go, "👍")
  await shows("On it.")
  draw("topic")

  await isIdle()
  const edit = {
    file_path: join(dir, "src/worker.ts"),
    old_string: WORKER.slice(WORKER.indexOf("queue.on")),
    new_string: `${MENDED}\n`,
  }
  plays(
    [toolUse("Read", { file_path: join(dir, "src/worker.ts") })],
    [toolUse("Edit", edit)],
    [toolUse("Write", { file_path: join(dir, "src/worker.test.ts"), content: "// a crash after the insert\n" })],
    [toolUse("Bash", { command: RELEASE, description: "Build, test and replay yesterday's payments on staging" })],
    [text("Both payments of the same second are there now, also after a crash in between.")],
  )
  const build = say("Great, try it on staging with yesterday's payments")
  const approval = await telegram.waitFor(
    () => read().find(({ buttons }) => buttons.length > 0),
    SOON_MS,
    "the approval request",
  )
  await marked(build, "👍")
  // Until the progress message has all of it.
  await sleep(6_000)
  draw("approval")
  const deny = ada.press(group, approval.id, approval.buttons.flat().find(({ label }) => label.endsWith("Deny"))!.label)
  await telegram.waitFor(() => deny.answer(), SOON_MS, "the press's answer")

  await isIdle()
  plays(
    [
      toolUse("mcp__throughline__task_state", {
        operation: "save",
        current_task: "Replay yesterday's payments on staging",
        last_completed_step: "orders are written first",
      }),
    ],
    [text("I replay them one day at a time, and count the orders after each.")],
  )
  say("Not all at once: day by day")
  const asksToKeep = await telegram.waitFor(
    () => read().find(({ text: words, buttons }) => buttons.length > 0 || words.includes("one day at a time")),
    SOON_MS,
    "the approval request for the task, or no need of one",
  )
  if (asksToKeep.buttons.length > 0) ada.press(group, asksToKeep.id, "✅ Allow")
  await shows("one day at a time")
  await isIdle()
  const before = thread()
  process.kill(claude.pid, "SIGKILL")
  // What it leaves behind would be taken for the next one, before that is ready.
  rmSync(join(q.home.env.HOME!, ".claude", "sessions", `${claude.pid}.json`), { force: true })
  await sleep(1_500)
  plays([text(BACK)], [text("**15 November** is through as well: 1,311 payments, 1,311 orders. None is missing.")])
  claude = await start()
  await claude.type("Go on with the replay")
  await telegram.waitFor(() => telegram.topics(group).length > 1, SOON_MS, "the new topic")
  const now = telegram.topics(group).find(({ id }) => id !== before)!.id
  const said = (words: string) => () => telegram.read(group, now).some((one) => one.text.includes(words))
  await telegram.waitFor(said("I am back"), SOON_MS, "the reply")
  ada.write(group, "Good. Tell me when it is through", { thread: now })
  await telegram.waitFor(said("as well"), SOON_MS, "the next reply")
  await sleep(2_000)
  draw("restart", now)
} finally {
  await claude.end()
  await model.close()
  await q.dispose()
  await telegram.close()
  rmSync(files, { recursive: true, force: true })
}

function plays(...plan: Block[][]): void {
  let at = 0
  model.script(() => plan[Math.min(at++, plan.length - 1)]!)
}
function thread(): number {
  return telegram.topics(group)[0]!.id
}
function read() {
  return telegram.topics(group).length === 0 ? [] : telegram.read(group, thread())
}
async function shows(words: string): Promise<void> {
  await telegram.waitFor(() => read().some(({ isBot, text: said }) => isBot && said.includes(words)), SOON_MS, words)
}
function say(words: string): number {
  return ada.write(group, words, { thread: thread() }).id
}
async function marked(message: number, emoji: string): Promise<void> {
  const marks = () =>
    read()
      .find(({ id }) => id === message)
      ?.reactions.some((one) => one.emoji === emoji)
  await telegram.waitFor(marks, SOON_MS, emoji)
}
async function isIdle(): Promise<void> {
  while ((await claude.live())?.status !== "idle") await sleep(50)
}

function draw(name: string, at = thread()): void {
  for (const theme of ["light", "dark"] as const) {
    const page = pageOf(telegram, group, at, { viewer: ada, theme, heightPx: SCREEN.height })
    const path = join(files, `${name}.html`)
    // The machine that drew it is not named.
    const named = page.replaceAll(`${hostname().split(".")[0]} •`, "laptop •")
    writeFileSync(path, named.replace(/(class="icon"[^>]*>)[^<]*/, "$1L"))
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2"]
    const size = `--window-size=${SCREEN.width},${SCREEN.height}`
    const out = join(PICTURES, `telegram-${name}-${theme}.png`)
    execFileSync("chromium", [...flags, size, `--screenshot=${out}`, `file://${path}`], { stdio: "ignore" })
    writeFileSync(out, repacked(readFileSync(out)))
  }
}
