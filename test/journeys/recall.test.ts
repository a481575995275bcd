import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { text as consume } from "node:stream/consumers"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { makeHome, spawnCli, type TestHome } from "../fixtures/daemon.ts"
import { runHook, spooled } from "../fixtures/hooks.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"
import { writeTalk } from "../fixtures/talk.ts"
import { proves } from "../promises.ts"

interface Exchanges {
  exchanges: { exchange_id: string; user: string; ai: string; session_id: string; project?: string }[]
  note?: string
}
interface Context {
  context_exchanges: { exchange_id: string }[]
  brief: string
  tokens_used: number
  message?: string
}

const SOON = { timeout: 60_000, interval: 50 }
const id = (number: number) => `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`
let home: TestHome
let agent: McpClient
let project: string
beforeAll(async () => {
  home = makeHome()
  project = join(home.env.HOME!, "harbour")
  const other = join(home.env.HOME!, "lighthouse")
  for (const dir of [project, other]) mkdirSync(dir)
  const talk = (number: number, cwd: string, lines: Parameters<typeof writeTalk>[1]["lines"]) =>
    writeTalk(home.env.HOME!, { sessionId: id(number), cwd, startedAt: `2026-0${number}-01T10:00:00Z`, lines })
  talk(1, project, [
    ["user", "Build the outbox: messages must survive a crash of the broker."],
    [
      "assistant",
      "We decided to use an outbox table with SKIP LOCKED, because two workers run. I edited src/outbox.ts.",
    ],
    ["user", "And the retries?"],
    ["assistant", "Retries wait with exponential backoff, at most thirty seconds. TODO: metrics are still missing."],
  ])
  talk(2, other, [
    ["user", "The outbox of the lighthouse blinks twice."],
    ["assistant", "It blinks twice because its relay bounces."],
  ])
  talk(3, project, [
    ["user", `${"x".repeat(20)} a long one: ${"harbour boats and cranes, ".repeat(400)}`],
    ["assistant", "Quays and cranes and boats everywhere. ".repeat(300)],
  ])
  await home.run("start")
  agent = await connect(home, { cwd: project })
  await vi.waitFor(async () => expect((await search({ query: "outbox" })).exchanges).toHaveLength(2), SOON)
})
afterAll(async () => {
  await agent.close()
  await home.dispose()
})

const search = (args: Record<string, unknown>) => agent.call<Exchanges>("search_conversation_history", args)

describe("an agent", () => {
  test("finds its own project's exchange first, and others after it", async () => {
    const { exchanges } = await search({ query: "outbox" })
    expect(exchanges.map(({ project }) => project)).toEqual(["harbour", "lighthouse"])
    expect(exchanges[0]).toMatchObject({ session_id: expect.any(String), ai: expect.stringContaining("SKIP LOCKED") })
  })

  test("can be filtered by project name or path, platform, session, role and time", async () => {
    const found = async (more: object) => (await search({ query: "outbox", ...more })).exchanges.length
    expect(await found({ project: "lighthouse" })).toBe(1)
    expect(await found({ project })).toBe(1)
    expect(await found({ project: "all" })).toBe(2)
    expect(await found({ platform: "codex" })).toBe(0)
    expect(await found({ session_id: id(2) })).toBe(1)
    expect(await found({ role: "assistant", project: "lighthouse" })).toBe(0)
    expect(await found({ since: "2026-02-01" })).toBe(1)
    expect(await found({ until: "2026-01-31" })).toBe(1)
    expect(await found({ branch: "main" })).toBe(0)
  })

  test("gets ten hits for less than 900 tokens", async () => {
    const many = await makeMany()
    const { exchanges } = await search({ query: "pelican", n_results: 10 })
    expect(exchanges).toHaveLength(10)
    expect(countTokens(JSON.stringify({ exchanges }))).toBeLessThanOrEqual(900)
    expect(many).toBeGreaterThan(10)
  })

  test("says when nothing matches, and explains bad input", async () => {
    expect((await search({ query: "xylophone" })).note).toContain("other words")
    expect((await search({ query: "the" })).exchanges.length).toBeGreaterThan(0)
    expect((await search({ query: '"' })).note).toContain("no word")
    expect(await agent.refused("search_conversation_history", { query: "" })).toContain("query")
    expect(await agent.refused("search_conversation_history", { query: "x", project: "nowhere" })).toContain("nowhere")
    expect(await agent.refused("search_conversation_history", { query: "x", since: "soon" })).toContain("since")
    expect(await agent.refused("search_conversation_history", { query: "x", platform: "none" })).toContain("none")
  })
})

describe("a brief", () => {
  const resume = (args: Record<string, unknown> = {}) => agent.call<Context>("resume_session_context", args)

  test.each([60, 500, 2_000, 8_000])(
    `of %d tokens is not longer. ${proves("resume.within-budget")}`,
    async (tokens) => {
      for (const session_id of [id(1), id(3)]) {
        const answer = await resume({ session_id, max_context_tokens: tokens, current_query: "outbox retries" })
        expect(countTokens(answer.brief)).toBeLessThanOrEqual(tokens)
        expect(countTokens(JSON.stringify(answer))).toBeLessThanOrEqual(tokens + 80)
        expect(answer.tokens_used).toBeLessThanOrEqual(tokens)
      }
    },
  )

  test("has the goal, decisions, touched files, open items and the last words", async () => {
    const { brief, context_exchanges } = await resume({ session_id: id(1) })
    for (const part of [
      "Build the outbox",
      "SKIP LOCKED",
      "src/outbox.ts",
      "metrics are still missing",
      "And the retries?",
    ])
      expect(brief).toContain(part)
    expect(context_exchanges.length).toBeGreaterThan(0)
  })

  test("without an id is of this project's newest session; without a session the answer says what to do", async () => {
    expect((await resume()).brief).toContain("harbour")
    const stranger = await connect(home, { cwd: home.env.HOME! })
    const { brief, message } = await stranger.call<Context>("resume_session_context", {})
    expect([brief, message]).toEqual(["", expect.stringContaining("Nothing is stored")])
    await stranger.close()
  })
})

describe(`a session that begins. ${proves("resume.at-start")}`, () => {
  const begin = async (settings: Record<string, string>, source: string) => {
    const own = makeHome(settings)
    try {
      await own.json("setup", "claude-code", "--yes")
      const cwd = join(own.env.HOME!, "harbour")
      mkdirSync(cwd)
      writeTalk(own.env.HOME!, {
        sessionId: id(1),
        cwd,
        startedAt: "2026-01-01T10:00:00Z",
        lines: [
          ["user", "Build the outbox."],
          ["assistant", "We decided to use SKIP LOCKED."],
        ],
      })
      await own.run("start")
      await own.json("import")
      const payload = { hook_event_name: "SessionStart", session_id: "new", cwd, source }
      const { output, code } = await runHook(own, payload)
      expect(code).toBe(0)
      expect(await onNode(own, payload)).toBe(output)
      expect(spooled(own)).toEqual([])
      return output
    } finally {
      await own.dispose()
    }
  }
  /** As hooks run where there is no sh. */
  const onNode = async (own: TestHome, payload: object) => {
    const child = spawnCli(own, ["hook", "claude-code"])
    child.stdin.end(JSON.stringify(payload))
    return consume(child.stdout)
  }
  const contextIn = (output: string) =>
    (JSON.parse(output) as { hookSpecificOutput: { hookEventName: string; additionalContext: string } })
      .hookSpecificOutput.additionalContext

  test("learns that there is a session to resume", async () => {
    const told = contextIn(await begin({}, "startup"))
    expect(told).toContain("resume_session_context")
    expect(told).not.toContain("SKIP LOCKED")
    expect(countTokens(told)).toBeLessThanOrEqual(200)
  })

  test("gets the brief if configured, within its budget", async () => {
    const told = contextIn(
      await begin({ THROUGHLINE_RESUME_ON_START: "brief", THROUGHLINE_RESUME_MAX_TOKENS: "120" }, "clear"),
    )
    expect(told).toContain("SKIP LOCKED")
    expect(countTokens(told)).toBeLessThanOrEqual(120)
  })

  test("gets nothing if that is off, or if it is resumed", async () => {
    expect(await begin({ THROUGHLINE_RESUME_ON_START: "off" }, "startup")).toBe("")
    expect(await begin({}, "resume")).toBe("")
  })
})

describe("a person", () => {
  test("searches, opens a hit in context, and gets the command to resume", async () => {
    const { stdout } = await home.run("search", "skip locked")
    expect((await home.run("search", "skip", "locked")).stdout).toBe(stdout)
    expect(stdout).toMatch(/^[0-9a-f]{8} {2}2026-01-01 10:01 {2}claude-code {2}harbour/)
    const opened = await home.run("search", "skip locked", "--open")
    expect(opened.stdout).toContain("> And the retries?")
    expect((await home.run("search", "skip locked", "--open", "7")).stderr).toContain("--open 7")
    for (const words of [["skip locked"], ["skip", "locked"]])
      expect((await home.run("resume", ...words)).stdout).toContain(`claude --resume ${id(1)}`)
    expect((await home.run("resume", id(2))).stdout).toContain("lighthouse")
    expect((await home.run("search")).stderr).toContain("throughline search <words>")
  })

  test("rebuilds the index, also when it was deleted under the daemon", async () => {
    const { documents } = await home.json<{ documents: number }>("reindex")
    expect(documents).toBeGreaterThan(8)
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(home.dir, `index.db${suffix}`), { force: true })
    await expect
      .poll(async () => (await home.json<{ hits: unknown[]; complete: boolean }>("search", "outbox")).hits.length, SOON)
      .toBe(2)
  })
})

async function makeMany(): Promise<number> {
  const lines = Array.from({ length: 24 }, (_, index) => [
    ["user", `Question ${index} about the pelican on quay ${index}: ${"why does it sit there, ".repeat(8)}`] as const,
    [
      "assistant",
      `Answer ${index}: the pelican of quay ${index} ${"waits for fish that fall from the crane; ".repeat(8)}`,
    ] as const,
  ])
  for (const [index, pair] of lines.entries()) {
    writeTalk(home.env.HOME!, {
      sessionId: id(100 + index),
      cwd: project,
      startedAt: "2026-04-01T10:00:00Z",
      lines: pair,
    })
  }
  await home.json("import")
  await expect.poll(async () => (await search({ query: "pelican", n_results: 50 })).exchanges.length, SOON).toBe(24)
  return lines.length
}
