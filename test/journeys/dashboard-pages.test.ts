import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { DESKTOP, type OpenPage, openPage, PHONE, until } from "../fixtures/browser.ts"
import { type Dashboard, makeDashboard } from "../fixtures/dashboard.ts"
import { type Line, writeTalk } from "../fixtures/talk.ts"

const SHOP = "aaaaaaaa-0000-4000-8000-000000000001"
const STORE = "aaaaaaaa-0000-4000-8000-000000000002"
let d: Dashboard
beforeAll(async () => {
  d = await makeDashboard({ api: {} })
  await d.tell(SHOP, [
    ["user", "why is the pomegranate cart slow?"],
    [
      "assistant",
      [
        {
          type: "tool_use",
          id: "t1",
          name: "Bash",
          input: { description: "Find it", command: "grep -rn pomegranate src" },
        },
      ],
    ],
    ["user", [{ type: "tool_result", tool_use_id: "t1", content: "src/cart.ts:3: // pomegranate" }]],
    ["assistant", "Because the cart is read twice."],
  ])
  await talkOn("feature/juice", STORE, "store", [
    ["user", "where do we keep the pomegranate juice?"],
    ["assistant", "In the cellar."],
  ])
}, 240_000)
afterAll(() => d?.dispose())

/** On a branch of a project of its own. */
async function talkOn(branch: string, native: string, project: string, lines: readonly Line[]): Promise<void> {
  const startedAt = new Date(Date.now() - 7_200_000).toISOString()
  const path = writeTalk(d.home.env.HOME!, {
    sessionId: native,
    cwd: join(d.home.env.HOME!, "projects", project),
    startedAt,
    lines,
  })
  const records = readFileSync(path, "utf8").trim().split("\n")
  const onBranch = records.map((line) => JSON.stringify({ ...JSON.parse(line), gitBranch: branch }))
  writeFileSync(path, `${onBranch.join("\n")}\n`)
  await until(async () => {
    const { projects } = await d.call<{ projects: { branches: { branch: string }[] }[] }>("projects.list", {})
    const { search } = await d.call<{ search: { behind?: number } }>("status", {})
    return search.behind === 0 && projects.some(({ branches }) => branches.some((one) => one.branch === branch))
  }, `${branch} is known`)
}

/** Opens it, and closes it when the test is over; nothing may have gone wrong in it. */
async function at<T>(path: string, what: (open: OpenPage) => Promise<T>, viewport = DESKTOP): Promise<T> {
  const open = await openPage(d.browser, d.home, path, { viewport })
  try {
    const result = await what(open)
    expect(open.troubles).toEqual([])
    return result
  } finally {
    await open.page.context().close()
  }
}

const hits = (page: Page) => page.getByRole("list", { name: "Results" }).getByRole("listitem")
const addressOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

describe("the search page", () => {
  test("is filtered by a project and a branch through the URL, and each filter can be cleared", () =>
    at("/search?q=pomegranate", async ({ page, go }) => {
      await expect.poll(() => hits(page).count()).toBe(2)
      const project = page.getByRole("combobox", { name: "Project" })
      await expect.poll(() => project.locator("option").allTextContents()).toEqual(["Any project", "shop", "store"])
      await project.selectOption("store")
      await expect.poll(() => hits(page).count()).toBe(1)
      expect(await hits(page).first().textContent()).toContain("where do we keep the pomegranate juice?")
      const branch = page.getByRole("combobox", { name: "Branch" })
      expect(await branch.locator("option").allTextContents()).toEqual(["Any branch", "feature/juice"])
      await branch.selectOption("feature/juice")
      await expect.poll(() => addressOf(page).branch).toBe("feature/juice")
      const shared = page.url()

      // Of a project that has no such branch, the branch goes with the old one.
      await project.selectOption("shop")
      await expect.poll(() => hits(page).first().textContent()).toContain("why is the pomegranate cart slow?")
      expect(addressOf(page)).toMatchObject({ q: "pomegranate", project: expect.stringMatching(/\/shop$/) })
      expect(addressOf(page).branch).toBeUndefined()

      await go(shared.slice(new URL(shared).origin.length))
      await expect.poll(() => branch.inputValue()).toBe("feature/juice")
      await expect.poll(() => hits(page).count()).toBe(1)
      await page.getByRole("button", { name: "Clear: in store" }).click()
      await expect.poll(() => addressOf(page)).toEqual({ q: "pomegranate", branch: "feature/juice" })
      await page.getByRole("combobox", { name: "Role" }).selectOption("You")
      await page.getByRole("button", { name: "Clear all filters" }).click()
      await expect.poll(() => addressOf(page)).toEqual({ q: "pomegranate" })
      await expect.poll(() => hits(page).count()).toBe(2)
    }))

  test("says that nothing was found, and widens the search by keyboard and on a phone", () =>
    at(
      "/search?q=pomegranate&branch=gone&role=user",
      async ({ page }) => {
        const empty = page.locator(".empty")
        await empty.getByText("No results for “pomegranate” on branch gone from you.").waitFor()
        expect(await page.getByRole("combobox", { name: "Branch" }).inputValue()).toBe("gone")
        await empty.getByRole("button", { name: "Clear branch filter" }).focus()
        await page.keyboard.press("Enter")
        await hits(page).first().waitFor()
        expect(addressOf(page)).toEqual({ q: "pomegranate", role: "user" })
        // The last filter is out of sight at this width, and comes into it when the keyboard is at it.
        const when = page.getByRole("combobox", { name: "Time" })
        await page.getByRole("searchbox").focus()
        const isThere = () => page.evaluate<boolean>("document.activeElement.ariaLabel === 'Time'")
        for (let step = 0; step < 8 && !(await isThere()); step++) await page.keyboard.press("Tab")
        expect(await isThere()).toBe(true)
        const rightEnd = async () => {
          const { x, width } = (await when.boundingBox())!
          return x + width
        }
        await expect.poll(rightEnd).toBeLessThanOrEqual(PHONE.width)
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width)
      },
      PHONE,
    ))

  test("shows a tool call in readable form, with matches highlighted", () =>
    at("/search?q=pomegranate+grep&role=tool", async ({ page }) => {
      const hit = hits(page).filter({ hasText: "grep" }).first()
      await hit.waitFor()
      expect(await hit.locator(".snippet").textContent()).toBe("Bash grep -rn pomegranate src · description: Find it")
      expect(await hit.locator("mark").allTextContents()).toEqual(["grep", "pomegranate"])
    }))
})

describe("the analytics page", () => {
  test("has a descriptive name for every plot, and its data one click away", () =>
    at("/analytics", async ({ page }) => {
      const plots = page.getByRole("img")
      await plots.first().waitFor()
      await d.ask("api", "<<SAY hello>>")
      await page.getByRole("button", { name: "7 days" }).click()
      await page.getByRole("list", { name: "Asks of each pair" }).getByText("you → api").waitFor()
      const names = await page.evaluate<string[]>(
        "[...document.querySelectorAll('[role=img]')].map((one) => one.ariaLabel)",
      )
      expect(names).toContainEqual(expect.stringMatching(/^Prompts per day, by agent: Claude Code \d+$/))
      expect(names).toContainEqual(expect.stringMatching(/^Tokens by project: .*\d/))
      const lasted = page.getByRole("list", { name: "Sessions by length" }).getByRole("listitem")
      expect(await lasted.count()).toBe(7)
      const sessions = (await lasted.allTextContents()).map((text) => Number(/(\d+) sessions?$/.exec(text)![1]))
      expect(sessions.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(3)
      await page
        .getByRole("list", { name: "Response time by pair" })
        .getByText(/median/)
        .waitFor()
      const numbers = page.locator("details", { hasText: "Show data: Prompts per day, by agent" })
      expect(await numbers.locator("table").isVisible()).toBe(false)
      await numbers.locator("summary").click()
      const head = await numbers.locator("thead th").allTextContents()
      expect(head).toEqual(["Day", "Claude Code"])
      expect(await numbers.locator("tbody tr").last().textContent()).toMatch(/^Total\d+$/)
    }))
})

/** A hook of an agent that asks; answers with what the hook prints. */
function hookAsks(tool: string, input: object): Promise<string> {
  const child = spawn(join(d.home.dir, "hook.sh"), ["claude-code", "ask"], {
    env: { ...d.home.env, CLAUDE_CODE_ENTRYPOINT: "cli" },
    stdio: "pipe",
  })
  const payload = { hook_event_name: "PermissionRequest", session_id: SHOP, cwd: d.home.env.HOME }
  child.stdin.end(JSON.stringify({ ...payload, tool_name: tool, tool_input: input }))
  let said = ""
  child.stdout.on("data", (chunk) => (said += chunk))
  return once(child, "close").then(() => said)
}

describe("the home page", () => {
  test("shows an agent's questions: single choice, multiple choice and free text, answered together", async () => {
    const questions = [
      {
        question: "Which store?",
        header: "Store",
        options: [{ label: "Redis", description: "fast" }, { label: "Postgres" }],
        multiSelect: false,
      },
      {
        question: "What to build?",
        header: "Build",
        options: [{ label: "Tests, all of them" }, { label: "Docs" }, { label: "Pictures" }],
        multiSelect: true,
      },
      {
        question: "Which name?",
        header: "Name",
        options: [{ label: "basket" }, { label: "cart" }],
        multiSelect: false,
      },
    ]
    await at("/", async ({ page }) => {
      await page.getByText("Needs your attention").waitFor()
      const printed = hookAsks("AskUserQuestion", { questions })
      const form = page.locator(".ask", { hasText: "Which store?" })
      await form.waitFor()
      const answer = form.getByRole("button", { name: "Answer" })
      const group = (name: string) => form.getByRole("group", { name: new RegExp(`^${name.replace("?", "\\?")}`) })
      expect(await group("Which store?").textContent()).toContain("Redis fast")
      await group("Which store?").getByRole("radio", { name: "Redis" }).check()
      await group("Which store?").getByRole("radio", { name: "Postgres" }).check()
      expect(await group("Which store?").getByRole("radio", { name: "Redis" }).isChecked()).toBe(false)
      const build = group("What to build?")
      for (const name of ["Docs", "Pictures", "Tests, all of them"]) await build.getByRole("checkbox", { name }).check()
      await build.getByRole("checkbox", { name: "Docs" }).uncheck()
      await build.getByRole("textbox", { name: "Your answer: What to build?" }).fill("a poem")
      expect(await answer.isDisabled(), "one is not answered yet").toBe(true)
      await form.getByText("1 to answer").waitFor()
      const name = group("Which name?")
      await name.getByRole("radio", { name: "cart" }).check()
      await name.getByRole("textbox").fill("trolley")
      expect(await name.getByRole("radio", { name: "cart" }).isChecked(), "own words take its place").toBe(false)
      await answer.click()
      await form.waitFor({ state: "detached" })
      const { decision } = JSON.parse(await printed).hookSpecificOutput
      expect(decision).toMatchObject({ behavior: "allow" })
      expect(decision.updatedInput.answers).toEqual({
        "Which store?": "Postgres",
        "What to build?": "Tests, all of them, Pictures, a poem",
        "Which name?": "trolley",
      })
    })
  })

  test("keeps an agent's question pending while any page is visible, and every page shows it", () =>
    at("/search", async ({ page }) => {
      const home = page.getByRole("link", { name: /^Home/ })
      // Longer than one look lasts.
      await page.waitForTimeout(16_500)
      const printed = hookAsks("Bash", { command: "make jam" })
      await expect.poll(() => home.textContent()).toBe("Home1 pending")
      expect(await page.title()).toBe("(1) Throughline")
      expect((await d.home.run("waiting")).stdout).toMatch(/wants Bash[\s\S]*command: make jam/)
      await home.click()
      await page.locator(".ask", { hasText: "make jam" }).getByRole("button", { name: "Allow", exact: true }).click()
      expect(JSON.parse(await printed).hookSpecificOutput.decision).toEqual({ behavior: "allow" })
      await expect.poll(() => home.textContent()).toBe("Home")
      expect(await page.title()).toBe("Throughline")
      expect((await d.home.run("waiting")).stdout).toBe("Nothing needs you right now.\n")
    }))

  test("shows each running agent's state, its last words and how to reach it", async () => {
    const agent = await d.agents.start({ name: "walnut", cwd: join(d.home.env.HOME!, "projects", "free") })
    const target = `session:${await d.sessionOf(agent)}`
    await at("/", async ({ page }) => {
      const card = page.locator(".card", { hasText: `tmux ${agent.pane.pane}` })
      await card.waitFor()
      await d.call("send_message", { target, message: "crack it\nSLOW 2500\nREPLY the walnut is open" })
      await card.locator(".state-busy").waitFor()
      await expect.poll(() => card.textContent(), { timeout: 60_000 }).toMatch(/Last message: .*crack it/)
      await card.locator(".words", { hasText: "the walnut is open" }).waitFor()
      await card.locator(".state-idle").waitFor()
      expect(await card.textContent()).toContain(`Reachable through: tmux ${agent.pane.pane}`)
      expect(await card.textContent()).toContain("Project: free")
      const link = card.getByRole("link")
      expect(await link.getAttribute("href")).toBe(`/sessions/${target.slice("session:".length)}`)
      // What runs is not among the recent ones as well.
      const recent = page.getByRole("region", { name: "Recent sessions" })
      expect(await recent.locator(`a[href="${await link.getAttribute("href")}"]`).count()).toBe(0)
      expect(await recent.getByRole("link", { name: "where do we keep the pomegranate juice?" }).count()).toBe(1)
    })
  })
})

describe("the session page", () => {
  test("deletes a session permanently, after naming the amount and getting a confirmation", async () => {
    const sessionId = await d.tell("aaaaaaaa-0000-4000-8000-000000000009", [
      ["user", "what is the marzipan recipe?"],
      ["assistant", "Almonds and sugar."],
    ])
    const isKept = async () => {
      const { sessions } = await d.call<{ sessions: { id: string }[] }>("sessions.list", { limit: 1000 })
      return sessions.some(({ id }) => id === sessionId)
    }
    await at(`/sessions/${sessionId}`, async ({ page }) => {
      const dialog = page.getByRole("dialog", { name: "Delete this session permanently?" })
      const ask = () => page.getByRole("button", { name: "Delete…" }).click()
      await ask()
      await dialog.getByText("2 messages will be deleted.").waitFor()
      await dialog.getByRole("button", { name: "Cancel" }).click()
      await expect.poll(() => dialog.count()).toBe(0)
      expect(await isKept()).toBe(true)
      await ask()
      await dialog.getByRole("button", { name: "Delete permanently" }).click()
      await page.waitForURL((url) => url.pathname === "/")
    })
    expect(await isKept()).toBe(false)
    const { hits: found } = await d.call<{ hits: unknown[] }>("search", { query: "marzipan" })
    expect(found).toEqual([])
    const { entries } = await d.call<{ entries: unknown[] }>("audit", {})
    expect(JSON.stringify(entries)).toContain(sessionId)
  })

  test("shows the line through sessions, and goes along it", async () => {
    const agent = await d.agents.start({ name: "cleared", cwd: join(d.home.env.HOME!, "projects", "free") })
    const before = await d.sessionOf(agent)
    const say = (text: string) => {
      d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "-l", text)
      d.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "Enter")
    }
    say("first things first")
    await agent.until((log) => log.some(({ kind }) => kind === "prompt"))
    await until(async () => {
      const { turns } = await d.call<{ turns: unknown[] }>("sessions.outline", { sessionId: before })
      return turns.length >= 2
    }, "the first session is kept")
    const native = String(agent.registry()?.sessionId)
    say("/clear")
    await until(() => (agent.registry()?.sessionId ?? native) !== native, "another session is there")
    say("and now the second")
    const after = await d.sessionOf(agent)
    await at(`/sessions/${after}`, async ({ page }) => {
      const line = page.getByRole("list", { name: "Related sessions" })
      await line.getByRole("link").waitFor()
      expect(await line.locator("[aria-current]").count()).toBe(1)
      await expect.poll(() => line.getByRole("listitem").last().getAttribute("aria-current")).toBe("true")
      await line.getByRole("link").click()
      await page.waitForURL(new RegExp(`/sessions/${before}`))
      await page.locator(".turn-prompt", { hasText: "first things first" }).waitFor()
      // There it goes on the other way.
      await expect.poll(() => line.getByRole("listitem").first().getAttribute("aria-current")).toBe("true")
    })
  })

  test("shows thoughts as a tree with branches at their origin, and no empty boxes", async () => {
    const started = { operation: "start_new", title: "Where orders are lost", mcpRootUri: d.dirOf("api") }
    const { session } = await d.call<{ session: { id: string } }>("init", started)
    const sessionId = session.id
    const think = (thought: string, more: object = {}) =>
      d.call("thought", { thought, nextThoughtNeeded: true, sessionId, ...more })
    for (const thought of ["It is lost at the charge.", "Or **later**.", "Then at the slip."]) await think(thought)
    await think("An outbox would keep it.", { branchFromThought: 2, branchId: "outbox" })
    await think("It would not.", { branchId: "outbox", branchFromThought: 2 })
    await at(`/sessions/${sessionId}`, async ({ page }) => {
      const tree = page.getByRole("region", { name: "Thoughts" })
      const main: Locator = tree.locator(".thoughts > li")
      await expect.poll(() => main.count()).toBe(3)
      expect(await main.nth(1).locator("strong").first().textContent()).toBe("later")
      const branch = main.nth(1).getByRole("group")
      expect(await branch.locator("summary").textContent()).toBe("outbox 2 thoughts")
      expect(await branch.getByRole("listitem").count()).toBe(2)
      await branch.locator("summary").click()
      expect(await branch.getByText("It would not.").isVisible()).toBe(false)
      expect((await main.nth(0).locator(".branch").count()) + (await main.nth(2).locator(".branch").count())).toBe(0)
      await think("So be it.")
      await expect.poll(() => main.count(), { message: "live while it is thought" }).toBe(4)
      expect(await page.getByRole("textbox", { name: "Message to the agent" }).count()).toBe(0)
    })
  })
})
