import { expect, test } from "vitest"
import { copilotCli } from "../../../src/agents/copilot-cli/records.ts"
import { platformContract } from "../platform.ts"

const SESSION = "5f0c2d1e-0000-4000-8000-00000000000a"
const at = (second: number) => `2026-08-01T10:00:${String(second).padStart(2, "0")}.000Z`
const ms = (second: number) => Date.parse(at(second))

let count = 0
const event = (type: string, second: number, data: object, more: object = {}) =>
  `${JSON.stringify({ type, data, id: `e-${type}-${second}`, timestamp: at(second), parentId: `e${count++}`, ...more })}\n`

const START = event("session.start", 0, {
  sessionId: SESSION,
  version: 1,
  producer: "copilot-agent",
  copilotVersion: "1.0.12",
  startTime: at(0),
  selectedModel: "gpt-5",
  context: { cwd: "/home/mia/shop", gitRoot: "/home/mia/shop", branch: "main", repository: "mia/shop" },
})

platformContract(copilotCli, [
  {
    name: "a session with reasoning, tools, a compaction and a cleared context",
    files: {
      [`.copilot/session-state/${SESSION}/workspace.yaml`]: "id: x\ncwd: /somewhere/else\n",
      [`.copilot/session-state/${SESSION}/events.jsonl`]: [
        START,
        event("session.info", 1, { message: "hi" }),
        event("user.message", 2, { content: "add tests", transformedContent: "<t>add tests</t>", attachments: [] }),
        event("assistant.turn_start", 3, { turnId: "0" }),
        event("assistant.message", 4, {
          messageId: "m1",
          content: "I will look.",
          reasoningText: "Where are they?",
          outputTokens: 12,
          model: "gpt-5",
          toolRequests: [
            { toolCallId: "c1", name: "view", arguments: { path: "a.ts" } },
            { toolCallId: "c2", name: "bash", arguments: { command: "npm test" } },
          ],
        }),
        event("tool.execution_start", 5, { toolCallId: "c1", toolName: "view", arguments: { path: "a.ts" } }),
        event("tool.execution_complete", 6, { toolCallId: "c1", success: true, result: { content: "const a = 1" } }),
        event("tool.execution_complete", 7, { toolCallId: "c2", success: false, error: { message: "exit 1" } }),
        event("user.message", 8, { content: "skill text", source: "skill-pdf" }),
        event("tool.user_requested", 9, { toolCallId: "c3", toolName: "bash", arguments: { command: "ls" } }),
        event("tool.execution_start", 10, { toolCallId: "c3", toolName: "bash", arguments: { command: "ls" } }),
        event("tool.execution_complete", 11, { toolCallId: "c3", success: true, result: { content: "a.ts" } }),
        event("session.compaction_complete", 12, { success: true, summaryContent: "Tests were asked for" }),
        event("session.compaction_complete", 13, { success: false, error: "no" }),
        event("session.context_cleared", 14, { messagesCleared: 4 }),
        event("session.model_change", 15, { newModel: "gpt-6" }),
        event("session.title_changed", 16, { title: "Tests for a" }),
        event("assistant.message", 17, { messageId: "m2", content: "Done.", toolRequests: [] }),
        event("session.shutdown", 18, {}),
        event("never.heard", 19, {}),
      ].join(""),
      [`.copilot/session-state/${SESSION}/checkpoints/1.md`]: "x",
    },
    unclaimed: [
      `.copilot/session-state/${SESSION}/workspace.yaml`,
      `.copilot/session-state/${SESSION}/checkpoints/1.md`,
    ],
    expected: {
      [SESSION]: {
        session: {
          projectPath: "/home/mia/shop",
          gitBranch: "main",
          agentVersion: "1.0.12",
          model: "gpt-6",
          startedAtMs: ms(0),
          title: { text: "Tests for a", from: "generated" },
        },
        turns: [
          { nativeId: "e-user.message-2", kind: "prompt", text: "add tests", atMs: ms(2) },
          { nativeId: "e-assistant.message-4:reasoning", kind: "reasoning", text: "Where are they?", model: "gpt-5" },
          {
            nativeId: "e-assistant.message-4",
            kind: "reply",
            text: "I will look.",
            atMs: ms(4),
            usage: { outputTokens: 12 },
          },
          {
            nativeId: "e-assistant.message-4:call:c1",
            kind: "tool_call",
            text: '{"path":"a.ts"}',
            toolName: "view",
            toolCallId: "c1",
          },
          { nativeId: "e-assistant.message-4:call:c2", kind: "tool_call", text: '{"command":"npm test"}' },
          {
            nativeId: "e-tool.execution_complete-6",
            kind: "tool_result",
            text: "const a = 1",
            toolName: "view",
            toolCallId: "c1",
            atMs: ms(6),
          },
          {
            nativeId: "e-tool.execution_complete-7",
            kind: "tool_result",
            text: "exit 1",
            toolName: "bash",
            isError: true,
          },
          { nativeId: "e-tool.execution_start-10:call:c3", kind: "tool_call", text: '{"command":"ls"}' },
          { nativeId: "e-tool.execution_complete-11", kind: "tool_result", text: "a.ts", toolName: "bash" },
          { nativeId: "e-session.compaction_complete-12", kind: "summary", text: "Tests were asked for" },
          { nativeId: "e-session.context_cleared-14", kind: "reset", text: "Context cleared" },
          { nativeId: "e-assistant.message-17", kind: "reply", text: "Done." },
        ],
        rewinds: 0,
      },
    },
    skipped: ["session.info", "injected message", "session.shutdown", "never.heard", "assistant.turn_start"],
  },
  {
    name: "a session whose beginning is lost, another home, and one in which nothing is said",
    env: { COPILOT_HOME: "~/cop" },
    files: {
      "cop/session-state/s1/workspace.yaml": 'id: s1\ncwd: "/home/mia/my shop"\nbranch: dev\nname: Named by hand\n',
      "cop/session-state/s1/events.jsonl": [
        "\u0000\u0000\n",
        event("user.message", 2, { content: "hello" }),
        event("session.snapshot_rewind", 3, { upToEventId: "e-user.message-2", eventsRemoved: 1 }),
      ].join(""),
      "cop/session-state/s2/events.jsonl": START,
      "cop/session-state/s3.jsonl": event("user.message", 4, { content: "an early one" }),
    },
    expected: {
      s1: {
        session: { projectPath: "/home/mia/my shop", gitBranch: "dev" },
        turns: [{ nativeId: "e-user.message-2", kind: "prompt", text: "hello" }],
        rewinds: 1,
      },
      s3: { session: { title: { text: "an early one", from: "prompt" } }, turns: [{ text: "an early one" }] },
    },
  },
  {
    name: "a sub-agent that speaks in the same file",
    files: {
      [`.copilot/session-state/${SESSION}/events.jsonl`]: [
        START,
        event("user.message", 1, { content: "explore" }),
        event(
          "subagent.started",
          2,
          { toolCallId: "c9", agentName: "explore", agentDisplayName: "Explorer" },
          { agentId: "a1" },
        ),
        event("assistant.message", 3, { content: "Found it", toolRequests: [] }, { agentId: "a1" }),
        event("assistant.message", 4, { content: "Found it too", parentToolCallId: "c9" }),
        event("assistant.message", 5, { content: "It was found" }),
      ].join(""),
    },
    expected: {
      [SESSION]: { turns: [{ text: "explore" }, { text: "It was found" }] },
      [`${SESSION}/a1`]: {
        session: {
          parent: { sessionId: SESSION, kind: "subagent" },
          title: { text: "Explorer", from: "generated" },
          projectPath: "/home/mia/shop",
        },
        turns: [{ text: "Found it" }],
      },
      [`${SESSION}/c9`]: {
        session: { title: { text: "Explorer", from: "generated" } },
        turns: [{ text: "Found it too" }],
      },
    },
  },
])

test("a session is resumed by its id, a sub-agent by the session it worked for", () => {
  const argv = ["copilot", "--resume", SESSION]
  expect(copilotCli.resume?.({ nativeId: SESSION, projectPath: "/p" })).toEqual({ argv, cwd: "/p" })
  expect(copilotCli.resume?.({ nativeId: `${SESSION}/a1`, projectPath: null })).toEqual({ argv, cwd: null })
})
