import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page, Route } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { DESKTOP, type OpenPage, openPage, until } from "../fixtures/browser.ts"
import { dashboardAddress } from "../fixtures/daemon.ts"
import { type Dashboard, makeDemo } from "../fixtures/dashboard.ts"

let d: Dashboard
let tab: OpenPage
beforeAll(async () => {
  d = await makeDemo()
  tab = await openPage(d.browser, d.home)
}, 240_000)
afterAll(() => d?.dispose())

/** In the one tab that a person has open; nothing may have gone wrong in it. */
async function at(path: string, what: (open: OpenPage) => Promise<void>): Promise<void> {
  tab.troubles.length = 0
  await tab.go(path)
  await what(tab)
  expect(tab.troubles).toEqual([])
}

const region = (page: Page, name: string) => page.getByRole("region", { name })

describe("home", () => {
  test("removes the key from the URL, keeps it for the tab, and shows nothing without it", async () => {
    const { page: own } = await openPage(d.browser, d.home)
    await own.getByRole("heading", { name: "Home" }).waitFor()
    await expect.poll(() => own.url()).not.toContain("token")
    await own.reload()
    await own.getByRole("link", { name: "Weight of wrapped parcels" }).first().waitFor()
    await own.context().close()
    const context = await d.browser.newContext()
    const page = await context.newPage()
    await page.goto(d.home.registration().url!)
    await page.getByRole("heading", { name: "Sign in from your terminal" }).waitFor()
    expect(await page.textContent("body")).not.toContain("parcels")
    await context.close()
  })

  test("shows running agents: those that need a person, those in a terminal, with their last words", () =>
    at("/", async ({ page }) => {
      const running = region(page, "Running sessions")
      const waits = running.locator(".card[data-status=waiting]", { hasText: "infra" })
      await waits.waitFor()
      expect(await waits.textContent()).toMatch(/needs you: permission.*Please deploy the alarm.*ask infra/s)
      const sits = running.locator(".card", { hasText: "tmux %" })
      expect(await sits.textContent()).toMatch(/Count the lamps again.*Counted again: 212 lamps.*warehouse/s)
    }))

  test("shows what needs a person, and today's restarts", () =>
    at("/", async ({ page }) => {
      const waiting = region(page, "Needs your attention")
      await waiting.locator(".ask pre", { hasText: "npm run deploy -- alerts" }).waitFor()
      expect(await waiting.locator(".stuck[data-state=failed]").textContent()).toMatch(
        /Not delivered: the session ended mid-turn.*Print the picking lists/s,
      )
      expect(await waiting.locator(".stuck[data-state=uncertain]").textContent()).toMatch(
        /Delivery unconfirmed.*Leave the refunds of order 81590/s,
      )
      await waiting.getByText("2 messages queued for storefront").waitFor()
      const restarts = region(page, "Restarts today")
      await restarts.getByRole("link", { name: "storefront" }).waitFor()
      expect(await restarts.textContent()).toContain("Was working on: Packing slip shows the gift wrap")
      await restarts.getByRole("link", { name: "storefront" }).click()
      await page.getByRole("heading", { level: 1, name: "Weight of wrapped parcels" }).waitFor()
    }))

  test("is still signed in when it is left and opened again before the daemon has proved itself", async () => {
    const context = await d.browser.newContext()
    const page = await context.newPage()
    let isHeld = true
    await page.route("**/hello", (route) => (isHeld ? undefined : route.continue()))
    await page.goto(await dashboardAddress(d.home))
    isHeld = false
    await page.goto(d.home.registration().url!)
    await page.getByRole("link", { name: "Weight of wrapped parcels" }).first().waitFor()
    await page.reload()
    await page.getByRole("link", { name: "Weight of wrapped parcels" }).first().waitFor()
    expect(page.url()).not.toContain("token")
    await context.close()
  })

  test("offers Resend and Dismiss for an undelivered message; resent, the agent in its terminal answers", () =>
    at("/", async ({ page }) => {
      const failed = page.locator(".stuck[data-state=failed]", { hasText: "Print the picking lists" })
      await failed.getByRole("button", { name: "Resend" }).click()
      await failed.waitFor({ state: "detached" })
      await page.locator(".card", { hasText: "The lists of aisle 3 are in the printer's queue again" }).waitFor()
      const uncertain = page.locator(".stuck[data-state=uncertain]")
      await uncertain.getByRole("button", { name: "Dismiss" }).click()
      await uncertain.waitFor({ state: "detached" })
    }))

  test("shows a message whose agent dies, until a person has decided about it", async () => {
    const agent = await d.agents.start({ name: "dies", cwd: join(d.home.env.HOME!, "free") })
    const target = `session:${await d.sessionOf(agent)}`
    const sent: string[] = []
    const send = async (message: string) => {
      const { id } = await d.call<{ id: string }>("send_message", { target, message })
      sent.push(id)
    }
    await send("long work\nSLOW 20000")
    await agent.until((log) => log.some(({ kind }) => kind === "prompt"))
    await send("and then this")
    await at("/", async ({ page }) => {
      process.kill(agent.pid, "SIGKILL")
      const stuck = page.locator(".stuck[data-state=failed]", { hasText: "long work" })
      await stuck.waitFor()
      expect(await stuck.textContent()).toContain("Not delivered: the session ended mid-turn")
      await stuck.getByRole("button", { name: "Resend" }).click()
      await stuck.waitFor({ state: "detached" })
    })
    const first = await d.call<{ state: string; reason: string }>("queue.show", { id: sent[0]! })
    expect(first).toMatchObject({ state: "cancelled", reason: expect.stringMatching(/^resent as m-/) })
    const again = await d.call("queue.show", { id: first.reason.split(" ").at(-1)! })
    expect(again).toMatchObject({ state: "queued", target, from: "the owner", message: "long work\nSLOW 20000" })
    expect(await d.call("queue.settle", { id: sent[1]!, how: "leave" })).toEqual({
      settled: false,
      reason: "it is queued",
    })
  })
})

describe("search", () => {
  test("finds a decision as one types, and opens the exchange in its place", () =>
    at("/search", async ({ page }) => {
      const field = page.getByRole("searchbox")
      await field.pressSequentially("why did we drop redis", { delay: 15 })
      const hits = page.locator("[data-asked='why did we drop redis'] .hit")
      await hits.first().locator("mark", { hasText: "Redis" }).first().waitFor()
      expect(page.url()).toContain("q=why")
      expect((await hits.allTextContents()).slice(0, 2).join()).toContain("infra")
      await field.press("Escape")
      await page.keyboard.press("j")
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/sessions\/[\w-]+\?at=\d+/)
      const target = page.locator(".turn-target")
      await target.waitFor()
      expect(await target.textContent()).toMatch(/redis/i)
      await until(async () => ((await target.boundingBox())?.y ?? -1) >= 0, "it is on the screen")
      expect((await target.boundingBox())!.y).toBeLessThan(DESKTOP.height)
      await page.goBack()
      await expect.poll(() => field.inputValue()).toBe("why did we drop redis")
    }))

  test("filters by agent, author and time, and says so when nothing is left", () =>
    at("/search?q=redis", async ({ page }) => {
      const agents = page.locator(".hit .badge")
      await agents.first().waitFor()
      expect(new Set(await agents.allTextContents()).size).toBeGreaterThan(2)
      await page.getByRole("combobox", { name: "Agent" }).selectOption("gemini-cli")
      await expect.poll(async () => [...new Set(await agents.allTextContents())]).toEqual(["Gemini CLI"])
      await page.getByRole("combobox", { name: "Role" }).selectOption("user")
      await expect.poll(() => page.locator(".hit").count()).toBeLessThanOrEqual(2)
      await page.getByRole("combobox", { name: "Agent" }).selectOption("aider")
      await page.getByRole("status").filter({ hasText: "No results." }).waitFor()
      const asked = Object.fromEntries(new URL(page.url()).searchParams)
      expect(asked).toEqual({ q: "redis", agent: "aider", role: "user" })
    }))

  test("copies the command that resumes a session, and hands the session off to another agent", async () => {
    const id = await d.titled("Checkout timeout under load")
    const { session } = await d.call<{ session: { nativeId: string } }>("sessions.outline", { sessionId: id })
    await at(`/sessions/${id}`, async ({ page }) => {
      await page.getByRole("button", { name: "Copy resume command" }).click()
      await page.getByRole("button", { name: "Copied" }).waitFor()
      expect(await page.evaluate("navigator.clipboard.readText()")).toContain(`claude --resume ${session.nativeId}`)
      await page.getByRole("button", { name: "Continue in…" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Codex" }).click()
      await page.getByRole("dialog").getByText("Continue in Codex:").waitFor()
      await page.keyboard.press("Escape")
    })
  })
})

describe("a session", () => {
  test("is shown formatted, with tool calls folded to one line, compactions and outcomes", async () => {
    const id = await d.titled("Checkout timeout is back")
    await at(`/sessions/${id}`, async ({ page, go }) => {
      const lineage = page.getByRole("list", { name: "Related sessions" })
      expect(await lineage.textContent()).toMatch(
        /Checkout timeout is back.*Checkout as a saga, tried and dropped.*fork/s,
      )
      const summary = page.locator(".turn-summary", { hasText: "no network call inside of a transaction" })
      await summary.waitFor()
      await page.evaluate("scrollTo(0, 0)")
      await page.locator(".turn-prompt").first().waitFor()
      const tool = page.locator("details.turn-tool_call").first()
      await tool.waitFor()
      expect(await tool.locator("pre").first().isVisible()).toBe(false)
      await tool.locator("summary").click()
      await tool.locator("pre.result").waitFor()
      expect(await page.locator(".turn-reply code").count()).toBeGreaterThan(0)
      await lineage.getByRole("link", { name: /Checkout as a saga/ }).click()
      await page.getByRole("heading", { level: 1, name: /Checkout as a saga/ }).waitFor()
      await go(`/sessions/${await d.titled("Packing slip shows the gift wrap")}`)
      expect(await lineage.textContent()).toMatch(
        /Gift wrap option.*clear.*Packing slip.*Weight of wrapped parcels.*clear/s,
      )
    })
  })

  test("has its thoughts as a tree: a branch hangs where it leaves the line", async () => {
    const id = await d.titled("Where an order is lost")
    await at(`/sessions/${id}`, async ({ page }) => {
      const thoughts = region(page, "Thoughts")
      await thoughts.waitFor()
      const second = thoughts.locator(".thoughts > li").nth(1)
      expect(await second.textContent()).toContain("asking the provider again is harmless")
      expect(await second.locator(".branch summary").textContent()).toBe("outbox 2 thoughts")
      expect(await second.locator(".branch li").last().textContent()).toContain("Dropped.")
      expect(await thoughts.locator(".thoughts > li").count()).toBe(5)
    })
  })

  test("updates live while its agent talks, and a message from the page reaches its terminal", async () => {
    const agent = await d.agents.start({ name: "talker", cwd: join(d.home.env.HOME!, "free") })
    const id = await d.sessionOf(agent)
    await at(`/sessions/${id}`, async ({ page, shift }) => {
      const box = page.getByRole("textbox", { name: "Message to the agent" })
      await box.fill("say something\nSLOW 1000\nREPLY the plums are ripe")
      await box.press("Control+Enter")
      const sent = page.getByRole("list", { name: "Sent messages" }).getByRole("listitem")
      await sent.waitFor()
      await page.evaluate(WATCH_STATES)
      await page.locator(".sent li[data-state=running]").waitFor()
      await page.locator(".turn-prompt", { hasText: "say something" }).waitFor()
      await page.locator(".turn-reply", { hasText: "the plums are ripe" }).waitFor()
      await page.locator(".sent li[data-state=done]").waitFor()
      const states = await page.evaluate<string[]>("states")
      expect(states.slice(-2)).toEqual(["running", "done"])
      // Typed by somebody at the terminal itself, it is there as well.
      d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "-l", "typed by hand")
      d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "Enter")
      await page.locator(".turn-reply", { hasText: "Done: typed by hand" }).waitFor()
      expect(await shift(), "nothing jumps while it talks").toBeLessThan(0.1)
    })
    // As the owner's own words, with no header of mail around them.
    expect(agent.prompts()).toEqual(["say something\nSLOW 1000\nREPLY the plums are ripe", "typed by hand"])
  })
})

describe("the box for a message", () => {
  const slowly = async (page: Page, answer: (route: Route, n: number) => Promise<void>) => {
    let n = 0
    await page.route("**/api/send_message", (route) => answer(route, n++))
    const box = page.getByRole("textbox", { name: "Message to the agent" })
    const say = async (text: string) => {
      await box.fill(text)
      await box.press("Control+Enter")
    }
    return { box, say, sent: page.locator(".sent-text"), over: () => page.unroute("**/api/send_message") }
  }
  const newAgent = async (name: string) =>
    d.sessionOf(await d.agents.start({ name, cwd: join(d.home.env.HOME!, "free") }))

  test("keeps a draft while the message before it is being sent, and sends both in order", async () => {
    await at(`/sessions/${await newAgent("hasty")}`, async ({ page }) => {
      const first = Promise.withResolvers<void>()
      const { box, say, sent, over } = await slowly(page, async (route, n) => {
        if (n === 0) await first.promise
        await route.continue()
      })
      await say("the first one")
      await say("the second one")
      await box.fill("a third one that is not finished")
      first.resolve()
      await sent.nth(1).waitFor()
      expect(await sent.allTextContents()).toEqual(["the first one", "the second one"])
      expect(await box.inputValue()).toBe("a third one that is not finished")
      await over()
    })
  })

  test("restores a message that could not be sent, above newer input", async () => {
    await at(`/sessions/${await newAgent("unlucky")}`, async ({ page }) => {
      const failing = Promise.withResolvers<void>()
      const { box, say, over } = await slowly(page, async (route) => {
        await failing.promise
        await route.fulfill({ json: { queued: false, reason: "this session takes no messages" } })
      })
      await say("this one is refused")
      await box.fill("typed since")
      failing.resolve()
      await page.getByRole("alert").waitFor()
      expect(await box.inputValue()).toBe("this one is refused\ntyped since")
      await over()
    })
  })
})

describe("teams", () => {
  test("shows who asked whom, the processes, and the pending messages", () =>
    at("/teams", async ({ page }) => {
      const matrix = page.locator(".matrix")
      await matrix.waitFor()
      expect(await matrix.locator("thead th").allTextContents()).toEqual([
        expect.any(String),
        ...["storefront", "payments", "warehouse", "infra"].map((team) => expect.stringContaining(team)),
      ])
      await matrix.getByRole("button", { name: /storefront → payments: \d+ messages/ }).click()
      await page.locator(".rows", { hasText: "storefront → payments" }).first().waitFor()
      await matrix.getByRole("button", { name: /storefront → infra: .*asking/ }).waitFor()
      expect(await region(page, "Processes").textContent()).toMatch(/storefront → infra.*MB.*pid \d+/s)
      expect(await region(page, "Queues").textContent()).toMatch(/storefront.*2 queued/s)
    }))

  test("a pair tells since when it is, and how many messages its sessions have on average", () =>
    at("/teams", async ({ page }) => {
      await page.getByRole("button", { name: /storefront → payments: \d+ messages/ }).click()
      const thread = page.locator(".rows .row-link", { hasText: "per session" }).first()
      await thread.waitFor()
      expect(await thread.textContent()).toMatch(
        /storefront → payments.*\d+ messages?[\d.]+ per session.*created .*used /,
      )
    }))

  describe("a team's colour", () => {
    test("stands before its name wherever teams are shown", () =>
      at("/teams", async ({ page }) => {
        const squares = page.locator(".matrix thead .swatch")
        await squares.first().waitFor()
        const colours = await page.evaluate(
          "[...document.querySelectorAll('.matrix thead .swatch')].map((one) => getComputedStyle(one).backgroundColor)",
        )
        expect(colours).toEqual(["rgb(233, 30, 99)", "rgb(33, 150, 243)", "rgb(255, 152, 0)", "rgb(76, 175, 80)"])
        const asker = page.locator(".matrix tbody th", { hasText: "storefront" }).locator(".swatch")
        expect(await asker.getAttribute("title")).toBe("#e91e63")
      }))
  })

  test("asks a team, and the matrix shows it while it runs", () =>
    at("/teams", async ({ page }) => {
      await page.getByRole("combobox", { name: "Team" }).selectOption("payments")
      await page.getByRole("textbox", { name: "Question" }).fill("Where does a refund of a gift card go?")
      await page.getByRole("button", { name: "Ask", exact: true }).click()
      const cell = page.locator(".cell-running", { hasText: "you → payments" })
      await cell.waitFor()
      expect(await cell.textContent()).toMatch(/you → payments: .*asking/)
      await page.locator("article", { hasText: "in proportion to how the order was paid" }).waitFor()
      await cell.waitFor({ state: "detached" })
    }))

  test("shows a permission request in full, and its answer counts as the owner's", async () => {
    await at("/teams", async ({ page }) => {
      const asks = page.locator(".ask", { hasText: "Bash" })
      await asks.waitFor()
      expect(await asks.locator("pre").first().textContent()).toBe("npm run deploy -- alerts")
      await asks.getByRole("button", { name: "Allow", exact: true }).click()
      await asks.waitFor({ state: "detached" })
      await page.locator(".cell-running", { hasText: "storefront → infra" }).waitFor({ state: "detached" })
    })
    const { entries } = await d.home.json<{ entries: { who: string; what: string }[] }>("audit")
    expect(entries[0]).toMatchObject({ who: "the owner", what: "permission.allowed" })
    // It continued the session.
    await at("/search?q=CheckoutSwept", ({ page }) =>
      until(async () => {
        await page.reload()
        return page
          .locator(".hit", { hasText: "is live" })
          .first()
          .waitFor({ timeout: 1_000 })
          .then(
            () => true,
            () => false,
          )
      }, "its answer is found"),
    )
  })
})

test("analytics plots activity, with the data one click away", () =>
  at("/analytics", async ({ page }) => {
    await page.locator(".plot canvas").nth(1).waitFor()
    expect(
      Number((await page.locator(".figure", { hasText: "Sessions" }).first().locator("dd").textContent())!),
    ).toBeGreaterThan(40)
    const numbers = (title: RegExp) =>
      page.locator("details.numbers", { has: page.locator("summary", { hasText: title }) }).first()
    const days = numbers(/^Days$/)
    expect(await days.locator("table").isVisible()).toBe(false)
    await days.locator("summary").click()
    await days.locator("table").waitFor()
    expect(await days.locator("tbody tr").count()).toBeGreaterThanOrEqual(12)
    const agents = (await numbers(/^Agents$/).textContent())!
    for (const agent of ["Claude Code", "Codex", "Gemini CLI", "opencode", "Aider"]) expect(agents).toContain(agent)
    expect(await numbers(/^Projects$/).textContent()).toMatch(/storefront/)
    expect(await numbers(/Busiest pairs$/).textContent()).toMatch(/storefront → payments/)
    await page.getByRole("button", { name: "7 days" }).click()
    await expect.poll(() => new URL(page.url()).search).toBe("?days=7")
    await page.locator(".plot canvas").first().waitFor()
  }))

describe("health", () => {
  test("shows every detected agent, and problems with their remedies", async () => {
    chmodSync(d.home.dir, 0o755)
    await at("/health", async ({ page }) => {
      const agents = region(page, "Agents").first()
      await agents.waitFor()
      const found = await agents.locator("tbody tr:not(.muted) th").allTextContents()
      expect(found.toSorted()).toEqual(["Aider", "Claude Code", "Codex", "Gemini CLI", "opencode"])
      const finding = region(page, "Checks").locator(".finding", { hasText: "is readable by others" })
      expect(await finding.locator(".remedy").textContent()).toBe(`chmod 700 ${d.home.dir}`)
      // An agent of the demo may have said something this very moment; the page looks again.
      await expect
        .poll(() => region(page, "Daemon").textContent(), { timeout: 60_000 })
        .toMatch(/Search index.* up to date/s)
    })
    chmodSync(d.home.dir, 0o700)
  })

  test("saves a valid setting, and explains an invalid one", () =>
    at("/health", async ({ page, troubles }) => {
      const field = page.locator("[id='setting permissions.timeoutMinutes']")
      const form = page.locator("form", { has: field })
      await field.fill("soon")
      await form.getByRole("button", { name: "Save" }).click()
      await form.getByRole("alert").waitFor()
      expect(await form.getByRole("alert").textContent()).toContain("permissions.timeoutMinutes")
      const file = () => readFileSync(join(d.home.dir, "config.json"), "utf8")
      expect(file()).not.toContain("soon")
      const was = JSON.parse(file()).permissions?.timeoutMinutes
      await field.fill("45")
      await form.getByRole("button", { name: "Save" }).click()
      await form.getByRole("alert").waitFor({ state: "detached" })
      await expect.poll(() => JSON.parse(file()).permissions?.timeoutMinutes).toBe(45)
      await form.getByText("config.json").waitFor()
      await form.getByText("Saved", { exact: true }).waitFor()
      await form.getByRole("button", { name: "Undo" }).click()
      await form.getByText("Undone", { exact: true }).waitFor()
      expect(JSON.parse(file()).permissions?.timeoutMinutes).toBe(was)
      const host = page.locator("[id='setting http.host']")
      const hostForm = page.locator("form", { has: host })
      await host.fill("banana")
      await hostForm.getByRole("button", { name: "Save" }).click()
      expect(await hostForm.getByRole("alert").textContent()).toContain('http.host = "banana"')
      expect(file()).not.toContain("banana")
      // Broken by hand: the page says where, and the daemon goes on.
      const before = file()
      writeFileSync(join(d.home.dir, "config.json"), '{\n  "log": { "level": oops }\n}\n')
      await page.reload()
      await page.getByRole("alert").filter({ hasText: "config.json:2:" }).first().waitFor()
      writeFileSync(join(d.home.dir, "config.json"), before)
      // The browser itself counts the refusal as an error of the page.
      expect(troubles.splice(0)).toEqual([expect.stringContaining("400"), expect.stringContaining("400")])
    }))
})

test("every page recovers when the daemon is killed and restarted", async () => {
  const agent = await d.agents.start({ name: "survivor", cwd: join(d.home.env.HOME!, "free") })
  const id = await d.sessionOf(agent)
  const { url } = d.home.registration()
  const open = await openPage(d.browser, d.home, `/sessions/${id}`)
  const line = open.page.locator(".nav-end")
  await line.filter({ hasText: "Live" }).waitFor()
  await d.home.kill()
  await line.filter({ hasText: "Reconnecting" }).waitFor()
  // The page stays at its address: the daemon comes back at the same port, as it does where one is set.
  const { code } = await d.home.run("start", "--set", `http.port=${new URL(url!).port}`)
  expect(code).toBe(0)
  d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "-l", "after the night")
  d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "Enter")
  await line.filter({ hasText: "Live" }).waitFor()
  await open.page.locator(".turn-reply", { hasText: "Done: after the night" }).waitFor()
  await open.page.context().close()
})

/** Every state that the page showed of the message, in order. */
const WATCH_STATES = `
  globalThis.states = []
  const look = () => {
    const now = document.querySelector(".sent li")?.dataset.state
    if (now !== undefined && states.at(-1) !== now) states.push(now)
  }
  look()
  new MutationObserver(look).observe(document.querySelector(".sent"), { subtree: true, attributes: true, childList: true })`
