import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openPage, until } from "../fixtures/browser.ts"
import { ask, dashboardAddress, keyOf } from "../fixtures/daemon.ts"
import { type Dashboard, makeDashboard } from "../fixtures/dashboard.ts"
import { expectHarmless, hostileLines, ink, marked, openHostile, writeForks } from "../fixtures/hostile.ts"
import { connect } from "../fixtures/mcp.ts"
import { ANSI, XSS } from "../fixtures/xss.ts"

const PAGES = ["/", "/search", "/teams", "/analytics", "/health"]
const NATIVE = "bbbbbbbb-0000-4000-8000-000000000001"
/** In a few seconds: what nobody has taken by then is shown to a person. */
const EXPIRE_DAYS = "0.00003"
/** As many texts have the same one as a page of hits shows. */
const HEAP = 20
const TEXTS = [...XSS, ...ANSI]
let d: Dashboard
let hostile: string
beforeAll(async () => {
  d = await makeDashboard({ api: {} }, { env: { THROUGHLINE_QUEUE_EXPIRE_DAYS: EXPIRE_DAYS } })
  writeForks(d, NATIVE, XSS, (at) => `heap${at % (XSS.length / HEAP)}`)
  hostile = await d.tell(NATIVE, hostileLines(TEXTS))
  await d.call("sessions.rename", { sessionId: hostile, title: XSS[15] })
  for (const [at, text] of XSS.entries()) {
    const branch = at >= 100 && at % 10 === 0 ? { branchId: text, branchFromThought: 1 } : {}
    const thought = { thought: marked("thought", at, text), nextThoughtNeeded: true, sessionId: hostile, ...branch }
    expect((await d.call<{ sessionId?: string }>("thought", thought)).sessionId).toBe(hostile)
  }
}, 240_000)
afterAll(() => d?.dispose())

test("there are two hundred of them, and none twice", () => {
  expect([XSS.length, new Set(XSS).size, ANSI.length]).toEqual([200, 200, 20])
})

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
    const key = keyOf(await dashboardAddress(d.home))
    const owner = { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" }
    expect((await ask(d.home, { path: "/mcp", body: JSON.stringify(initialize), headers: owner })).status).toBe(403)
  })
})

describe("content of a transcript", () => {
  test("would run in a page that takes it for HTML: the texts are as bad as they look", async () => {
    const page = await d.browser.newPage()
    await page.setContent("<body></body>")
    await page.evaluate(
      `globalThis.ran = 0; globalThis.pwned = () => { ran++ }; document.body.innerHTML = ${JSON.stringify(XSS.filter((text) => !/<(style|link|base|meta|plaintext|xmp|noscript|textarea)/i.test(text)).join("<p>"))}`,
    )
    await until(async () => (await page.evaluate<number>("ran")) > 5, "some of them run")
    await page.close()
  })

  test("is plain text on the session's page: prompts, replies, thinking, tool input and output", async () => {
    const { page, troubles } = await openHostile(d, `/sessions/${hostile}`)
    await page.locator(".turn").first().waitFor()
    const seen = { prompt: new Set(), reply: new Set(), thinking: new Set(), tool: new Set(), result: new Set() }
    await page.evaluate("scrollTo(0, 0)")
    for (let isEnd = false; !isEnd; ) {
      await expectHarmless(page)
      for (const { kind, text } of await page.evaluate<Shown[]>(SHOWN)) {
        const at = TEXTS.findIndex((one, index) => isShown(kind, text, one, index))
        if (at >= 0) seen[kind].add(kind === "tool" || kind === "result" ? ink(TEXTS[at]!) : at)
      }
      isEnd = await page.evaluate<boolean>(
        "{ const before = scrollY; scrollBy(0, innerHeight * 0.9); scrollY === before }",
      )
      await page.waitForTimeout(20)
    }
    const different = new Set(TEXTS.map(ink)).size
    expect(Object.fromEntries(Object.entries(seen).map(([kind, some]) => [kind, some.size]))).toEqual({
      ...{ prompt: TEXTS.length, reply: TEXTS.length, thinking: TEXTS.length },
      ...{ tool: different, result: different },
    })
    expect(troubles).toEqual([])
    await page.context().close()
  })

  test("is text as thoughts and names of branches, and as the titles of two hundred sessions beside it", async () => {
    const { page, troubles } = await openHostile(d, `/sessions/${hostile}`)
    await page.locator(".thoughts").waitFor()
    const thoughts = await page.locator(".thoughts .markdown").allTextContents()
    const ended = thoughts.flatMap((text) => /thought ends (\d+)\s*$/.exec(text)?.[1] ?? [])
    expect(new Set(ended).size).toBe(XSS.length)
    const branches = await page.locator(".thoughts .branch summary").allTextContents()
    expect(
      branches.map((text) => XSS.findIndex((one) => ink(text).startsWith(ink(one)))).filter((at) => at >= 0),
    ).toHaveLength(10)
    const titles = await page.locator(".lineage a").allTextContents()
    // A title is kept in one line, without what turns the direction of writing.
    const known = XSS.map((text, at) => ink(`${at} ${text.split(/[\n\r\u2028\u2029]/)[0]}`)).map((title) =>
      title.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, "").slice(0, 40),
    )
    const found = known.filter((start) => titles.some((title) => ink(title).startsWith(start)))
    expect(found.length).toBe(XSS.length)
    await expectHarmless(page)
    expect(troubles).toEqual([])
    await page.context().close()
  })

  test("is text among the hits, every one of them, with its project", async () => {
    const { page, troubles } = await openHostile(d, "/search")
    const heard = new Set<number>()
    for (let heap = 0; heap < XSS.length / HEAP; heap++) {
      await page.getByRole("searchbox").fill(`heap${heap}`)
      await page
        .locator(`[data-asked=heap${heap}] .hit`)
        .nth(HEAP - 1)
        .waitFor()
      await expectHarmless(page)
      const hits = await page.locator(".hit").allTextContents()
      for (const [at, text] of XSS.entries())
        if (at % (XSS.length / HEAP) === heap && hits.some((hit) => ink(hit).includes(ink(text).slice(0, 60))))
          heard.add(at)
    }
    expect(heard.size).toBe(XSS.length)
    expect(troubles).toEqual([])
    await page.context().close()
  })

  test("is plain text in permission requests and in session details", async () => {
    const command = XSS.join("\n")
    const { messageId } = await d.ask("api", `<<RUN ${command.replaceAll(">", "»")}>>`, { timeout: 0 })
    const { page, troubles, go } = await openHostile(d, "/teams")
    const shown = page.locator(".ask pre", { hasText: "<img src=x onerror=pwned(1)>" }).first()
    for (const path of ["/teams", "/"]) {
      await go(path)
      await shown.waitFor()
      expect(ink((await shown.textContent())!)).toBe(ink(command))
      await expectHarmless(page)
    }
    await page.locator(".row-title", { hasText: "pwned" }).first().waitFor()
    await go("/analytics")
    await page.locator(".numbers").first().waitFor()
    await expectHarmless(page)
    expect(troubles).toEqual([])
    await page.context().close()
    await d.call("teams_control", { operation: "cancel", messageId })
  })

  test("is text as messages that did not arrive, and as those that are sent from the page", async () => {
    await Promise.all(XSS.map((message) => d.call("send_message", { target: "api", message })))
    const { page, troubles, go } = await openHostile(d, "/")
    const shown = new Set<string>()
    type Stuck = { messages: { id: string; message: string; state: string }[] }
    const stuck = async () => (await d.call<Stuck>("queue.stuck", {})).messages
    type Queue = { targets: { target: string; pending: number }[] }
    await until(
      async () => (await d.call<Queue>("queue_status", {})).targets.every(({ pending }) => pending === 0),
      "what nobody took is given up",
      60_000,
    )
    for (let some = await stuck(); some.length > 0; some = await stuck()) {
      await go("/")
      await page
        .locator(`.stuck[data-state=expired]`)
        .nth(some.length - 1)
        .waitFor()
      await expectHarmless(page)
      for (const text of await page.locator(".stuck-text").allTextContents()) shown.add(ink(text))
      await Promise.all(some.map(({ id }) => d.call("queue.settle", { id, how: "leave" })))
    }
    expect(XSS.filter((text) => !shown.has(ink(text)))).toEqual([])
    await go(`/sessions/${hostile}`)
    const box = page.getByRole("textbox", { name: "Message to the agent" })
    for (const text of XSS.slice(0, 5)) {
      await box.fill(text)
      await box.press("Control+Enter")
      await page.getByText(text, { exact: true }).and(page.locator(".sent-text")).first().waitFor()
    }
    await expectHarmless(page)
    expect(troubles).toEqual([])
    await page.context().close()
  }, 240_000)

  test("cannot come in as a team's name", async () => {
    for (const name of XSS)
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

interface Shown {
  kind: "prompt" | "reply" | "thinking" | "tool" | "result"
  text: string
}

/** Whether the whole text is there, where it is not read as Markdown; otherwise what stands behind it. */
function isShown(kind: Shown["kind"], shown: string, text: string, at: number): boolean {
  if (kind === "reply" || kind === "thinking")
    return new RegExp(`^\\s*${kind} ${at}[\\s\\S]*${kind} ends ${at}\\s*$`).test(shown)
  if (kind === "prompt") return ink(shown) === ink(`${at}: ${text}`)
  return ink(shown) === ink(kind === "tool" ? `command: ${text}` : text)
}

/** Runs in the page: its current content, by kind. */
const SHOWN = `[
  ["prompt", ".turn-prompt .said"], ["reply", ".turn-reply .markdown"], ["thinking", ".turn-reasoning .markdown"],
  ["tool", ".turn-tool_call pre:not(.result)"], ["result", ".turn-tool_call pre.result"],
].flatMap(([kind, where]) => [...document.querySelectorAll(where)].map(({ textContent }) => ({ kind, text: textContent })))`
