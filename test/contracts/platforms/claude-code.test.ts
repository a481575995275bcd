import { describe, expect, test } from "vitest"
import { claudeCode } from "../../../src/agents/claude-code/records.ts"
import { peekString } from "../../../src/agents/shared/records/jsonl.ts"
import type { LinesReader } from "../../../src/domain/platform.ts"
import { platformContract } from "../platform.ts"

const S1 = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c01"
const S2 = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c02"
const S3 = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c03"
const AT = Date.parse("2026-08-01T10:00:00.000Z")

type Fields = Record<string, unknown>
const jsonl = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const common = (uuid: string, second: number, more: Fields = {}): Fields => ({
  parentUuid: null,
  isSidechain: false,
  userType: "external",
  cwd: "/w/app",
  sessionId: S1,
  version: "2.1.325",
  gitBranch: "main",
  uuid,
  timestamp: new Date(AT + second * 1000).toISOString(),
  ...more,
})
const user = (uuid: string, second: number, content: unknown, more: Fields = {}) => ({
  ...common(uuid, second, more),
  type: "user",
  message: { role: "user", content },
})
const assistant = (
  uuid: string,
  second: number,
  block: Fields | Fields[],
  message: Fields = {},
  more: Fields = {},
) => ({
  ...common(uuid, second, more),
  message: {
    id: `msg_${uuid}`,
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: Array.isArray(block) ? block : [block],
    usage: { input_tokens: 9, cache_creation_input_tokens: 1, cache_read_input_tokens: 500, output_tokens: 40 },
    ...message,
  },
  requestId: "req_1",
  type: "assistant",
})
const text = (value: string) => ({ type: "text", text: value })
const request = (type: string) => ({
  type,
  hash: "0c1d",
  body: { type: "user", message: "system prompt and tool schemas ".repeat(4000) },
})

platformContract(claudeCode, [
  {
    name: "a session of 2.1.325 with tools, several lines per message and everything else it logs",
    files: {
      [`.claude/projects/-w-app/${S1}.jsonl`]: `${jsonl(
        { type: "mode", mode: "default", sessionId: S1 },
        { type: "queue-operation", operation: "enqueue", content: "make the tailer crash safe", sessionId: S1 },
        { type: "file-history-snapshot", messageId: "u1", snapshot: {}, isSnapshotUpdate: false },
        user("u0", 0, "<local-command-caveat>no</local-command-caveat>", { isMeta: true }),
        user("u1", 1, "make the tailer crash safe\nand quick"),
        { ...common("x1", 1), type: "attachment", attachment: { type: "todo_reminder", content: [] } },
        request("api-request-shape"),
        request("api-request-blob"),
        { sessionId: S1, requestId: "req_1", type: "api-request", messages: ["m".repeat(150_000)] },
        assistant("a1", 2, { type: "thinking", thinking: "offsets first", signature: "s" }, { id: "msg_1" }),
        assistant("a2", 3, text("I look at it."), { id: "msg_1" }),
        assistant(
          "a3",
          4,
          { type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "/w/app/tail.ts" } },
          { id: "msg_1" },
        ),
        user(
          "u2",
          5,
          [{ type: "tool_result", tool_use_id: "toolu_1", content: [text("12 lines"), { type: "image" }] }],
          {
            toolUseResult: { file: { numLines: 12 } },
          },
        ),
        user("u3", 6, [{ type: "tool_result", tool_use_id: "toolu_2", content: "denied", is_error: true }]),
        {
          ...common("x2", 7),
          type: "attachment",
          attachment: { type: "queued_command", prompt: "use fsync too", source_uuid: "q1", commandMode: "prompt" },
        },
        {
          ...common("x3", 7),
          type: "attachment",
          attachment: { type: "queued_command", prompt: "a task ended", origin: { kind: "task-notification" } },
        },
        assistant("a4", 8, text("API Error"), { model: "<synthetic>" }),
        assistant("a5", 9, [{ type: "redacted_thinking", data: "…" }]),
        assistant("a6", 10, [
          text("Done."),
          { type: "server_tool_use", id: "st1", name: "web_search", input: { query: "q" } },
        ]),
        user("u4", 11, [text("<ide_opened_file>tail.ts</ide_opened_file>"), text("thanks \ud800"), { type: "image" }], {
          cwd: "/w/app/sub",
          version: "2.1.326",
        }),
        user(
          "u5",
          12,
          "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>all</command-args>",
        ),
        user("u6", 13, "<local-command-stdout>ok</local-command-stdout>"),
        user("u7", 14, "<bash-input>ls</bash-input>"),
        user("u8", 14, "<bash-stdout>tail.ts</bash-stdout><bash-stderr></bash-stderr>", {
          cwd: "/w/app/sub",
          version: "2.1.326",
        }),
        user("u9", 15, [text("[Request interrupted by user]")]),
        { ...common("y1", 16), type: "system", subtype: "stop_hook_summary", hookCount: 1 },
        { type: "ai-title", aiTitle: "Crash safe tailer", sessionId: S1 },
        { type: "custom-title", customTitle: "tailer", sessionId: S1 },
        { type: "brand-new-kind", sessionId: S1 },
      )}{"type":"user","mess`,
      ".claude/projects/-w-app/memory/notes.md": "no",
      ".claude/projects/-w-app/sessions.jsonl": "{}\n",
      ".claude/settings.json": "{}",
      [`.claude/projects/-w-app/${S1}/subagents/agent-1.meta.json`]: "{}",
    },
    unclaimed: [
      ".claude/projects/-w-app/memory/notes.md",
      ".claude/projects/-w-app/sessions.jsonl",
      ".claude/settings.json",
      `.claude/projects/-w-app/${S1}/subagents/agent-1.meta.json`,
    ],
    expected: {
      [S1]: {
        session: {
          projectPath: "/w/app/sub",
          gitBranch: "main",
          agentVersion: "2.1.326",
          model: "claude-x",
          startedAtMs: AT + 1000,
          title: { text: "tailer", from: "person" },
        },
        turns: [
          { nativeId: "u1", kind: "prompt", text: "make the tailer crash safe\nand quick", atMs: AT + 1000 },
          {
            nativeId: "a1",
            kind: "reasoning",
            text: "offsets first",
            model: "claude-x",
            usage: { inputTokens: 10, outputTokens: 40, cachedTokens: 500 },
          },
          { nativeId: "a2", kind: "reply", text: "I look at it." },
          {
            nativeId: "a3",
            kind: "tool_call",
            text: '{"file_path":"/w/app/tail.ts"}',
            toolName: "Read",
            toolCallId: "toolu_1",
          },
          { nativeId: "u2", kind: "tool_result", text: "12 lines\n[image]", toolCallId: "toolu_1" },
          { nativeId: "u3", kind: "tool_result", text: "denied", isError: true },
          { nativeId: "q1", kind: "prompt", text: "use fsync too" },
          { nativeId: "a6:0", kind: "reply", text: "Done." },
          { nativeId: "a6:1", kind: "tool_call", text: '{"query":"q"}', toolName: "web_search", toolCallId: "st1" },
          { nativeId: "u4:1", kind: "prompt", text: "thanks \ufffd" },
          { nativeId: "u5", kind: "prompt", text: "/review all" },
          { nativeId: "u7", kind: "prompt", text: "! ls" },
          { nativeId: "u8", kind: "tool_result", toolName: "bash" },
        ],
      },
    },
    skipped: [
      "mode",
      "queue-operation",
      "meta",
      "attachment",
      "api-request",
      "api-request-shape",
      "api-request-blob",
      "synthetic",
      "block:redacted_thinking",
      "block:image",
      "mark:ide_opened_file",
      "mark:local-command-stdout",
      "interrupted",
      "system:stop_hook_summary",
      "brand-new-kind",
    ],
  },
  {
    name: "an old session: usage grows from line to line, inline sidechains, a summary as its title",
    files: {
      [`.claude/projects/-w-app/${S1}.jsonl`]: jsonl(
        { type: "summary", summary: "Tailer made crash safe", leafUuid: "a2" },
        user("u1", 1, "go", { version: "1.0.30", gitBranch: "" }),
        assistant("a1", 2, text("on it"), { id: "m1", usage: { input_tokens: 5, output_tokens: 1 } }),
        assistant(
          "a2",
          3,
          text("done"),
          { id: "m1", usage: { input_tokens: 5, output_tokens: 30 } },
          { version: "1.0.30" },
        ),
        user("s1", 4, "search the tests", { isSidechain: true }),
        assistant("s2", 5, text("none"), {}, { isSidechain: true, agentId: "ab12" }),
      ),
      [`.claude/projects/-w-app/${S2}.jsonl`]: jsonl({ type: "summary", summary: "of another file", leafUuid: "zz" }),
    },
    expected: {
      [S1]: {
        session: { title: { text: "Tailer made crash safe", from: "summary" }, agentVersion: "1.0.30" },
        turns: [
          { nativeId: "u1", kind: "prompt" },
          { nativeId: "a1", usage: { inputTokens: 5, outputTokens: 1, cachedTokens: 0 } },
          { nativeId: "a2", usage: { inputTokens: 0, outputTokens: 29, cachedTokens: 0 } },
        ],
      },
      [`${S1}/sidechain`]: {
        session: { parent: { sessionId: S1, kind: "subagent" }, title: { text: "search the tests", from: "prompt" } },
        turns: [{ nativeId: "s1", kind: "prompt" }],
      },
      [`${S1}/ab12`]: {
        session: { parent: { sessionId: S1, kind: "subagent" } },
        turns: [{ nativeId: "s2", kind: "reply", text: "none" }],
      },
    },
  },
  {
    name: "compaction",
    files: {
      [`.claude/projects/-w-app/${S1}.jsonl`]: jsonl(
        user("u1", 1, "/compact is broken"),
        {
          ...common("b1", 2, { logicalParentUuid: "u1" }),
          type: "system",
          subtype: "compact_boundary",
          content: "Conversation compacted",
          compactMetadata: { trigger: "auto", preTokens: 150000 },
        },
        user(
          "u2",
          1.9,
          "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\nSummary: tailer uses byte offsets\n<system-reminder>\nNever tell the user.\n</system-reminder>\nPlease continue the conversation from where we left it off without asking the user any further questions.",
          { isCompactSummary: true, isVisibleInTranscriptOnly: true },
        ),
        user(
          "u2b",
          2.5,
          "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nOlder versions do not mark it.",
        ),
        { ...common("b2", 4), type: "system", subtype: "microcompact_boundary", content: "" },
        user("u3", 5, "go on"),
      ),
    },
    expected: {
      [S1]: {
        session: { title: { text: "go on", from: "prompt" } },
        turns: [
          { kind: "prompt", text: "/compact is broken" },
          { nativeId: "b1", kind: "reset", text: "Conversation compacted" },
          { nativeId: "u2", kind: "summary", text: "Summary: tailer uses byte offsets", atMs: AT + 2000 },
          { nativeId: "u2b", kind: "summary", text: "Older versions do not mark it." },
          { kind: "prompt", text: "go on" },
        ],
      },
    },
    skipped: ["system:microcompact_boundary"],
  },
  {
    name: "forks: by --fork-session with the same uuids, by /fork, and as derived-from tells",
    files: {
      [`.claude/projects/-w-app/${S1}.jsonl`]: jsonl(user("u1", 1, "hello"), assistant("a1", 2, text("hi"))),
      [`.claude/projects/-w-app/${S2}.jsonl`]: jsonl(
        user("u1", 1, "hello", { sessionId: S2 }),
        assistant("a1", 2, text("hi"), {}, { sessionId: S2 }),
        { type: "derived-from", v: 1, sessionId: S2, sessions: [{ type: "claude_code_session", id: S1, via: "fork" }] },
        user("u2", 9, "other way", { sessionId: S2 }),
      ),
      [`.claude/projects/-w-app/${S3}.jsonl`]: jsonl(
        user("u1", 1, "hello", { sessionId: S3, forkedFrom: { sessionId: S1, messageUuid: "u1" } }),
        { type: "relocated", relocatedCwd: "/w/moved", sessionId: S3 },
      ),
    },
    expected: {
      [S1]: { turns: [{ nativeId: "u1" }, { nativeId: "a1" }] },
      [S2]: {
        session: { parent: { sessionId: S1, kind: "fork" } },
        turns: [{ nativeId: "u1" }, { nativeId: "a1" }, { nativeId: "u2" }],
      },
      [S3]: {
        session: { parent: { sessionId: S1, kind: "fork" }, projectPath: "/w/moved" },
        turns: [{ nativeId: "u1" }],
      },
    },
  },
  {
    name: "sub-agents in files of their own, new and old, and saved outputs",
    files: {
      [`.claude/projects/-w-app/${S1}.jsonl`]: jsonl(user("u1", 1, "hello")),
      [`.claude/projects/-w-app/${S1}/subagents/agent-a7f.jsonl`]: jsonl(
        user("u2", 2, "find callers", { isSidechain: true, agentId: "a7f" }),
        assistant("a2", 3, text("three"), {}, { isSidechain: true, agentId: "a7f" }),
      ),
      [`.claude/projects/-w-app/${S1}/subagents/workflows/wf_1/agent-b8.jsonl`]: jsonl(
        user("u3", 4, "deeper", { isSidechain: true, agentId: "b8" }),
      ),
      ".claude/projects/-w-app/agent-0c.jsonl": jsonl(
        user("u4", 5, "older", { isSidechain: true, agentId: "0c", sessionId: S2 }),
      ),
      [`.claude/projects/-w-app/${S1}/tool-results/toolu_01AB.txt`]: "line 1\nline 2\n",
      [`.claude/projects/-w-app/${S1}/tool-results/page.pdf`]: Buffer.from([37, 80, 0, 1]),
    },
    expected: {
      [S1]: {
        turns: [
          {
            nativeId: "tool-results:toolu_01AB.txt",
            kind: "tool_result",
            text: "line 1\nline 2\n",
            toolCallId: "toolu_01AB",
          },
          { nativeId: "u1" },
        ],
      },
      [`${S1}/a7f`]: {
        session: {
          parent: { sessionId: S1, kind: "subagent" },
          title: { text: "find callers", from: "prompt" },
          projectPath: "/w/app",
        },
        turns: [{ nativeId: "u2" }, { nativeId: "a2" }],
      },
      [`${S1}/b8`]: { session: { parent: { sessionId: S1, kind: "subagent" } }, turns: [{ nativeId: "u3" }] },
      [`${S2}/0c`]: { session: { parent: { sessionId: S2, kind: "subagent" } }, turns: [{ nativeId: "u4" }] },
    },
    skipped: ["binary output"],
  },
  {
    name: "prompts that outlive their transcript",
    files: {
      ".claude/history.jsonl": jsonl(
        { display: "/clear", pastedContents: {}, timestamp: AT, project: "/w/app", sessionId: S1 },
        {
          display: "why? [Pasted text #1 +2 lines]",
          pastedContents: { 1: { id: 1, type: "text", content: "Error:\n  at x" } },
          timestamp: AT + 1,
          project: "/w/app",
          sessionId: S1,
        },
        { display: "before sessions had ids", pastedContents: {}, timestamp: AT + 2, project: "/w/app" },
        { display: "why?", pastedContents: {}, timestamp: AT + 3, project: "/w/app", sessionId: S1 },
      ),
    },
    expected: {
      [S1]: {
        session: { projectPath: "/w/app", title: { text: "why? Error:", from: "prompt" } },
        turns: [
          { kind: "prompt", text: "why? Error:\n  at x", atMs: AT + 1, fallback: true },
          { kind: "prompt", text: "why?", atMs: AT + 3, fallback: true },
        ],
      },
    },
    skipped: ["command", "history without a session"],
  },
  {
    name: "a list of homes",
    env: { CLAUDE_CONFIG_DIR: "~/one, /nowhere/at/all", XDG_CONFIG_HOME: "~/xdg" },
    files: {
      [`one/projects/p/${S1}.jsonl`]: jsonl(user("u1", 1, "one")),
      [`xdg/claude/projects/p/${S2}.jsonl`]: jsonl(user("u1", 1, "two", { sessionId: S2 })),
      [`.claude/projects/p/${S3}.jsonl`]: jsonl(user("u1", 1, "three", { sessionId: S3 })),
    },
    expected: {
      [S1]: { turns: [{ text: "one" }] },
      [S2]: { turns: [{ text: "two" }] },
      [S3]: { turns: [{ text: "three" }] },
    },
  },
])

describe("lines that are not parsed", () => {
  const { reader } = claudeCode.claim({
    path: `/h/.claude/projects/p/${S1}.jsonl`,
    relative: `p/${S1}.jsonl`,
    place: { dir: "/h/.claude/projects", depth: 8 },
  })! as { reader: LinesReader }
  const read = (line: string) => reader.line(Buffer.from(line), reader.begin(""), { offset: 0 })

  test("a long request is stepped over by its first bytes alone", () => {
    const torn = `{"sessionId":"s","at":{"type":"user"},"list":[1,"type"],"type":"api-request","body":"${"x".repeat(9000)}`
    expect(read(torn)).toEqual([{ type: "skipped", kind: "api-request" }])
  })
  test("a type that is not the record's own does not hide a turn", () => {
    const input = { type: "api-request-shape", pad: "x".repeat(9000), note: '"type":"api-request"' }
    const record = JSON.stringify(assistant("a1", 1, { type: "tool_use", id: "t", name: "log", input }))
    expect(read(record)).toMatchObject([{ type: "session" }, { kind: "tool_call", text: JSON.stringify(input) }])
  })
  test("a long line whose type comes late is parsed", () => {
    const late = JSON.stringify({ body: "x".repeat(9000), type: "api-request" })
    expect(read(late)).toEqual([{ type: "skipped", kind: "api-request" }])
    expect(() => read(late.slice(0, -1))).toThrow()
  })
  test("zeros that a crash left before a record are no part of it", () => {
    expect(read(`\u0000\u0000${JSON.stringify(user("u1", 1, "hello"))}`)).toMatchObject([{}, { text: "hello" }])
  })
  test.each([
    ['{"type":"a"}', "a"],
    ['{ "x" : "type", "type" : "b" }', "b"],
    ['{"x":["type","c"],"y":{"type":"c"},"type":"d"}', "d"],
    ['{"x":"\\"type\\":\\"e\\"","type":"f"}', "f"],
    ['{"type":7}', undefined],
    ['{"type":"\\u0061"}', undefined],
    ['{"type":"cut', undefined],
    ["", undefined],
  ])("the type of %s is %s", (line, type) => {
    expect(peekString(Buffer.from(line), "type")).toBe(type)
  })
})

test("a sub-agent is resumed with the session that it worked for", () => {
  expect(claudeCode.resume!({ nativeId: `${S1}/a7f`, projectPath: "/w/app" })).toEqual({
    argv: ["claude", "--resume", S1],
    cwd: "/w/app",
  })
})

test("the folders on Windows", () => {
  const env = { CLAUDE_CONFIG_DIR: "D:\\claude" }
  expect(claudeCode.places({ os: "win32", homeDir: "C:\\Users\\a", env }).map(({ dir }) => dir)).toEqual([
    "D:\\claude\\projects",
    "D:\\claude",
    "C:\\Users\\a\\.claude\\projects",
    "C:\\Users\\a\\.claude",
    "C:\\Users\\a\\.config\\claude\\projects",
    "C:\\Users\\a\\.config\\claude",
  ])
})
