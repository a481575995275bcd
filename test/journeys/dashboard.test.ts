import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { DESKTOP, type OpenPage, openPage, until } from "../fixtures/browser.ts"
import { type Dashboard, makeDashboard } from "../fixtures/dashboard.ts"

const TALK = "aaaaaaaa-0000-4000-8000-000000000001"
let d: Dashboard
let talk: string
beforeAll(async () => {
  d = await makeDashboard({ api: {}, web: {} })
  const lines = Array.from({ length: 120 }, (_, at) =>
    at % 2 === 0
      ? (["user", at === 40 ? "why did we drop the redis cache?" : `question ${at} about the shop`] as const)
      : (["assistant", at === 41 ? "Because of the **stampede** at noon." : `Answer ${at}.\n\n- one\n- two`] as const),
  )
  talk = await d.tell(TALK, lines)
})
afterAll(() => d?.dispose())

/** Opens it, and closes it when the test is over; nothing may have gone wrong in it. */
async function at<T>(path: string, what: (open: OpenPage) => Promise<T>): Promise<T> {
  const open = await openPage(d.browser, d.home, path, { viewport: DESKTOP })
  try {
    const result = await what(open)
    expect(open.troubles).toEqual([])
    return result
  } finally {
    await open.page.context().close()
  }
}

describe("the dashboard", () => {
  test("takes the key out of the address, keeps it for the tab, and shows nothing without it", async () => {
    await at("/", async ({ page }) => {
      await page.getByRole("heading", { name: "Now" }).waitFor()
      expect(page.url()).not.toContain(d.home.ownerKey())
      await page.reload()
      await page
        .getByRole("link", { name: /why did we drop|question 0/ })
        .first()
        .waitFor()
    })
    const context = await d.browser.newContext()
    const page = await context.newPage()
    await page.goto(d.home.registration().url!)
    await page.getByRole("heading", { name: "Open it from your terminal" }).waitFor()
    expect(await page.textContent("body")).not.toContain("question")
    await context.close()
  })

  test("finds as one types, and opens the exchange in its place", () =>
    at("/search", async ({ page }) => {
      const field = page.getByRole("searchbox")
      await field.pressSequentially("redis cac", { delay: 15 })
      const hit = page.getByRole("list", { name: "Hits" }).getByRole("listitem").first()
      await hit.locator("mark", { hasText: "redis" }).waitFor()
      expect(page.url()).toContain("q=redis")
      await field.press("Escape")
      await page.keyboard.press("j")
      await page.keyboard.press("Enter")
      await page.waitForURL(new RegExp(`/sessions/${talk}\\?at=\\d+`))
      const target = page.locator(".turn-target")
      await target.waitFor()
      expect(await target.textContent()).toContain("why did we drop the redis cache?")
      await until(async () => ((await target.boundingBox())?.y ?? -1) >= 0, "it is on the screen")
      expect((await target.boundingBox())!.y).toBeLessThan(DESKTOP.height)
      expect(await page.locator(".turn").count()).toBeLessThan(60)
      await page.goBack()
      await expect.poll(() => field.inputValue()).toBe("redis cac")
    }))

  test("shows a session live while its agent talks, and what is sent from the page reaches its terminal", async () => {
    const agent = await d.agents.start({ name: "talker", cwd: join(d.home.env.HOME!, "projects", "free") })
    const id = await d.sessionOf(agent)
    await at("/", async ({ page, go, shift }) => {
      await page.locator(".card", { hasText: "tmux" }).first().waitFor()
      await go(`/sessions/${id}`)
      const box = page.getByRole("textbox", { name: "Message to the agent" })
      await box.fill("say something\nSLOW 1500\nREPLY the plums are ripe")
      await box.press("Control+Enter")
      const sent = page.getByRole("list", { name: "Messages that you sent" }).getByRole("listitem")
      await sent.waitFor()
      await page.evaluate(WATCH_STATES)
      await page.locator(".sent li[data-state=running]").waitFor()
      await page.locator(".turn-prompt", { hasText: "say something" }).waitFor()
      await page.locator(".turn-reply", { hasText: "the plums are ripe" }).waitFor()
      await page.locator(".sent li[data-state=done]").waitFor()
      const states = await page.evaluate<string[]>("states")
      expect(states.slice(-2)).toEqual(["running", "done"])
      expect(await shift(), "nothing jumps while it talks").toBeLessThan(0.1)
    })
    // As the owner's own words, with no header of mail around them.
    expect(agent.prompts()).toEqual(["say something\nSLOW 1500\nREPLY the plums are ripe"])
  })

  test("shows what an agent asks for, whole, and its answer is the owner's", async () => {
    const { messageId } = await d.ask("api", "<<RUN echo from the page » proof.txt; cat proof.txt>>", { timeout: 0 })
    await at("/teams", async ({ page }) => {
      const asks = page.locator(".ask", { hasText: "Bash" })
      await asks.waitFor()
      expect(await asks.locator("pre").first().textContent()).toBe("echo from the page > proof.txt; cat proof.txt")
      await asks.getByRole("button", { name: "Allow", exact: true }).click()
      await asks.waitFor({ state: "detached" })
    })
    expect(await d.until(messageId, ({ status }) => status === "done")).toMatchObject({ status: "done" })
    expect(readFileSync(join(d.dirOf("api"), "proof.txt"), "utf8")).toBe("from the page\n")
    const { entries } = await d.home.json<{ entries: { who: string; what: string }[] }>("audit")
    expect(entries[0]).toMatchObject({ who: "the owner", what: "permission.allowed" })
  })

  test("asks a team, and the matrix shows it while it runs", () =>
    at("/teams", async ({ page }) => {
      await page.getByRole("combobox", { name: "Team" }).selectOption("web")
      await page.getByRole("textbox", { name: "Question" }).fill("how is it? <<SLOW 1500>>")
      await page.getByRole("button", { name: "Ask", exact: true }).click()
      await page.locator(".cell-running").waitFor()
      expect(await page.locator(".cell-running").textContent()).toMatch(/you → web: .*asking/)
      await page.locator(".process, li", { hasText: /MB/ }).first().waitFor()
      await page.locator("article", { hasText: "1500" }).waitFor()
      await page.locator(".cell-running").waitFor({ state: "detached" })
    }))

  test("writes a setting that is right, and says what is wrong with another", () =>
    at("/health", async ({ page, troubles }) => {
      const field = page.locator("[id='setting permissions.timeoutMinutes']")
      const form = page.locator("form", { has: field })
      await field.fill("soon")
      await form.getByRole("button", { name: "Save" }).click()
      await form.getByRole("alert").waitFor()
      expect(await form.getByRole("alert").textContent()).toContain("permissions.timeoutMinutes")
      const file = () => readFileSync(join(d.home.dir, "config.json"), "utf8")
      expect(file()).not.toContain("soon")
      await field.fill("45")
      await form.getByRole("button", { name: "Save" }).click()
      await form.getByRole("alert").waitFor({ state: "detached" })
      await expect.poll(() => JSON.parse(file()).permissions?.timeoutMinutes).toBe(45)
      await form.getByText("config.json").waitFor()
      // The browser itself counts the refusal as an error of the page.
      expect(troubles.splice(0)).toEqual([expect.stringContaining("400")])
    }))

  test("shows at home what did not arrive, until a person has decided about it", async () => {
    const agent = await d.agents.start({ name: "dies", cwd: join(d.home.env.HOME!, "projects", "free") })
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
      expect(await stuck.textContent()).toContain("This did not arrive: the session ended before its turn was over")
      await stuck.getByRole("button", { name: "Say it again" }).click()
      await stuck.waitFor({ state: "detached" })
    })
    const first = await d.call<{ state: string; reason: string }>("queue.show", { id: sent[0]! })
    expect(first).toMatchObject({ state: "cancelled", reason: expect.stringMatching(/^said again as m-/) })
    const again = await d.call("queue.show", { id: first.reason.split(" ").at(-1)! })
    expect(again).toMatchObject({ state: "queued", target, from: "the owner", message: "long work\nSLOW 20000" })
    expect(await d.call("queue.settle", { id: sent[1]!, how: "leave" })).toEqual({
      settled: false,
      reason: "it is queued",
    })
  })

  test("copies the command that resumes a session, and hands it over to another agent", () =>
    at(`/sessions/${talk}`, async ({ page }) => {
      await page.getByRole("button", { name: "Copy resume command" }).click()
      await page.getByRole("button", { name: "Copied" }).waitFor()
      expect(await page.evaluate("navigator.clipboard.readText()")).toContain(`claude --resume ${TALK}`)
      await page.getByRole("button", { name: "Hand over…" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Codex" }).click()
      await page.getByRole("dialog").getByText("Codex can go on with it").waitFor()
      await page.keyboard.press("Escape")
    }))

  test("goes on where it was when the daemon is killed and started again", async () => {
    const agent = await d.agents.start({ name: "survivor", cwd: join(d.home.env.HOME!, "projects", "free") })
    const id = await d.sessionOf(agent)
    const { url } = d.home.registration()
    const open = await openPage(d.browser, d.home, `/sessions/${id}`)
    const line = open.page.locator(".nav-end")
    await line.filter({ hasText: "live" }).waitFor()
    await d.home.kill()
    await line.filter({ hasText: "connecting" }).waitFor()
    // The page stays at its address: the daemon comes back at the same port, as it does where one is set.
    const { code } = await d.home.run("start", "--set", `http.port=${new URL(url!).port}`)
    expect(code).toBe(0)
    d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "-l", "after the night")
    d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "Enter")
    await line.filter({ hasText: "live" }).waitFor()
    await open.page.locator(".turn-reply", { hasText: "Done: after the night" }).waitFor()
    await open.page.context().close()
  })
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
