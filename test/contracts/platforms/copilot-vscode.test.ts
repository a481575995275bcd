import { join } from "node:path"
import { expect, test } from "vitest"
import { copilotVscode } from "../../../src/agents/copilot-vscode/records.ts"
import { platformContract } from "../platform.ts"

const T = 1_785_571_200_000
const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const STORAGE = ".config/Code/User/workspaceStorage"
const GLOBAL = ".config/Code - Insiders/User/globalStorage"
const workspace = JSON.stringify({ folder: "file:///home/mia/my%20shop" })

const AGENT_REQUEST = {
  requestId: "request_1",
  timestamp: T + 1000,
  message: { text: "Why does it retry?", parts: [] },
  modelId: "copilot/gpt-5",
  response: [
    { kind: "mcpServersStarting", didStartServerIds: [] },
    { kind: "thinking", value: ["Look at ", "the loop"], id: "t" },
    { value: "Let me read " },
    { kind: "inlineReference", inlineReference: { path: "/home/mia/my shop/src/loop.ts", scheme: "file" } },
    { value: " first." },
    {
      kind: "toolInvocationSerialized",
      toolId: "copilot_readFile",
      toolCallId: "52142529-aec6-4fb4-94ac-ca0deb467986",
      invocationMessage: { value: "Reading loop.ts" },
      pastTenseMessage: { value: "Read loop.ts" },
    },
    { kind: "codeblockUri", uri: {} },
    { kind: "textEditGroup", edits: [] },
    {
      kind: "toolInvocationSerialized",
      toolId: "copilot_runInTerminal",
      toolCallId: "call_2",
      invocationMessage: "Running npm test",
      resultDetails: { input: "npm test", output: [{ type: "embed", isText: true, value: "1 failed" }], isError: true },
    },
    { kind: "markdownContent", content: { value: "It retries **twice**." } },
  ],
  result: {
    metadata: {
      toolCallRounds: [
        { response: "", toolCalls: [{ id: "call_1", name: "read_file", arguments: '{"filePath":"src/loop.ts"}' }] },
        { response: "", toolCalls: [{ id: "call_2", name: "run_in_terminal", arguments: '{"command":"npm test"}' }] },
      ],
      toolCallResults: {
        call_1: {
          content: [{ $mid: 23, value: { node: { type: 1, children: [{ type: 2, text: "for (;;) retry()" }] } } }],
        },
      },
    },
  },
}
const AGENT_TURNS = [
  { nativeId: "request_1", kind: "prompt" as const, text: "Why does it retry?", atMs: T + 1000 },
  { nativeId: "request_1:1", kind: "reasoning" as const, text: "Look at the loop", model: "copilot/gpt-5" },
  { nativeId: "request_1:2", kind: "reply" as const, text: "Let me read `loop.ts` first.", model: "copilot/gpt-5" },
  {
    nativeId: "request_1:5",
    kind: "tool_call" as const,
    text: '{"filePath":"src/loop.ts"}',
    toolName: "read_file",
    toolCallId: "52142529-aec6-4fb4-94ac-ca0deb467986",
  },
  { nativeId: "request_1:5:result", kind: "tool_result" as const, text: "for (;;) retry()", toolName: "read_file" },
  { nativeId: "request_1:8", kind: "tool_call" as const, text: '{"command":"npm test"}', toolCallId: "call_2" },
  { nativeId: "request_1:8:result", kind: "tool_result" as const, text: "1 failed", isError: true },
  { nativeId: "request_1:9", kind: "reply" as const, text: "It retries **twice**." },
]

platformContract(copilotVscode, [
  {
    name: "a session in one object",
    files: {
      [`${STORAGE}/ab12/workspace.json`]: workspace,
      [`${STORAGE}/ab12/chatSessions/v1.json`]: JSON.stringify({
        version: 3,
        sessionId: "v1",
        creationDate: T,
        customTitle: "Retry questions",
        requests: [AGENT_REQUEST],
      }),
      [`${STORAGE}/ab12/chatSessions/empty.json`]: JSON.stringify({ version: 3, sessionId: "empty", requests: [] }),
      [`${STORAGE}/ab12/state.vscdb`]: "x",
      [`${STORAGE}/ab12/GitHub.copilot-chat/transcripts/v1.jsonl`]: lines({ type: "session.start", data: {} }),
      [`${STORAGE}/ab12/chatEditingSessions/v1/state.json`]: "{}",
    },
    unclaimed: [
      `${STORAGE}/ab12/workspace.json`,
      `${STORAGE}/ab12/state.vscdb`,
      `${STORAGE}/ab12/GitHub.copilot-chat/transcripts/v1.jsonl`,
      `${STORAGE}/ab12/chatEditingSessions/v1/state.json`,
    ],
    expected: {
      v1: {
        session: {
          projectPath: "/home/mia/my shop",
          title: { text: "Retry questions", from: "generated" },
          startedAtMs: T,
          model: "copilot/gpt-5",
        },
        turns: AGENT_TURNS,
      },
    },
    skipped: ["mcpServersStarting", "codeblockUri", "textEditGroup"],
  },
  {
    name: "a log of changes, with an undone request, a removed one and a torn line",
    files: {
      [`${STORAGE}/cd34/workspace.json`]: JSON.stringify({ workspace: "file:///home/mia/all/shop.code-workspace" }),
      [`${STORAGE}/cd34/chatSessions/v2.jsonl`]: `${lines(
        { kind: 0, v: { version: 3, sessionId: "v2", creationDate: T, requests: [], inputState: { text: "" } } },
        { kind: 1, k: ["inputState", "text"], v: "exp" },
        {
          kind: 2,
          k: ["requests"],
          v: [{ requestId: "q1", timestamp: T + 1, message: { text: "explain" }, response: [] }],
        },
        { kind: "1", k: ["requests", 0, "response"], v: [{ value: "It retr" }] },
        { kind: 2, k: ["requests", 0, "response"], i: 0, v: [{ value: "It retries." }] },
        { kind: 2, k: ["requests"], v: [{ requestId: "q2", timestamp: T + 2, message: "wrong", response: [] }] },
        { kind: 2, k: ["requests"], i: 1, v: [{ requestId: "q3", timestamp: T + 3, message: "better", response: [] }] },
        { kind: 1, k: ["requests", 1, "modelId"], v: "copilot/x" },
        { kind: 3, k: ["requests", 1, "modelId"] },
        { kind: 2, k: ["requests"], v: [{ requestId: "q4", timestamp: T + 4, message: "later undone", response: [] }] },
        { kind: 1, k: ["requests", 2, "shouldBeRemovedOnSend"], v: { requestId: "q4" } },
        { kind: 1, k: ["nowhere", "deep", "x"], v: 1 },
        { kind: 1, k: ["__proto__", "polluted"], v: true },
        { kind: 9, k: ["x"] },
      )}{"kind":1,"k":["customTi`,
    },
    expected: {
      v2: {
        session: { projectPath: "/home/mia/all", title: { text: "explain", from: "prompt" }, startedAtMs: T },
        turns: [
          { nativeId: "q1", kind: "prompt", text: "explain", atMs: T + 1 },
          { nativeId: "q1:0", kind: "reply", text: "It retries." },
          { nativeId: "q3", kind: "prompt", text: "better", atMs: T + 3 },
        ],
      },
    },
    skipped: ["unreadable line", "undone"],
  },
  {
    name: "sessions of empty windows and moved ones, copied into a workspace under the same ids",
    files: (() => {
      const session = JSON.stringify({ sessionId: "v1", creationDate: T, requests: [AGENT_REQUEST] })
      return {
        [`${GLOBAL}/emptyWindowChatSessions/v1.json`]: session,
        [`${GLOBAL}/transferredChatSessions/v1.json`]: session,
        [`${GLOBAL}/other/v1.json`]: session,
        ".config/VSCodium/User/workspaceStorage/no-workspace/chatSessions/v1.json": session,
        ".vscode-server/data/User/workspaceStorage/ef56/chatSessions/v1.jsonl": lines({
          kind: 0,
          v: JSON.parse(session),
        }),
      }
    })(),
    unclaimed: [`${GLOBAL}/other/v1.json`],
    expected: { v1: { session: { startedAtMs: T }, turns: [1, 2, 3, 4].flatMap(() => AGENT_TURNS) } },
  },
])

test("each system has its own folders", () => {
  const dirs = (os: "linux" | "darwin" | "win32", homeDir: string, env = {}) =>
    copilotVscode.places({ os, homeDir, env }).map(({ dir }) => dir)
  expect(dirs("darwin", "/Users/mia")).toContain("/Users/mia/Library/Application Support/Code/User/workspaceStorage")
  expect(dirs("win32", "C:\\Users\\mia", { APPDATA: "D:\\Data" })).toContain(
    "D:\\Data\\Code - Insiders\\User\\globalStorage\\emptyWindowChatSessions",
  )
  expect(dirs("linux", "/home/mia", { XDG_CONFIG_HOME: "/conf" })).toContain(
    join("/conf", "VSCodium", "User", "globalStorage", "transferredChatSessions"),
  )
})
