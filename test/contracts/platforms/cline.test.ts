import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { cline } from "../../../src/agents/cline/records.ts"
import type { TurnCapture } from "../../../src/domain/capture.ts"
import { platformContract, readAll } from "../platform.ts"

const T = 1_785_571_200_000
const CODE = ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
const text = (text: string) => ({ type: "text", text })
const json = (value: unknown) => JSON.stringify(value)

const ENVIRONMENT = text(
  "<environment_details>\n# Current Working Directory (/home/mia/shop) Files\nsrc/\n</environment_details>",
)
const TAGGED = [
  { role: "user", content: [text("<task>\nAdd a retry to the fetcher\n</task>"), ENVIRONMENT] },
  {
    role: "assistant",
    content: [
      text(
        "<thinking>Where is it?</thinking>\n\nI will look at the file first.\n\n<read_file>\n<path>src/fetch.ts</path>\n</read_file>",
      ),
    ],
  },
  {
    role: "user",
    content: [
      text("[read_file for 'src/fetch.ts'] Result:"),
      text("export const get = fetch // <task>not a prompt</task>"),
      ENVIRONMENT,
    ],
  },
  {
    role: "assistant",
    content: "<attempt_completion>\n<result>\nThe fetcher tries three times.\n</result>\n</attempt_completion>",
  },
  {
    role: "user",
    content: [
      text("[attempt_completion] Result:"),
      text("The user has provided feedback on the results:\n<feedback>\nTry five times\n</feedback>"),
    ],
  },
  { role: "user", content: [text("[ERROR] You did not use a tool in your previous response!"), ENVIRONMENT] },
]
const SHOWN = [
  { ts: T + 5, type: "say", say: "text", text: "Add a retry to the fetcher", conversationHistoryIndex: -1 },
  { ts: T + 2000, type: "say", say: "text", text: "I will look", conversationHistoryIndex: 0 },
  { ts: T + 3000, type: "ask", ask: "tool", text: "{}", conversationHistoryIndex: 0, modelInfo: { modelId: "m-1" } },
  { ts: T + 3500, type: "say", say: "text", text: "half a sent", partial: true, conversationHistoryIndex: 9 },
  { ts: T + 4000, type: "say", say: "completion_result", text: "…", conversationHistoryIndex: 2 },
]
const NATIVE = [
  { role: "user", content: [text("<task>\nList the tables\n</task>")], ts: T + 10 },
  {
    role: "assistant",
    ts: T + 20,
    modelInfo: { modelId: "m-2", providerId: "x" },
    metrics: { tokens: { prompt: 9, completion: 3, cached: 1 }, cost: 0.02 },
    content: [
      { type: "thinking", thinking: "The schema knows.", signature: "s" },
      { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "schema.sql" } },
    ],
  },
  {
    role: "user",
    ts: T + 30,
    content: [
      {
        type: "tool_result",
        tool_use_id: "toolu_1",
        content: [text("create table carts"), { type: "image" }],
        is_error: false,
      },
      {
        type: "tool_result",
        tool_use_id: "toolu_2",
        content:
          "The user denied this operation and provided the following feedback:\n<feedback>\nOnly the names\n</feedback>",
        is_error: true,
      },
    ],
  },
  { role: "assistant", ts: T + 40, content: [text("There is one: carts."), { type: "redacted_thinking", data: "…" }] },
]

platformContract(cline, [
  {
    name: "tasks of the old store, with calls and results in tags",
    files: {
      [`${CODE}/tasks/${T}/api_conversation_history.json`]: json(TAGGED),
      [`${CODE}/tasks/${T}/ui_messages.json`]: json(SHOWN),
      [`${CODE}/tasks/${T}/task_metadata.json`]: json({ files_in_context: [] }),
      [`${CODE}/tasks/${T}/context_history.json`]: "[]",
      [`${CODE}/state/taskHistory.json`]: json([
        {
          id: String(T),
          ts: T,
          task: "Add a retry to the fetcher",
          cwdOnTaskInitialization: "/home/mia/shop",
          modelId: "m-9",
        },
      ]),
    },
    unclaimed: [`${CODE}/tasks/${T}/task_metadata.json`, `${CODE}/tasks/${T}/context_history.json`],
    expected: {
      [T]: {
        session: {
          projectPath: "/home/mia/shop",
          title: { text: "Add a retry to the fetcher", from: "prompt" },
          model: "m-9",
          startedAtMs: T,
        },
        turns: [
          { kind: "prompt", text: "Add a retry to the fetcher", atMs: T },
          { kind: "reasoning", text: "Where is it?", atMs: T + 3000 },
          { kind: "reply", text: "I will look at the file first." },
          { kind: "tool_call", toolName: "read_file", text: '{"path":"src/fetch.ts"}' },
          {
            kind: "tool_result",
            toolName: "read_file",
            text: "export const get = fetch // <task>not a prompt</task>",
            atMs: T + 4000,
          },
          { kind: "reply", text: "The fetcher tries three times.", atMs: T + 4000 },
          { kind: "tool_result", toolName: "attempt_completion" },
          { kind: "prompt", text: "Try five times" },
        ],
      },
    },
    skipped: ["environment", "notice"],
  },
  {
    name: "tasks with tools of the API, in another editor, without a history",
    files: {
      [`.config/Windsurf/User/globalStorage/saoudrizwan.claude-dev/tasks/${T}/api_conversation_history.json`]:
        json(NATIVE),
    },
    expected: {
      [T]: {
        session: { title: { text: "List the tables", from: "prompt" } },
        turns: [
          { kind: "prompt", text: "List the tables", atMs: T + 10 },
          { kind: "reasoning", text: "The schema knows.", model: "m-2" },
          {
            kind: "tool_call",
            toolName: "read_file",
            toolCallId: "toolu_1",
            text: '{"path":"schema.sql"}',
            usage: { inputTokens: 9, outputTokens: 3, cachedTokens: 1, costUsd: 0.02 },
            atMs: T + 20,
          },
          { kind: "tool_result", toolName: "read_file", toolCallId: "toolu_1", text: "create table carts\n[image]" },
          { kind: "tool_result", toolCallId: "toolu_2", isError: true },
          { kind: "prompt", text: "Only the names" },
          { kind: "reply", text: "There is one: carts.", atMs: T + 40 },
        ],
      },
    },
    skipped: ["redacted_thinking"],
  },
  {
    name: "a very old task, of which there is only what was shown",
    env: { CLINE_DIR: "~/elsewhere" },
    files: {
      [`elsewhere/data/tasks/${T}/claude_messages.json`]: json([
        { ts: T, type: "say", say: "text", text: "Say hello" },
        { ts: T + 1, type: "say", say: "api_req_started", text: "{}" },
        { ts: T + 2, type: "ask", ask: "command", text: "echo hello" },
        { ts: T + 3, type: "say", say: "command_output", text: "hello" },
        { ts: T + 4, type: "say", say: "completion_result", text: "Done" },
        { ts: T + 5, type: "say", say: "text", text: "unfini", partial: true },
      ]),
    },
    expected: {
      [T]: {
        turns: [
          { kind: "prompt", text: "Say hello", atMs: T },
          { kind: "tool_call", text: "echo hello", toolName: "command" },
          { kind: "tool_result", text: "hello" },
          { kind: "reply", text: "Done", atMs: T + 4 },
        ],
      },
    },
    skipped: ["shown api_req_started"],
  },
  {
    name: "sessions of the newer store, with a sub-agent and a compaction",
    env: { CLINE_DATA_DIR: "~/data" },
    files: {
      "data/sessions/s-1/s-1.json": json({
        version: 1,
        session_id: "s-1",
        source: "cli",
        started_at: "2026-08-01T08:00:00Z",
        status: "running",
        model: "m-3",
        cwd: "/home/mia/shop",
        workspace_root: "/home/mia/shop",
        prompt: "Explain the cart",
        metadata: { title: "The cart, explained" },
      }),
      "data/sessions/s-1/s-1.messages.json": json({
        version: 1,
        messages: [
          {
            id: "m1",
            role: "user",
            content: '<mode_notice>Switched.</mode_notice>\n<user_input mode="act">Explain the cart</user_input>',
            ts: T,
          },
          {
            id: "m2",
            role: "assistant",
            ts: T + 1000,
            modelInfo: { id: "m-3", provider: "y" },
            metrics: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2, cost: 0.01 },
            content: [
              text("Let me see."),
              { type: "tool_use", id: "t9", name: "read_files", input: { paths: ["cart.ts"] } },
            ],
          },
          {
            id: "m3",
            role: "user",
            ts: T + 2000,
            content: [
              { type: "tool_result", tool_use_id: "t9", name: "read_files", content: "class Cart", is_error: false },
            ],
          },
          { id: "m4", role: "assistant", ts: T + 3000, content: [text("It is a list of items.")] },
        ],
      }),
      "data/sessions/s-1/s-1.compaction.json": json({
        source_message_count: 3,
        messages: [
          { id: "c1", role: "user", content: "Summary: the person asks about the cart." },
          { id: "m3", role: "user", content: [{ type: "tool_result", tool_use_id: "t9", content: "class Cart" }] },
        ],
        system_prompt: "…",
      }),
      "data/sessions/s-1/agent-7.messages.json": json([
        { id: "a1", role: "user", content: "Count the items", ts: T + 1500 },
        { id: "a2", role: "assistant", content: [text("Three.")], ts: T + 1600 },
      ]),
      "data/sessions/s-2/s-2.json": json({ version: 1, session_id: "s-2", cwd: "/home/mia/shop" }),
      "data/db/sessions.db": "not read",
    },
    expected: {
      "s-1": {
        session: {
          projectPath: "/home/mia/shop",
          title: { text: "The cart, explained", from: "generated" },
          model: "m-3",
          startedAtMs: T,
        },
        turns: [
          { kind: "prompt", text: "Explain the cart", nativeId: "m1", atMs: T },
          { kind: "reply", text: "Let me see.", nativeId: "m2", model: "m-3" },
          {
            kind: "tool_call",
            text: '{"paths":["cart.ts"]}',
            toolCallId: "t9",
            usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 2, costUsd: 0.01 },
          },
          { kind: "tool_result", text: "class Cart", toolName: "read_files", atMs: T + 2000 },
          { kind: "summary", text: "Summary: the person asks about the cart." },
          { kind: "reply", text: "It is a list of items.", nativeId: "m4" },
        ],
      },
      "s-1__agent-7": {
        session: { parent: { sessionId: "s-1", kind: "subagent" }, projectPath: "/home/mia/shop" },
        turns: [
          { kind: "prompt", text: "Count the items", nativeId: "a1" },
          { kind: "reply", text: "Three.", atMs: T + 1600 },
        ],
      },
    },
  },
])

test("names stay the same when messages are added or taken away, and only a message written anew gets a new one", async () => {
  const base = [...TAGGED, { role: "user", content: [text("yes")] }, { role: "user", content: [text("yes")] }]
  const whole = await namesOf(base)
  expect(whole.size).toBe(10)
  const longer = await namesOf([...base, { role: "assistant", content: [text("And so on")] }])
  expect([...longer.keys()].slice(0, whole.size)).toEqual([...whole.keys()])
  const cut = await namesOf(base.slice(2))
  for (const [id, said] of cut) expect(whole.get(id)).toBe(said)
  const resumed = await namesOf([
    ...base.slice(0, 2),
    {
      role: "user",
      content: [...(base[2]!.content as object[]).slice(0, 2), text("<user_message>\nGo on\n</user_message>")],
    },
  ])
  const fresh = [...resumed].filter(([id]) => !whole.has(id)).map(([, said]) => said)
  expect(fresh).toEqual(["Go on"])
})

async function namesOf(messages: unknown[]): Promise<Map<string, string>> {
  const homeDir = mkdtempSync(join(tmpdir(), "cline-"))
  try {
    const path = join(homeDir, ".cline/data/tasks", String(T), "api_conversation_history.json")
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, json(messages))
    const captures = await readAll(cline, { os: "linux", homeDir, env: {} })
    const turns = captures.filter((capture): capture is TurnCapture => capture.type === "turn")
    return new Map(turns.map(({ nativeId, text }) => [nativeId, text]))
  } finally {
    rmSync(homeDir, { recursive: true, force: true })
  }
}
