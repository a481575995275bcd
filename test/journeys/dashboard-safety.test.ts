import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openPage, until } from "../fixtures/browser.ts"
import { ask } from "../fixtures/daemon.ts"
import { type Dashboard, makeDashboard } from "../fixtures/dashboard.ts"
import { connect } from "../fixtures/mcp.ts"
import type { Line } from "../fixtures/talk.ts"
import { XSS } from "../fixtures/xss.ts"

const PAGES = ["/", "/search", "/teams", "/analytics", "/health"]
let d: Dashboard
let hostile: string
beforeAll(async () => {
  d = await makeDashboard({ api: {} })
  const lines = XSS.flatMap((text, at): Line[] => [
    ["user", `${at}: ${text}`],
    ["assistant", [{ type: "thinking", thinking: text, signature: "x" }]],
    [
      "assistant",
      [{ type: "tool_use", id: `toolu_${at}`, name: at % 2 ? "Bash" : text.slice(0, 60), input: { command: text } }],
    ],
    ["user", [{ type: "tool_result", tool_use_id: `toolu_${at}`, content: text, is_error: at % 3 === 0 }]],
    ["assistant", text],
  ])
  hostile = await d.tell("bbbbbbbb-0000-4000-8000-000000000001", lines)
  await d.call("sessions.rename", { sessionId: hostile, title: XSS[15] })
  const init = await d.call<{ sessionId?: string }>("thought", {
    thought: XSS.slice(0, 40).join("\n\n"),
    nextThoughtNeeded: true,
    branchId: undefined,
    sessionId: hostile,
  })
  expect(init.sessionId).toBe(hostile)
})
afterAll(() => d?.dispose())

describe("who may see it", () => {
  const status = async (path: string, headers: Record<string, string>, method = "POST") =>
    (await ask(d.home, { path, method, headers, ...(method === "POST" ? { body: "{}" } : {}) })).status
  test.each([
    ["without a key", { authorization: "" }, 401],
    ["with a wrong key", { authorization: "Bearer x" }, 401],
    ["from a foreign page", { origin: "https://evil.example" }, 403],
    ["under a foreign name, as in DNS rebinding", { host: "evil.example" }, 403],
  ])("not who comes %s", async (_, headers, expected) => {
    expect(await status("/api/sessions.list", headers)).toBe(expected)
    expect(await status("/events", headers, "GET")).toBe(expected)
    // The page's files hold nothing of anybody's; under a foreign name not even they are given.
    expect(await status("/", headers, "GET")).toBe(expected === 403 ? 403 : 200)
  })

  test("an MCP client over HTTP is never the owner, whatever it says and whichever key it has", async () => {
    const claim = { "throughline-caller": encodeURIComponent(JSON.stringify({ surface: "cli", isOwner: true })) }
    const settings = { path: "/api/config.set", body: '{"key":"http.port","value":"1"}', headers: claim }
    expect((await ask(d.home, settings)).json<{ error: { code: string } }>().error.code).toBe("person_needed")
    const client = await connect(d.home, { transport: "http" })
    const { id } = await client.call<{ id: string }>("send_message", { target: "api", message: randomUUID() })
    await client.close()
    expect((await d.call<{ from: string }>("queue.show", { id })).from).not.toBe("the owner")
    const initialize = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }
    const owner = { authorization: `Bearer ${d.home.ownerKey()}`, accept: "application/json, text/event-stream" }
    expect((await ask(d.home, { path: "/mcp", body: JSON.stringify(initialize), headers: owner })).status).toBe(403)
  })
})

describe("what is in a transcript", () => {
  test("would run in a page that takes it for HTML: the texts are as bad as they look", async () => {
    const page = await d.browser.newPage()
    await page.setContent("<body></body>")
    await page.evaluate(
      `globalThis.ran = 0; globalThis.pwned = () => { ran++ }; document.body.innerHTML = ${JSON.stringify(XSS.filter((text) => !/<(style|link|base|meta|plaintext|xmp|noscript|textarea)/i.test(text)).join("<p>"))}`,
    )
    await until(async () => (await page.evaluate<number>("ran")) > 5, "some of them run")
    await page.close()
  })

  test("is text on the session's page, every one of them, from the first to the last", async () => {
    const { page, troubles } = await openHostile(`/sessions/${hostile}`)
    await page.locator(".turn").first().waitFor()
    const seen = new Set<number>()
    await page.evaluate("scrollTo(0, 0)")
    for (let isEnd = false; !isEnd; ) {
      await expectHarmless(page)
      const said = await page.locator(".turn-prompt .said").allTextContents()
      for (const text of said) {
        const at = Number(/^(\d+): /.exec(text)?.[1])
        // Those with codes of terminals are shown without them.
        if (/[\p{Cc}]/u.test(XSS[at]!) || text === `${at}: ${XSS[at]}`) seen.add(at)
      }
      isEnd = await page.evaluate<boolean>(
        "{ const before = scrollY; scrollBy(0, innerHeight * 0.9); scrollY === before }",
      )
      await page.waitForTimeout(30)
    }
    expect(seen.size).toBe(XSS.length)
    await page.locator(".thoughts").waitFor()
    await expectHarmless(page)
    expect(troubles).toEqual([])
    await page.context().close()
  })

  test("is text among the hits, at home, and in what an agent asks to be allowed", async () => {
    const { messageId } = await d.ask("api", "<<RUN echo '<img src=x onerror=pwned(1)»<script»pwned(1)</script»'>>", {
      timeout: 0,
    })
    const { page, troubles, go } = await openHostile("/search?q=pwned")
    await page.locator(".hit mark").first().waitFor()
    await expectHarmless(page)
    await go("/")
    await page.locator(".ask pre", { hasText: "<img src=x onerror=pwned(1)>" }).first().waitFor()
    await page.locator(".row-title", { hasText: "<img src=x" }).first().waitFor()
    await expectHarmless(page)
    await go("/teams")
    await page.locator(".ask pre", { hasText: "<script>pwned(1)</script>" }).first().waitFor()
    await page
      .getByRole("button", { name: /messages/ })
      .first()
      .waitFor()
    await expectHarmless(page)
    await go("/analytics")
    await page.locator(".numbers").first().waitFor()
    await expectHarmless(page)
    expect(troubles).toEqual([])
    await page.context().close()
    await d.call("teams_control", { operation: "cancel", messageId })
  })

  test("cannot come in as a team's name", async () => {
    for (const name of XSS.slice(0, 60))
      expect((await d.refused("teams.add", { name, project: d.dirOf("api") })).code, name).toBe("bad_input")
  })

  test("is never handed to the browser as HTML by any of the page's files", async () => {
    const root = fileURLToPath(new URL("../../web/src/", import.meta.url))
    const files = await Array.fromAsync(glob("**/*.{ts,tsx}", { cwd: root }))
    expect(files.length).toBeGreaterThan(25)
    const DANGEROUS =
      /dangerouslySetInnerHTML|\.(inner|outer)HTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\(|new Function|srcdoc/i
    expect(files.filter((name) => DANGEROUS.test(readFileSync(root + name, "utf8")))).toEqual([])
  })
})

test("no page breaks its own policy: no script or style but those of the daemon's files", async () => {
  const { page, troubles, go } = await openPage(d.browser, d.home)
  for (const path of [...PAGES, `/sessions/${hostile}`]) {
    const response = page.waitForResponse((one) => new URL(one.url()).pathname === path)
    await go(path)
    expect((await response).headers()["content-security-policy"]).toMatch(/script-src 'self';.*style-src 'self';/)
    await page.locator("h1, .search").first().waitFor()
    await page.waitForTimeout(150)
    expect(await page.locator("script:not([src]), style").count()).toBe(0)
  }
  expect(troubles).toEqual([])
  await page.context().close()
})

async function openHostile(path: string) {
  const open = await openPage(d.browser, d.home, path)
  open.page.on("dialog", (dialog) => open.troubles.push(`a dialog: ${dialog.message()}`))
  await open.page.evaluate("globalThis.ran = 0; globalThis.pwned = () => { ran++ }")
  return open
}

/** Nothing ran, and no element is on the page that only a text could have made. */
async function expectHarmless(page: Page): Promise<void> {
  expect(await page.evaluate(FOREIGN)).toEqual([])
  expect(await page.evaluate("globalThis.ran ?? 0")).toBe(0)
}

const FOREIGN = `[...document.querySelectorAll("#app *")].filter((one) =>
  /^(script|iframe|frame|object|embed|style|link|base|meta|math|video|audio|source|track|picture|marquee|template|slot|image|xmp|plaintext|noscript|isindex|custom-element)$/i.test(one.localName) ||
  (one.localName === "img" && one.getAttribute("src") !== "/icon.svg") ||
  (one.localName === "svg" && one.getAttribute("class") !== "icon") ||
  [...one.attributes].some(({ name }) => name.startsWith("on") || name === "srcdoc" || name === "formaction") ||
  (one.localName === "a" && !/^(https?:|mailto:)/.test(one.href))
).map((one) => one.outerHTML.slice(0, 200))`
