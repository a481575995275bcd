import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { geminiCli } from "../../../src/agents/gemini-cli/records.ts"
import { platformContract } from "../platform.ts"

const at = (second: number) => `2026-08-01T10:00:${String(second).padStart(2, "0")}.000Z`
const ms = (second: number) => Date.parse(at(second))
const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")

const SESSION = "9a1b2c3d-0000-4000-8000-000000000001"
const beginning = (sessionId = SESSION, more: object = {}) => ({
  sessionId,
  projectHash: "e3b0",
  startTime: at(0),
  lastUpdated: at(0),
  kind: "main",
  ...more,
})
const user = (id: string, second: number, text: string) => ({
  id,
  timestamp: at(second),
  type: "user",
  content: [{ text }],
})
const gemini = (id: string, second: number, content: unknown, more: object = {}) => ({
  id,
  timestamp: at(second),
  type: "gemini",
  content,
  thoughts: [],
  model: "gemini-3-pro",
  ...more,
})
const CONTEXT = user("ctx", 0, "<session_context>\nToday's date is Saturday.\n</session_context>")
const READ_CALL = {
  id: "read_file_1",
  name: "read_file",
  args: { file_path: "src/watch.ts" },
  status: "success",
  timestamp: at(4),
}
const READ_RESULT = [
  { functionResponse: { id: "read_file_1", name: "read_file", response: { output: "export const watch = 1" } } },
]

platformContract(geminiCli, [
  {
    name: "a session with thoughts, tools and all other records",
    files: {
      ".gemini/projects.json": JSON.stringify({ projects: { "/home/mia/shop": "shop" } }),
      ".gemini/tmp/shop/.project_root": "/home/mia/shop\n",
      ".gemini/tmp/shop/chats/session-2026-08-01T10-00-9a1b2c3d.jsonl": lines(
        beginning(),
        { $set: { messages: [CONTEXT], lastUpdated: at(0) } },
        user("u1", 1, "Fix the watcher"),
        { $set: { lastUpdated: at(1) } },
        { id: "i1", timestamp: at(2), type: "info", content: "Update available" },
        gemini("g1", 3, "Let me look.", {
          thoughts: [{ subject: "Looking", description: "I should read the file.", timestamp: at(2) }],
          tokens: { input: 100, output: 20, cached: 50, thoughts: 5, tool: 0, total: 125 },
        }),
        gemini("g1", 3, "Let me look.", {
          thoughts: [{ subject: "Looking", description: "I should read the file.", timestamp: at(2) }],
          tokens: { input: 100, output: 20, cached: 50, thoughts: 5, tool: 0, total: 125 },
          toolCalls: [
            { ...READ_CALL, result: READ_RESULT },
            { id: "shell_1", name: "run_shell_command", args: { command: "npm test" }, status: "cancelled" },
          ],
        }),
        { id: "u2", timestamp: at(5), type: "user", content: READ_RESULT },
        gemini("g2", 6, [{ text: "Done" }, { text: "." }]),
        { $set: { summary: "Fixed the watcher" } },
        { $set: { lastUpdated: at(7) } },
        { id: "e1", timestamp: at(8), type: "error", content: "quota" },
      ),
      ".gemini/tmp/shop/logs.json": "[]",
      ".gemini/tmp/shop/chats/session-2026-08-01T09-00-00000000.jsonl.unreadable-1785571200000": "{",
    },
    unclaimed: [
      ".gemini/tmp/shop/logs.json",
      ".gemini/tmp/shop/.project_root",
      ".gemini/tmp/shop/chats/session-2026-08-01T09-00-00000000.jsonl.unreadable-1785571200000",
    ],
    expected: {
      [SESSION]: {
        session: {
          projectPath: "/home/mia/shop",
          startedAtMs: ms(0),
          title: { text: "Fixed the watcher", from: "summary" },
          model: "gemini-3-pro",
        },
        turns: [
          { nativeId: "u1", kind: "prompt", text: "Fix the watcher", atMs: ms(1) },
          {
            nativeId: "g1:thought:0",
            kind: "reasoning",
            text: "Looking\nI should read the file.",
            atMs: ms(2),
            model: "gemini-3-pro",
          },
          { nativeId: "g1", kind: "reply", text: "Let me look.", atMs: ms(3), model: "gemini-3-pro" },
          { nativeId: "g1:thought:0", kind: "reasoning", text: "Looking\nI should read the file." },
          {
            nativeId: "g1",
            kind: "reply",
            text: "Let me look.",
            usage: { inputTokens: 50, outputTokens: 25, cachedTokens: 50 },
          },
          {
            nativeId: "g1:call:read_file_1",
            kind: "tool_call",
            text: '{"file_path":"src/watch.ts"}',
            toolName: "read_file",
            toolCallId: "read_file_1",
            atMs: ms(4),
          },
          {
            nativeId: "g1:result:read_file_1",
            kind: "tool_result",
            text: "export const watch = 1",
            toolName: "read_file",
            toolCallId: "read_file_1",
          },
          { nativeId: "g1:call:shell_1", kind: "tool_call", text: '{"command":"npm test"}' },
          { nativeId: "g1:result:shell_1", kind: "tool_result", text: "(cancelled)", isError: true },
          { nativeId: "g2", kind: "reply", text: "Done." },
        ],
        rewinds: 0,
      },
    },
    skipped: ["context", "info", "error", "user without text"],
  },
  {
    name: "a session that is resumed: the checkpoint repeats it poorer",
    files: {
      ".gemini/tmp/shop/.project_root": "/home/mia/shop",
      ".gemini/tmp/shop/chats/session-2026-08-01T10-00-9a1b2c3d.jsonl": lines(
        beginning(),
        user("u1", 1, "Fix it"),
        gemini("g1", 2, "Reading.", { toolCalls: [{ ...READ_CALL, result: READ_RESULT }] }),
        { ...beginning(), startTime: at(30) },
        { $set: { messages: [CONTEXT], lastUpdated: at(30) } },
        { $set: { sessionId: SESSION } },
        {
          $set: {
            messages: [
              CONTEXT,
              user("u1", 31, "Fix it"),
              { ...gemini("g1", 31, [{ text: "Reading." }, { functionCall: { id: "read_file_1" } }]) },
              { id: "g1_response", timestamp: at(31), type: "user", content: READ_RESULT },
            ],
          },
        },
        user("u2", 32, "Once more"),
      ),
      // What resuming leaves besides: a beginning in which nothing is said.
      ".gemini/tmp/shop/chats/session-2026-08-01T11-00-9a1b2c3d.jsonl": lines(
        { ...beginning(), startTime: at(29) },
        { $set: { messages: [CONTEXT] } },
      ),
    },
    expected: {
      [SESSION]: {
        session: { startedAtMs: ms(0), title: { text: "Fix it", from: "prompt" } },
        turns: [
          { nativeId: "u1", kind: "prompt", text: "Fix it", atMs: ms(1) },
          { nativeId: "g1", kind: "reply", text: "Reading.", atMs: ms(2) },
          { nativeId: "g1:call:read_file_1", kind: "tool_call" },
          { nativeId: "g1:result:read_file_1", kind: "tool_result" },
          { nativeId: "u2", kind: "prompt", text: "Once more", atMs: ms(32) },
        ],
        rewinds: 0,
      },
    },
  },
  {
    name: "rewinding to a message, to an unknown one, and by a checkpoint that leaves messages out",
    env: { GEMINI_CLI_HOME: "~/elsewhere" },
    files: {
      "elsewhere/.gemini/tmp/shop/chats/session-2026-08-01T10-00-9a1b2c3d.jsonl": lines(
        beginning(),
        user("u1", 1, "One"),
        gemini("g1", 2, "Reply one", { thoughts: [{ subject: "", description: "hm", timestamp: at(2) }] }),
        { $rewindTo: "g1" },
        gemini("g2", 3, "Reply two"),
        user("u2", 4, "Two"),
        user("u3", 5, "Three"),
        { $set: { messages: [user("u1", 1, "One"), gemini("g2", 3, "Reply two"), user("u3", 5, "Three")] } },
        { $rewindTo: "never-seen" },
        user("u4", 6, "Four"),
      ),
    },
    expected: {
      [SESSION]: {
        turns: [
          { nativeId: "u1", text: "One" },
          { nativeId: "g1:thought:0", kind: "reasoning", text: "hm" },
          { nativeId: "g1", text: "Reply one" },
          { nativeId: "g2", text: "Reply two" },
          { nativeId: "u2", text: "Two" },
          { nativeId: "u3", text: "Three" },
          { nativeId: "u3", text: "Three" },
          { nativeId: "u4", text: "Four" },
        ],
        rewinds: 3,
      },
    },
  },
  {
    name: "a compaction: the snapshot is a summary, the copies are not read again",
    files: {
      ".gemini/tmp/shop/chats/session-2026-08-01T10-00-9a1b2c3d.jsonl": lines(
        beginning(),
        user("u1", 1, "One"),
        gemini("g1", 2, "Reply one"),
        {
          $set: {
            messages: [
              user("n0", 3, "<state_snapshot>\n<overall_goal>x</overall_goal>\n</state_snapshot>"),
              gemini("n1", 3, "Got it. Thanks for the additional context!"),
              gemini("n2", 3, [{ text: "Reply one" }]),
            ],
          },
        },
        user("u2", 4, "Two"),
      ),
    },
    expected: {
      [SESSION]: {
        turns: [
          { nativeId: "u1", kind: "prompt" },
          { nativeId: "g1", kind: "reply" },
          {
            nativeId: "n0",
            kind: "summary",
            text: "<state_snapshot>\n<overall_goal>x</overall_goal>\n</state_snapshot>",
          },
          { nativeId: "u2", kind: "prompt", text: "Two" },
        ],
        rewinds: 0,
      },
    },
  },
  {
    name: "older sessions in one object, below the hash of their project's path; of one that was moved into a log, the log",
    files: (() => {
      const folder = `.gemini/tmp/${createHash("sha256").update("/home/mia/old").digest("hex")}/chats`
      const messages = [
        { ...user("u1", 1, ""), content: "Old question", displayContent: [{ text: "Old question @a" }] },
        gemini("g1", 2, "Old answer", {
          toolCalls: [{ id: "c1", name: "shell", args: {}, status: "error", result: "no such file" }],
        }),
      ]
      return {
        ".gemini/projects.json": JSON.stringify({ projects: { "/home/mia/other": "other", "/home/mia/old": "old" } }),
        [`${folder}/session-2025-10-01T10-00-9a1b2c3d.json`]: JSON.stringify({ ...beginning(), messages }),
        [`${folder}/session-2025-10-01T11-00-01d.json`]: JSON.stringify({ ...beginning("old-1"), messages }),
        [`${folder}/session-2025-10-01T10-00-9a1b2c3d.jsonl`]: lines(beginning(), ...messages),
      }
    })(),
    expected: Object.fromEntries(
      [SESSION, "old-1"].map((id) => [
        id,
        {
          session: { projectPath: "/home/mia/old" },
          turns: [
            { nativeId: "u1", kind: "prompt", text: "Old question @a" },
            { nativeId: "g1", kind: "reply", text: "Old answer" },
            { nativeId: "g1:call:c1", kind: "tool_call", text: "{}" },
            { nativeId: "g1:result:c1", kind: "tool_result", text: "no such file", isError: true },
          ],
        },
      ]),
    ),
  },
  {
    name: "a sub-agent in the folder of its parent",
    files: {
      ".gemini/tmp/shop/chats/parent-1/sub-1.jsonl": lines(
        beginning("sub-1", { kind: "subagent", directories: ["/home/mia/shop"] }),
        user("u1", 1, "Find all callers"),
        gemini("g1", 2, "There are three. \ud83d"),
      ),
    },
    expected: {
      "sub-1": {
        session: { parent: { sessionId: "parent-1", kind: "subagent" }, projectPath: "/home/mia/shop" },
        turns: [{ nativeId: "u1" }, { nativeId: "g1", text: "There are three. \ufffd" }],
      },
    },
  },
])

test("rewinding names the first turn of the message", () => {
  const claim = geminiCli.claim({
    path: "/home/a/.gemini/tmp/x/chats/session-1.jsonl",
    relative: "x/chats/session-1.jsonl",
    place: { dir: "/home/a/.gemini/tmp", depth: 3 },
  })
  if (claim?.reader.mode !== "lines") throw new Error("not claimed")
  const { reader } = claim
  const state = reader.begin("/home/a/.gemini/tmp/x/chats/session-1.jsonl")
  const read = (record: unknown) => reader.line(Buffer.from(lines(record)), state, { offset: 0 })
  read(beginning())
  read(user("u1", 1, "One"))
  read(gemini("g1", 2, "Reply", { thoughts: [{ subject: "a", description: "b", timestamp: at(2) }] }))
  expect(read({ $rewindTo: "g1" })).toEqual([{ type: "rewind", sessionId: SESSION, fromNativeId: "g1:thought:0" }])
  expect(read({ $rewindTo: "gone" })).toEqual([{ type: "rewind", sessionId: SESSION, fromNativeId: null }])
})

test("a session is resumed by its id", () => {
  expect(geminiCli.resume?.({ nativeId: SESSION, projectPath: "/home/mia/shop" })).toEqual({
    argv: ["gemini", "--resume", SESSION],
    cwd: "/home/mia/shop",
  })
})
