import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import type { McpClient } from "../fixtures/mcp.ts"
import { samples } from "../fixtures/platform-samples.ts"
import { type Transcript, transcriptOf } from "../fixtures/transcript.ts"

const SOON = { timeout: 90_000, interval: 200 }

interface Logged {
  status: string
  exchange_id: string
  log_file: string
  exchange_count: number
}
interface Found {
  query: string
  exchanges: { user: string; ai: string; timestamp: string; session_id: string }[]
  message: string
}
interface Extracted {
  sessions: {
    session_id: string
    native_id: string
    title: string
    exchanges: { user: string; ai: string; timestamp: string }[]
  }[]
}
interface Resumed {
  context_exchanges: { session_id: string; timestamp: string; user: string }[]
  brief: string
  message?: string
  tokens_used: number
}

/** The tools and the folder of praxis-os, one after another, as its users have them. */
describe("somebody who comes from praxis-os", () => {
  let home: TestHome
  let talk: Transcript
  let agent: McpClient
  let project: string

  const sync = (args: Record<string, unknown>) =>
    agent.call<{ status: string; message: string; platform?: string }>("sync_conversation_history", args)
  const extract = async (args: Record<string, unknown>) =>
    (await agent.call<Extracted>("extract_session_history", args)).sessions
  const search = (args: Record<string, unknown>) => agent.call<Found>("search_conversation_history", args)
  /** As `echo '…' >> file` does it. */
  const append = (file: string, ...records: object[]) => {
    mkdirSync(join(file, ".."), { recursive: true })
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join("")
    talk.said(`$ echo '${text.trimEnd()}' >> ${file}`, "")
    appendFileSync(file, text)
  }
  beforeAll(async () => {
    home = makeHome()
    talk = transcriptOf("praxis-os", home)
    project = join(home.env.HOME!, "shop")
    mkdirSync(project)
    samples.cursor!(home.env.HOME!, { prompts: ["Paint the basket green"], unknown: 0 })
    samples.cline!(home.env.HOME!, { prompts: ["Measure the queue"], unknown: 0 })
    samples["claude-code"]!(home.env.HOME!, { prompts: ["Count the parcels"], unknown: 0 })
    append(join(project, ".praxis-os/.conversations/session-old1.jsonl"), {
      type: "exchange",
      timestamp: "2025-10-25T14:30:00Z",
      user: "What are embeddings?",
      ai: "Embeddings are vectors of meaning.",
      session_id: "old1",
    })
    await talk.cli("start")
    agent = await talk.agent("agent", { cwd: project })
  })
  afterAll(async () => {
    await agent?.close()
    await home.dispose()
  })

  test("log_conversation_exchange has the same parameters, answer and log lines as in praxis-os", async () => {
    talk.note("An agent logs an exchange.")
    const logged = await agent.call<Logged>("log_conversation_exchange", {
      user_message: "Why is the checkout slow?",
      ai_response: "It asks the stock service once for each article.",
      session_id: "abc123",
      timestamp: "2026-10-25T14:30:00Z",
      metadata: { topic: "performance", tags: ["checkout"] },
    })
    const log = join(project, ".throughline/conversations/session-abc123.jsonl")
    expect(logged).toEqual({ status: "logged", exchange_id: expect.any(String), log_file: log, exchange_count: 1 })
    expect(JSON.parse(readFileSync(log, "utf8"))).toMatchObject({
      type: "exchange",
      v: 1,
      timestamp: "2026-10-25T14:30:00.000Z",
      user: "Why is the checkout slow?",
      ai: "It asks the stock service once for each article.",
      session_id: "abc123",
      metadata: { topic: "performance", tags: ["checkout"] },
    })
    expect(readdirSync(join(log, "..")).sort()).toEqual([".gitignore", "README.md", "session-abc123.jsonl"])
    expect(readFileSync(join(log, "../.gitignore"), "utf8").trim().split("\n")).toContain("*")
    expect(readFileSync(join(log, "../README.md"), "utf8")).toMatch(/context_reset[\s\S]*session_resume/)
  })

  test("a second exchange is appended to the log, also after a crash, and the time may be left out", async () => {
    await home.kill()
    const before = Date.now()
    const logged = await agent.call<Logged>("log_conversation_exchange", {
      user_message: "And the basket?",
      ai_response: "It is fast.",
      session_id: "abc123",
    })
    expect(logged.exchange_count).toBe(2)
    await home.kill()
    const lines = readFileSync(logged.log_file, "utf8").trim().split("\n")
    expect(lines).toHaveLength(2)
    expect(Date.parse(JSON.parse(lines[1]!).timestamp)).toBeGreaterThanOrEqual(before - 1_000)
  })

  test("lines that an agent echoes into the folder are read, with resets, resumptions and lines that are broken", async () => {
    talk.note("Agents without the tool append to the file themselves.")
    const file = join(project, ".throughline/conversations/current-session.jsonl")
    const common = { timestamp: "2026-10-25T15:00:00Z", session_id: "def456" }
    append(file, { type: "exchange", ...common, user: "Tell me about MTEB", ai: "MTEB is a benchmark." })
    appendFileSync(file, "{ this is no JSON\n")
    append(
      file,
      { type: "context_reset", timestamp: "2026-10-25T15:01:00Z", reason: "context_limit", session_id: "def456" },
      { type: "session_resume", timestamp: "2026-10-25T15:02:00Z", previous_session: "def456", new_session: "ghi789" },
      { type: "exchange", ...common, session_id: "ghi789", user: "Go on with MTEB", ai: "It has many tasks." },
    )
    const of = (session_id: string) =>
      agent
        .call<Extracted>("extract_session_history", { platform: "conversation-log", session_id })
        .catch(() => undefined)
    await expect.poll(async () => (await of("ghi789"))?.sessions.length, SOON).toBe(1)
    const later = (await of("ghi789"))!.sessions[0]!
    const earlier = (await of("def456"))!.sessions[0]!
    expect(earlier.exchanges).toMatchObject([{ user: "Tell me about MTEB", ai: "MTEB is a benchmark." }])
    const shown = await home.json<{ lineage: object[] }>("sessions", "show", later.session_id)
    expect(shown.lineage).toMatchObject([{ kind: "resume", parentNativeId: "def456" }])
    const { turns } = await home.json<{ turns: { kind: string; text: string }[] }>(
      "sessions",
      "show",
      earlier.session_id,
    )
    expect(turns.at(-1)).toMatchObject({ kind: "reset", text: "context_limit" })
  })

  test("praxis-os's files in .praxis-os/.conversations are read, and marked as untrusted until a person vouches for them", async () => {
    const of = async () => (await search({ query: "embeddings vectors", project: "all" })).exchanges
    await expect.poll(async () => (await of()).length, SOON).toBe(1)
    expect(await of()).toMatchObject([
      { user: "What are embeddings?", timestamp: expect.stringMatching(/^2025-10-25T14:30/), untrusted: true },
    ])
    expect((await talk.cli("sources", "trust", project)).code).toBe(0)
    expect((await of())[0]).not.toHaveProperty("untrusted")
  })

  test("search_conversation_history takes query, session_id and n_results, and answers with exchanges", async () => {
    talk.note("A new session looks for what was said.")
    await expect.poll(async () => (await search({ query: "checkout slow" })).exchanges.length, SOON).toBeGreaterThan(0)
    const found = await search({ query: "checkout slow", session_id: "abc123", n_results: 1 })
    expect(found.query).toBe("checkout slow")
    expect(existsSync(join(home.dir, "index.db")), "the index is no part of the project").toBe(true)
    expect(existsSync(join(project, ".praxis-os/.cache"))).toBe(false)
    expect(found.exchanges).toMatchObject([
      {
        user: expect.stringContaining("checkout slow"),
        ai: expect.stringContaining("stock service"),
        timestamp: expect.stringMatching(/^2026-10-25T14:30/),
        session_id: expect.any(String),
        native_id: "abc123",
      },
    ])
    expect((await search({ query: "checkout slow", session_id: "ghi789" })).exchanges).toEqual([])
    expect(await agent.refused("search_conversation_history", { query: "x", session_id: "nobody" })).toContain("nobody")
  })

  test("the default is three results", async () => {
    for (let nth = 1; nth <= 5; nth++)
      await agent.call("log_conversation_exchange", {
        user_message: `Which lorry brings parcel ${nth}?`,
        ai_response: `Lorry ${nth} brings it.`,
        session_id: "lorries",
      })
    await expect
      .poll(async () => (await search({ query: "lorry parcel", n_results: 9 })).exchanges.length, SOON)
      .toBeGreaterThanOrEqual(5)
    const three = await search({ query: "lorry parcel" })
    expect([three.exchanges.length, three.message]).toEqual([3, "Found 3 relevant past exchanges"])
    expect((await search({ query: "lorry 4", n_results: 1 })).message).toBe("Found 1 relevant past exchange")
    expect((await search({ query: "zebra crossing" })).message).toBe("Found 0 relevant past exchanges")
    expect(await agent.text("search_conversation_history", { query: "lorry parcel" })).toMatch(
      /^Found 3 relevant past exchanges\n/,
    )
  })

  test("resume_session_context takes current_query, session_id and max_context_tokens, and stays within the budget", async () => {
    const resume = (args: Record<string, unknown>) => agent.call<Resumed>("resume_session_context", args)
    const whole = await resume({ current_query: "checkout slow", session_id: "abc123" })
    expect(whole.brief).toContain("stock service")
    expect(whole.context_exchanges).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ user: expect.stringContaining("checkout"), timestamp: expect.any(String) }),
      ]),
    )
    const named = whole.context_exchanges.length
    expect(whole.message).toBe(`Found ${named} relevant past exchange${named === 1 ? "" : "s"}`)
    expect(whole.tokens_used).toBeGreaterThan(0)
    expect(whole.tokens_used).toBeLessThanOrEqual(2000)
    const small = await resume({ current_query: "lorry", session_id: "lorries", max_context_tokens: 80 })
    expect(small.tokens_used).toBeLessThanOrEqual(80)
    expect(await resume({})).toMatchObject({ brief: expect.any(String), tokens_used: expect.any(Number) })
  })

  test("sync_conversation_history: push is ready, Cline is read automatically, and an unknown agent is told to log", async () => {
    expect(await sync({ mode: "push" })).toMatchObject({
      status: "ready",
      message: expect.stringContaining("log_conversation_exchange"),
    })
    const unknown = { status: "push_required", message: expect.stringContaining("Use log_conversation_exchange") }
    expect(await sync({ mode: "auto" })).toMatchObject(unknown)
    expect(await sync({}), "auto is the default").toMatchObject(unknown)
    const cline = await talk.agent("Cline", { cwd: project, name: "Cline" })
    expect(await cline.call("sync_conversation_history", {})).toMatchObject({ status: "synced", platform: "cline" })
    await cline.close()
    expect(await sync({ mode: "pull", platform: "cline" })).toMatchObject({ status: "synced", platform: "cline" })
    expect(await agent.refused("sync_conversation_history", { mode: "sideways" })).toMatch(/auto.*pull.*push/)
  })

  test.each([
    ["cursor", "Paint the basket green"],
    ["cline", "Measure the queue"],
    ["claude-code", "Count the parcels"],
  ])("extract_session_history reads %s's own files, older ones included", async (platform, said) => {
    const sessions = await extract({ platform })
    expect(sessions).toHaveLength(1)
    expect(sessions[0]).toMatchObject({
      session_id: expect.any(String),
      native_id: expect.any(String),
      title: expect.stringContaining(said),
    })
    expect(sessions[0]!.exchanges[0]).toMatchObject({ user: said, timestamp: expect.stringMatching(/^2026-08-01T/) })
  })

  test("extract_session_history takes a folder or its URI as workspace_id, and refuses an unknown platform", async () => {
    const ids = async (workspace_id: string) =>
      (await extract({ platform: "conversation-log", workspace_id, limit: 20 })).map(({ native_id }) => native_id)
    expect(await ids(project)).toEqual(expect.arrayContaining(["abc123", "lorries"]))
    expect(await ids(pathToFileURL(project).href)).toEqual(await ids(project))
    expect(await agent.refused("extract_session_history", { platform: "notepad" })).toContain(
      'platform: unknown agent "notepad"',
    )
  })

  test.each([
    ["cursor-rules", ".cursorrules"],
    ["cline-rules", ".clinerules"],
  ])(
    "setup %s writes the instruction to log into the project's rules, and unsetup takes it out",
    async (name, file) => {
      // The rules of the folder that it is typed in, which is the home folder here.
      const path = join(home.env.HOME!, file)
      expect((await talk.cli("setup", name, "--yes")).code).toBe(0)
      expect(readFileSync(path, "utf8")).toContain("log_conversation_exchange")
      expect((await talk.cli("unsetup", name, "--yes")).code).toBe(0)
      expect(existsSync(path) ? readFileSync(path, "utf8") : "").not.toContain("log_conversation_exchange")
    },
  )
})
