import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { DESKTOP, type OpenPage, openPage, PHONE } from "../fixtures/browser.ts"
import { type Dashboard, makeDemo } from "../fixtures/dashboard.ts"
import type { Line } from "../fixtures/talk.ts"

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const TURNS = 10_000
let d: Dashboard
let long: string
let checkout: string
let thinking: string
let open: OpenPage
beforeAll(async () => {
  d = await makeDemo()
  checkout = await d.titled("Checkout timeout is back")
  thinking = await d.titled("Where an order is lost")
  const lines = Array.from({ length: TURNS / 4 }, (_, at): Line[] => [
    ["user", `Question ${at}: ${"why is it so? ".repeat(1 + (at % 7))}`],
    [
      "assistant",
      [
        {
          type: "tool_use",
          id: `toolu_${at}`,
          name: "Bash",
          input: { command: `ls -l part-${at}`, description: "List it" },
        },
      ],
    ],
    [
      "user",
      [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: `total ${at}\n${"a line\n".repeat(at % 40)}` }],
    ],
    [
      "assistant",
      `Answer ${at}.\n\n${"Because of *that*. ".repeat(1 + (at % 23))}\n\n\`\`\`ts\nconst a = ${at}\n\`\`\``,
    ],
  ]).flat()
  long = await d.tell("cccccccc-0000-4000-8000-000000000001", lines)
  open = await openPage(d.browser, d.home)
}, 240_000)
afterAll(() => d?.dispose())

const pages = (): [name: string, path: string, ready: string][] => [
  ["home", "/", ".card"],
  ["search", "/search?q=why+did+we+drop+redis", ".hit"],
  ["session", `/sessions/${checkout}`, ".turn"],
  ["thoughts", `/sessions/${thinking}`, ".thoughts .branch"],
  ["teams", "/teams", ".matrix .cell"],
  ["analytics", "/analytics", ".plot canvas"],
  ["health", "/health", ".setting"],
]

describe("every page", () => {
  test.each(["home", "search", "session", "thoughts", "teams", "analytics", "health"])(
    "%s is for everybody: light and dark, wide and narrow, and nothing jumps",
    async (name) => {
      const [, path, ready] = pages().find(([one]) => one === name)!
      const { page, go, shift, troubles } = open
      for (const size of [DESKTOP, PHONE]) {
        await page.setViewportSize(size)
        await page.emulateMedia({ colorScheme: "light" })
        await go(path)
        await page.locator(ready).first().waitFor()
        await page.evaluate(AXE)
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme })
          await page.evaluate(SETTLE)
          expect(await page.evaluate<string[]>(SERIOUS), `${colorScheme} ${size.width}`).toEqual([])
        }
        const width = await page.evaluate<number>("document.documentElement.scrollWidth")
        expect(width, "nothing is wider than the screen").toBeLessThanOrEqual(size.width)
        expect(await shift(), String(size.width)).toBeLessThan(0.1)
      }
      expect(troubles).toEqual([])
    },
    60_000,
  )
})

test("the content of Home's boxes stays inside them, even where two are narrow", async () => {
  const { page, go } = open
  await page.setViewportSize({ width: 1200, height: 760 })
  await go("/")
  await page.locator(".card[data-status=waiting]").waitFor()
  const wide = await page.evaluate<string[]>(`[...document.querySelectorAll(".card, .ask, .stuck")]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`)
  expect(wide).toEqual([])
})

test("can be used by the keyboard alone", async () => {
  const { page, go } = open
  await page.setViewportSize(DESKTOP)
  await go("/")
  await page.locator(".row-link").first().waitFor()
  const focused = () => page.evaluate<string>("document.activeElement?.closest('[data-item]')?.textContent ?? ''")
  await page.keyboard.press("?")
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor({ state: "hidden" })
  await page.keyboard.press("j")
  const first = await focused()
  await page.keyboard.press("j")
  const second = await focused()
  expect([first === "", second === "", first === second]).toEqual([false, false, false])
  const outline = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle")
  expect(outline, "one sees where one is").not.toBe("none")
  await page.keyboard.press("k")
  expect(await focused()).toBe(first)
  for (const [keys, path] of [
    ["gs", "/search"],
    ["gt", "/teams"],
    ["ga", "/analytics"],
    ["gd", "/health"],
    ["gh", "/"],
  ] as const) {
    await page.keyboard.type(keys)
    await expect.poll(() => new URL(page.url()).pathname).toBe(path)
    // The search page takes the keys for what is searched.
    await page.waitForTimeout(100)
    await page.keyboard.press("Escape")
  }
  await page.keyboard.press("/")
  // The field has the keyboard a frame after it is there.
  await expect.poll(() => page.evaluate("document.activeElement?.type")).toBe("search")
  await page.keyboard.type("question 77")
  await page.locator('[data-asked="question 77"] .hit').first().waitFor()
  await page.keyboard.press("Escape")
  await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await page.waitForURL(/\/sessions\/.*at=/)
})

describe("a session of ten thousand turns", () => {
  test("has few of them on the page at once, however far one scrolls", async () => {
    const { page, go } = open
    await page.setViewportSize(DESKTOP)
    await go(`/sessions/${long}`)
    await page.locator(".turn").first().waitFor()
    await page.evaluate("scrollTo(0, 0)")
    await page.locator(".turn-prompt", { hasText: "Question 0:" }).waitFor()
    // How smooth it is depends on what else the machine does: that is measured by bench/dashboard.ts.
    const { most, moved } = await page.evaluate<{ most: number; moved: number }>(SCROLL)
    expect(most).toBeLessThanOrEqual(60)
    expect(moved).toBeGreaterThan(10_000)
  })

  test("opens at an exchange in the middle, and sums up each tool call", async () => {
    const { turns } = await d.call<{ turns: { id: number; head: string }[] }>("sessions.outline", { sessionId: long })
    expect(turns.length).toBeGreaterThanOrEqual(TURNS)
    const target = turns.find(({ head }) => head.startsWith("Question 1777:"))!
    const { page, go } = open
    await go(`/sessions/${long}?at=${target.id}`)
    const shown = page.locator(".turn-target", { hasText: "Question 1777:" })
    await shown.waitFor()
    await expect.poll(async () => (await shown.boundingBox())!.y).toBeGreaterThanOrEqual(0)
    expect((await shown.boundingBox())!.y).toBeLessThan(DESKTOP.height / 2)
    const tool = page.locator("details.turn-tool_call", { hasText: "part-1777" })
    expect(await tool.locator(".fold-head").textContent()).toBe("ls -l part-1777")
    await tool.locator("summary").click()
    await tool.getByText("total 1777").waitFor()
  })
})

/** Colours go over into each other for a moment; what is judged is where they end. */
const SETTLE = `new Promise((resolve) => requestAnimationFrame(() => {
  for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime !== Infinity) one.finish()
  resolve()
}))`

const SERIOUS = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => id + ": " + nodes.map(({ html, any }) => html.slice(0, 160) + " " + (any[0]?.message ?? "")).slice(0, 3).join(" | ")))`

const SCROLL = `new Promise((resolve) => {
  let [frames, most] = [0, 0]
  const step = () => {
    frames++
    most = Math.max(most, document.querySelectorAll(".turn").length)
    scrollBy(0, 400)
    if (frames < 150) requestAnimationFrame(step)
    else resolve({ most, moved: scrollY })
  }
  requestAnimationFrame(step)
})`
