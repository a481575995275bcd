import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { keepConversation, type Spoken } from "../../../test/fixtures/conversation.ts"
import { realTokens } from "../../../test/fixtures/tokens.ts"
import { handoffTargets, platforms } from "../../agents/list.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeBriefs } from "../brief/brief.ts"
import { type HandoffModule, makeHandoff } from "./module.ts"

const START = Date.parse("2026-08-01T10:00:00Z")
let dir: string
let store: Store
let module: HandoffModule
const tokens = realTokens()

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "handoff-"))
  store = await openStore(sqlite({ path: join(dir, "throughline.db") }))
  module = makeHandoff({
    store,
    clock: { nowMs: () => START + 1_000_000 },
    tokens,
    briefs: makeBriefs({ store, tokens, labelOf: (id) => id }),
    platforms,
    handoffTargets,
    machine: { os: "linux", homeDir: dir, env: {} },
    promptDir: join(dir, "prompts"),
  })
})
afterAll(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const keep = (turns: Spoken[], more: { projectPath?: string; platform?: string } = { projectPath: "/w/app" }) =>
  keepConversation(store, { projectId: null, title: "The lake", startMs: START, ...more }, turns)

/** What Codex's file says to the model. */
function messagesIn(path: string): { role: string; text: string }[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n")
  return lines
    .map((line) => JSON.parse(line) as { type: string; payload: { role: string; content: { text: string }[] } })
    .filter(({ type }) => type === "response_item")
    .map(({ payload }) => ({ role: payload.role, text: payload.content[0]!.text }))
}
const handOff = async (session: Session, maxTokens?: number) => {
  const made = await module.create({ session, to: "codex", maxTokens })
  return { ...made, messages: messagesIn(made.path!) }
}

describe("a conversation that fits", () => {
  test("is handed off in full, with tool calls as notes", async () => {
    const session = await keep([
      ["prompt", "Is the test green?"],
      ["reply", "I run it."],
      ["tool_call", '{"command":"npm test"}', { toolName: "Bash", toolCallId: "c1" }],
      ["tool_result", "1 failed", { toolCallId: "c1", isError: true }],
      ["reasoning", "not to be told"],
      ["reply", "It is red."],
      ["prompt", "Mend it."],
    ])
    const { messages, tokens: count, path } = await handOff(session)
    expect(messages).toEqual([
      {
        role: "user",
        text: expect.stringMatching(/^This conversation started with Claude Code .* handed off to you/),
      },
      { role: "user", text: "Is the test green?" },
      { role: "assistant", text: 'I run it.\n\n[Bash {"command":"npm test"} → failed: 1 failed]\n\nIt is red.' },
      { role: "user", text: "Mend it." },
    ])
    expect(count).toBe(messages.reduce((sum, { text }) => sum + tokens.count(text), 0))
    expect(statSync(path!).mode & 0o777).toBe(0o600)
  })

  test("marks a summary as such, and not as the agent's own words", async () => {
    const session = await keep([
      ["prompt", "Rewrite the parser."],
      ["reply", "I begin."],
      [
        "summary",
        "This session is being continued from a previous conversation that ran out of context.\nThe parser is half done.\nPlease continue the conversation from where we left it off without asking the user any further questions.",
      ],
      ["reply", "Going on."],
    ])
    const { messages } = await handOff(session)
    expect(messages.slice(1)).toEqual([
      { role: "user", text: "Rewrite the parser." },
      { role: "assistant", text: "I begin." },
      { role: "user", text: "[Summary made when the context was full:\nThe parser is half done.]" },
      { role: "assistant", text: "Going on." },
    ])
  })

  test("has a file of its own each time", async () => {
    const session = await keep([["prompt", "Once and again."]])
    const paths = [(await handOff(session)).path, (await handOff(session)).path]
    expect(new Set(paths).size).toBe(2)
  })

  test("includes what it was handed itself, but no later turns of that session", async () => {
    const first = await keep([
      ["prompt", "Said before."],
      ["reply", "Answered before."],
      ["prompt", "Said afterwards.", { atMs: START + 900_000 }],
    ])
    const second = await keep([["prompt", "Said in the second."]], { projectPath: "/w/app", platform: "codex" })
    await store.sessions.addEdge(second.id, {
      kind: "handover",
      parentPlatform: first.platform,
      parentNativeId: first.nativeId,
      atMs: START + 500_000,
    })
    const { messages } = await handOff(second)
    expect(messages.slice(1).map(({ text }) => text)).toEqual([
      "Said before.",
      "Answered before.",
      "Said in the second.",
    ])
  })
})

describe("a conversation that is too long", () => {
  const TALK = 400
  let session: Session
  beforeAll(async () => {
    const turns = Array.from({ length: TALK }, (_, index): Spoken[] => [
      ["prompt", `Question ${index}: ${"how deep is it there? ".repeat(20)}`],
      ["reply", `Answer ${index}: ${"forty metres, 湖. ".repeat(20)}`],
    ])
    session = await keep([["prompt", "Measure the whole lake, everywhere."], ...turns.flat()])
  })

  test.each([1000, 5000, 20_000])(
    "keeps within %i tokens: a brief, then the newest word by word",
    async (maxTokens) => {
      const { messages, tokens: count } = await handOff(session, maxTokens)
      expect(count).toBeLessThanOrEqual(maxTokens * 0.9)
      expect(count).toBeGreaterThan(maxTokens * 0.5)
      expect(messages[0]!.text).toMatch(
        /The first \d+ of 801 messages are left out; in brief:\n\n# Where "The lake" stood/,
      )
      expect(messages.at(-1)!.text).toMatch(new RegExp(`^Answer ${TALK - 1}: (forty metres, 湖. ?)+$`))
      expect(messages[1]!.text).toMatch(/^Question/)
    },
  )

  test("is cut even inside its last exchange", async () => {
    const huge = await keep([
      ["prompt", `Read this: ${"word ".repeat(100_000)}`],
      ["reply", `I have: ${"word ".repeat(100_000)}`],
    ])
    const { messages, tokens: count } = await handOff(huge, 2000)
    expect(count).toBeLessThanOrEqual(1800)
    expect(messages.slice(1).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Read this: .*…\[\d+ more characters\]$/),
      expect.stringMatching(/^I have: .*…\[\d+ more characters\]$/),
    ])
  })
})

describe("an agent that gets a prompt", () => {
  test("gets a brief in a file that only its owner reads, within the budget", async () => {
    const session = await keep([["prompt", `How deep is it? ${"Tell me. ".repeat(5000)}`]])
    const made = await module.create({ session, to: "opencode", maxTokens: 1000 })
    expect(made).toMatchObject({ platform: "opencode", command: { cwd: "/w/app" } })
    expect(made.command!.argv).toEqual(["sh", "-c", 'exec opencode --prompt "$(cat "$0")"', made.promptFile])
    expect(statSync(made.promptFile!).mode & 0o777).toBe(0o600)
    expect(tokens.count(readFileSync(made.promptFile!, "utf8"))).toBe(made.tokens)
    expect(made.tokens).toBeLessThanOrEqual(900)
  })

  test("gets no command where it has no command line", async () => {
    const session = await keep([["prompt", "How deep is it?"]])
    const made = await module.create({ session, to: "cursor" })
    expect(made.command).toBeUndefined()
    expect(readFileSync(made.promptFile!, "utf8")).toContain("How deep is it?")
  })

  test("after a forget no prompt is left", async () => {
    const session = await keep([["prompt", "A secret."]])
    await module.create({ session, to: "cursor" })
    expect(readdirSync(join(dir, "prompts")).length).toBeGreaterThan(0)
    module.forgotten()
    expect(existsSync(join(dir, "prompts"))).toBe(false)
    module.forgotten()
  })
})

test("a handoff that is impossible is refused with its reason", async () => {
  const empty = await keep([])
  await expect(handOff(empty)).rejects.toMatchObject({ code: "bad_input", message: /Nothing was said/ })
  const nowhere = await keep([["prompt", "Hello there."]], {})
  await expect(handOff(nowhere)).rejects.toMatchObject({ code: "bad_input", message: /no folder/ })
  const session = await keep([["prompt", "Hello there."]])
  await expect(module.create({ session, to: "nobody" })).rejects.toMatchObject({ code: "bad_input" })
})
