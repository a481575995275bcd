// How soon Home is ready, how soon hits are painted after a keystroke, and how smoothly a long session scrolls, in a real
// browser before a real daemon. `--home <folder>` has throughline.db and index.db of bench/search.ts --home; they are copied.
//   node bench/dashboard.ts --home <folder> [--messages 1000000]
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { gzipSync } from "node:zlib"
import Database from "better-sqlite3"
import type { Page } from "playwright-core"
import { openBrowser, openPage } from "../test/fixtures/browser.ts"
import { ask, makeHome } from "../test/fixtures/daemon.ts"
import { type Line, writeTalk } from "../test/fixtures/talk.ts"
import { type Row, report, round, summarize } from "./lib.ts"

const { values: options } = parseArgs({ options: { home: { type: "string" }, messages: { type: "string" } } })
const LOADS = 15
const LETTER_MS = 150
const TURNS = 10_000
const LONG = "dddddddd-0000-4000-8000-000000000001"
const QUERIES = [
  "retry the request with a longer timeout",
  "migration of the orders table",
  "why is the cache cold",
  "docker compose network",
  "rename the parameter",
  "flaky test on friday",
  "race between two writers",
  "certificate expired",
]

/** These run in the page. */
const HOME_READY = `new MutationObserver((_, watching) => {
  if (!document.querySelector(".home")) return
  watching.disconnect()
  requestAnimationFrame(() => setTimeout(() => { globalThis.homeReadyMs = performance.now() }))
}).observe(document, { subtree: true, childList: true })`

const WATCH_TYPING = `
globalThis.painted = []
globalThis.passed = 0
let typed
document.querySelector("input[type=search]").addEventListener("input", ({ target, timeStamp }) => {
  if (typed) passed++
  typed = target.value.trim() === "" ? undefined : { text: target.value, atMs: timeStamp }
}, { capture: true })
new MutationObserver(() => {
  const asked = document.querySelector("[data-asked]")?.dataset.asked
  if (!typed || asked !== typed.text) return
  const { atMs } = typed
  typed = undefined
  requestAnimationFrame(() => setTimeout(() => painted.push(performance.now() - atMs)))
}).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true })`

const SCROLL = `new Promise((resolve) => {
  const gaps = []
  let [last, most] = [performance.now(), 0]
  const step = (now) => {
    gaps.push(now - last)
    last = now
    most = Math.max(most, document.querySelectorAll(".turn").length)
    scrollBy(0, 300)
    if (gaps.length < 300) requestAnimationFrame(step)
    else resolve({ most, gaps })
  }
  requestAnimationFrame(step)
})`

const home = makeHome()
mkdirSync(home.dir, { recursive: true, mode: 0o700 })
for (const name of ["throughline.db", "index.db"])
  if (options.home !== undefined) copyFileSync(join(options.home, name), join(home.dir, name))
writeTalk(home.env.HOME!, { sessionId: LONG, cwd: "/w/long", startedAt: "2026-01-01T00:00:00Z", lines: longTalk() })
const rows: Row[] = []
const browser = await openBrowser()
try {
  await home.run("start")
  const status = await quiet()
  rows.push({ what: "turns and thoughts that can be found", value: status.search.documents ?? 0 })
  const loads: number[] = []
  for (let at = 0; at < LOADS; at++) {
    const page = await (await browser.newContext()).newPage()
    await page.addInitScript(HOME_READY)
    await page.goto(`${home.registration().url}/#token=${home.ownerKey()}`)
    loads.push(
      await page.evaluate<number>(
        "new Promise((resolve) => { const look = () => globalThis.homeReadyMs === undefined ? setTimeout(look, 5) : resolve(homeReadyMs); look() })",
      ),
    )
    await page.context().close()
  }
  const ready = summarize(loads)
  rows.push({ what: "Home ready p50 ms", value: ready.p50 })
  rows.push({ what: "Home ready p95 ms", value: ready.p95, bar: "≤ 1000", holds: ready.p95 <= 1000 })

  const { page } = await openPage(browser, home, "/search")
  await page.getByRole("searchbox").waitFor()
  await page.evaluate(WATCH_TYPING)
  for (const query of QUERIES) await type(page, query)
  const { painted, passed } = await page.evaluate<{ painted: number[]; passed: number }>("({ painted, passed })")
  const typing = summarize(painted)
  rows.push({ what: "keystrokes answered", value: painted.length })
  rows.push({ what: "keystrokes passed by the next one", value: passed })
  rows.push({ what: "keystroke to painted hits p50 ms", value: typing.p50 })
  rows.push({ what: "keystroke to painted hits p95 ms", value: typing.p95, bar: "≤ 100", holds: typing.p95 <= 100 })
  rows.push({ what: "keystroke to painted hits max ms", value: typing.max })

  const { page: reading } = await openPage(browser, home, `/sessions/${idOf(LONG)}`)
  await reading.locator(".turn").first().waitFor()
  await reading.evaluate("scrollTo(0, 0)")
  const scrolled = await reading.evaluate<{ most: number; gaps: number[] }>(SCROLL)
  const frames = summarize(scrolled.gaps)
  rows.push({ what: `turns on the page, of ${TURNS}`, value: scrolled.most, bar: "≤ 60", holds: scrolled.most <= 60 })
  rows.push({ what: "frame while scrolling p50 ms", value: frames.p50 })
  rows.push({ what: "frame while scrolling p95 ms", value: frames.p95 })
  rows.push({ what: "frames over 50 ms, of 300", value: scrolled.gaps.filter((gap) => gap > 50).length })
  const kb = bundleKb()
  rows.push({ what: "bundle, gzipped kB", value: kb, bar: "≤ 250", holds: kb <= 250 })
} finally {
  await browser.close()
  await home.dispose()
}
report("dashboard", rows, { messages: options.messages ?? "own small home" })

async function type(page: Page, query: string): Promise<void> {
  const field = page.getByRole("searchbox")
  await field.fill("")
  await field.pressSequentially(query, { delay: LETTER_MS })
  await page.waitForTimeout(1_000)
}

/** Nothing is read or indexed any more. */
async function quiet() {
  for (let calm = 0; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const now = (await ask(home, { path: "/api/status", body: "{}", socket: true })).json<{
      search: { documents?: number; behind?: number; rebuilding?: string }
      followers: { lag: number }[]
    }>()
    const { progress } = (await ask(home, { path: "/api/sources", body: "{}", socket: true })).json<{
      progress: { importing: boolean }
    }>()
    const isCalm =
      !progress.importing && now.search.rebuilding === undefined && now.followers.every(({ lag }) => lag === 0)
    calm = isCalm ? calm + 1 : 0
    if (calm === 4) return now
  }
}

function idOf(native: string): string {
  const db = new Database(join(home.dir, "throughline.db"), { readonly: true })
  const found = db.prepare("select id from sessions where native_id = ?").pluck().get(native) as string | undefined
  db.close()
  if (found === undefined) throw new Error("the long session is not there")
  return found
}

function longTalk(): Line[] {
  return Array.from({ length: TURNS / 4 }, (_, at): Line[] => [
    ["user", `Question ${at}: ${"why is it so? ".repeat(1 + (at % 7))}`],
    ["assistant", [{ type: "tool_use", id: `toolu_${at}`, name: "Bash", input: { command: `ls -l part-${at}` } }]],
    [
      "user",
      [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: `total ${at}\n${"a line\n".repeat(at % 40)}` }],
    ],
    [
      "assistant",
      `Answer ${at}.\n\n${"Because of *that*. ".repeat(1 + (at % 23))}\n\n\`\`\`ts\nconst a = ${at}\n\`\`\``,
    ],
  ]).flat()
}

function bundleKb(): number {
  const dir = new URL("../dist/web/", import.meta.url)
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return round(
    files.reduce((sum, { parentPath, name }) => sum + gzipSync(readFileSync(join(parentPath, name))).length, 0) / 1000,
    1,
  )
}
