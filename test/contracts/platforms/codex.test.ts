import { zstdCompressSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { codex } from "../../../src/agents/codex/records.ts"
import type { Capture } from "../../../src/domain/capture.ts"
import type { LinesReader } from "../../../src/domain/platform.ts"
import { platformContract } from "../platform.ts"

const T1 = "0198a5f0-0000-7000-8000-000000000001"
const T2 = "0198a5f0-0000-7000-8000-000000000002"
const DAY = "2026/08/16"
const AT = Date.parse("2026-08-16T08:00:00.000Z")

type Fields = Record<string, unknown>
const jsonl = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const rollout = (id: string, suffix = "") => `rollout-2026-08-16T10-00-00-${id}${suffix}.jsonl`
const line = (second: number, type: string, payload: unknown, ordinal?: number): Fields => ({
  timestamp: new Date(AT + second * 1000).toISOString(),
  ...(ordinal !== undefined && { ordinal }),
  type,
  payload,
})
const meta = (id: string, more: Fields = {}): Fields =>
  line(0, "session_meta", {
    id,
    timestamp: new Date(AT).toISOString(),
    cwd: "/w/app",
    originator: "codex_cli_rs",
    cli_version: "0.166.0",
    source: "cli",
    git: { branch: "main" },
    ...more,
  })
const item = (second: number, payload: Fields) => line(second, "response_item", payload)
const event = (second: number, payload: Fields) => line(second, "event_msg", payload)
const message = (second: number, role: string, ...texts: string[]) =>
  item(second, {
    type: "message",
    role,
    content: texts.map((text) => ({ type: role === "assistant" ? "output_text" : "input_text", text })),
  })
/** As Codex writes pages: gap-free numbers, in this order of fields. */
const paginated = (...records: Fields[]) =>
  jsonl(...records.map(({ timestamp, ...rest }, ordinal) => ({ timestamp, ordinal, ...rest })))
const tokens = (input: number, cached: number, output: number) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
})

const legacy = [
  meta(T1, { history_mode: "legacy" }),
  message(1, "developer", "<permissions instructions>…</permissions instructions>"),
  message(
    1,
    "user",
    "# AGENTS.md instructions for /w/app\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>",
    "<environment_context>\n  <cwd>/w/app</cwd>\n</environment_context>",
  ),
  line(2, "turn_context", { turn_id: "0198a5f0-1111-7000-8000-000000000001", cwd: "/w/app", model: "gpt-x" }),
  message(2, "user", "why is CI red\n\nsince today"),
  event(2, { type: "user_message", message: "why is CI red\n\nsince today" }),
  event(3, { type: "agent_reasoning", text: "look at logs" }),
  item(3, {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "look at logs" }],
    encrypted_content: "…",
  }),
  item(3, { type: "reasoning", summary: [], encrypted_content: "…" }),
  item(4, { type: "function_call", name: "shell", arguments: '{"cmd":"npm test"}', call_id: "c1" }),
  item(5, { type: "function_call_output", call_id: "c1", output: "Exit code: 1\nOutput:\n1 failed" }),
  item(6, {
    type: "custom_tool_call",
    name: "apply_patch",
    input: "*** Begin Patch",
    call_id: "c2",
    status: "completed",
  }),
  item(7, {
    type: "custom_tool_call_output",
    call_id: "c2",
    output: [{ type: "input_text", text: "ok" }, { type: "input_image" }],
  }),
  item(8, { type: "local_shell_call", call_id: "c3", status: "completed", action: { type: "exec", command: ["ls"] } }),
  item(8, {
    type: "function_call_output",
    call_id: "c3",
    output: '{"output":"a.ts\\n","metadata":{"exit_code":2,"duration_seconds":0.1}}',
  }),
  item(9, { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "flaky" } }),
  message(10, "assistant", "same"),
  message(10, "assistant", "same"),
  event(10, { type: "agent_message", message: "same" }),
]
/** What `codex migrate-rollouts` makes of it: new numbers, other events, the same times and items. */
const migrated = legacy
  .filter(({ type, payload }) => type !== "event_msg" || (payload as Fields).type === "token_count")
  .flatMap((record) =>
    record.type === "session_meta"
      ? [{ ...record, payload: { ...(record.payload as Fields), session_id: T1, history_mode: "paginated" } }]
      : [record],
  )
migrated.splice(3, 0, event(1, { type: "task_started", turn_id: "rollout-3" }))
migrated.push(
  event(10, { type: "item_completed", item: { type: "AgentMessage", text: "same" }, pad: "x".repeat(5000) }),
)

const conversation = {
  session: {
    projectPath: "/w/app",
    gitBranch: "main",
    agentVersion: "0.166.0",
    model: "gpt-x",
    startedAtMs: AT,
    title: { text: "why is CI red", from: "prompt" as const },
  },
  turns: [
    { kind: "prompt" as const, text: "why is CI red\n\nsince today", atMs: AT + 2000 },
    { kind: "reasoning" as const, text: "look at logs", model: "gpt-x" },
    { kind: "tool_call" as const, text: '{"cmd":"npm test"}', toolName: "shell", toolCallId: "c1" },
    { kind: "tool_result" as const, text: "Exit code: 1\nOutput:\n1 failed", toolCallId: "c1", isError: true },
    { kind: "tool_call" as const, text: "*** Begin Patch", toolName: "apply_patch", toolCallId: "c2" },
    { kind: "tool_result" as const, text: "ok\n[image]", toolCallId: "c2" },
    { kind: "tool_call" as const, text: '{"type":"exec","command":["ls"]}', toolName: "local_shell" },
    { kind: "tool_result" as const, text: "a.ts\n", toolCallId: "c3", isError: true },
    { kind: "tool_call" as const, text: '{"type":"search","query":"flaky"}', toolName: "web_search" },
    { kind: "reply" as const, text: "same" },
    { kind: "reply" as const, text: "same" },
  ],
}

platformContract(codex, [
  {
    name: "a legacy session, and names from the index",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: `${jsonl(...legacy)}{"timestamp":"2026`,
      ".codex/session_index.jsonl": jsonl(
        { id: T1, thread_name: "first", updated_at: "2026-08-16T08:00:00Z" },
        { id: T1, thread_name: "CI", updated_at: "2026-08-16T08:00:01Z" },
        { id: T1, thread_name: "" },
      ),
      ".codex/history.jsonl": jsonl({ session_id: T1, ts: 1, text: "why" }),
      [`.codex/sessions/${DAY}/.${rollout(T1)}.paginated.tmp`]: "{}\n",
      ".codex/config.toml": "",
    },
    unclaimed: [".codex/history.jsonl", `.codex/sessions/${DAY}/.${rollout(T1)}.paginated.tmp`, ".codex/config.toml"],
    expected: {
      [T1]: { ...conversation, session: { ...conversation.session, title: { text: "CI", from: "person" } } },
    },
    skipped: ["role:developer", "context", "encrypted reasoning", "event_msg:user_message", "unnamed"],
  },
  {
    name: "a paginated session under another home",
    env: { CODEX_HOME: "~/elsewhere" },
    files: { [`elsewhere/sessions/${DAY}/${rollout(T1)}`]: paginated(...migrated) },
    expected: { [T1]: conversation },
    skipped: ["event_msg", "event_msg:task_started"],
  },
  {
    name: "archived",
    files: { [`.codex/archived_sessions/${rollout(T1)}`]: jsonl(...legacy) },
    expected: { [T1]: conversation },
  },
  {
    name: "compressed, once beside the plain file",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: jsonl(...legacy),
      [`.codex/sessions/${DAY}/${rollout(T1)}.zst`]: zstdCompressSync(Buffer.from(jsonl(...legacy))),
      [`.codex/sessions/${DAY}/${rollout(T2)}.zst`]: zstdCompressSync(
        Buffer.from(jsonl(meta(T2), message(1, "user", "packed"))),
      ),
    },
    expected: { [T1]: conversation, [T2]: { turns: [{ kind: "prompt", text: "packed" }] } },
  },
  {
    name: "compaction, with and without a text",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: paginated(
        meta(T1),
        message(1, "user", "go"),
        line(2, "compacted", {
          message:
            "Another language model started to solve this problem and produced a summary of its thinking process. Use the information in this summary to assist with your own analysis:\nSummary: one flaky test",
          replacement_history: [{ type: "message", role: "user" }],
        }),
        message(3, "user", "on"),
        item(4, { type: "compaction", encrypted_content: "…" }),
        line(4, "compacted", { message: "", replacement_history: [] }),
        line(4, "world_state", { full: true, state: {} }),
      ),
    },
    expected: {
      [T1]: {
        turns: [
          { kind: "prompt" },
          { kind: "reset" },
          { kind: "summary", text: "Summary: one flaky test" },
          { kind: "prompt" },
          { kind: "reset" },
        ],
      },
    },
    skipped: ["item:compaction", "world_state"],
  },
  {
    name: "forks: a paginated one has only its own part, a reverted one stays the same session",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: paginated(meta(T1), message(1, "user", "go")),
      [`.codex/sessions/${DAY}/${rollout(T2)}`]: paginated(
        meta(T2, {
          forked_from_id: T1,
          history_base: { thread_id: T1, end_ordinal_exclusive: 2, end_byte_offset: 512 },
        }),
        message(5, "user", "another way"),
      ),
      [`.codex/sessions/${DAY}/${rollout(T1, `_${T2}`)}`]: paginated(
        meta(T1, { history_base: { thread_id: T1, end_ordinal_exclusive: 1, end_byte_offset: 256 } }),
        message(7, "user", "go slowly"),
      ),
    },
    expected: {
      [T1]: { turns: [{ text: "go" }, { text: "go slowly" }] },
      [T2]: { session: { parent: { sessionId: T1, kind: "fork" } }, turns: [{ text: "another way" }] },
    },
  },
  {
    name: "who spoke to the daemon first is the originator: a session of a terminal is none that was handed over",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: jsonl(
        meta(T1, { originator: "throughline", source: "vscode", forked_from_id: T2 }),
        message(-9, "user", "from before the fork"),
        message(1, "user", "go"),
      ),
    },
    expected: {
      [T1]: {
        session: { parent: { sessionId: T2, kind: "fork" } },
        turns: [{ text: "from before the fork" }, { text: "go" }],
      },
    },
  },
  {
    name: "rollback",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: jsonl(
        meta(T1),
        message(1, "user", "one"),
        message(2, "assistant", "1"),
        message(3, "user", "two"),
        message(4, "assistant", "2"),
        message(5, "user", "three"),
        event(6, { type: "thread_rolled_back", num_turns: 2 }),
        message(7, "user", "two again"),
        event(8, { type: "thread_rolled_back", num_turns: 99 }),
        event(9, { type: "thread_rolled_back", num_turns: 1 }),
      ),
    },
    expected: {
      [T1]: {
        rewinds: 2,
        turns: ["one", "1", "two", "2", "three", "two again"].map((text) => ({ text })),
      },
    },
  },
  {
    name: "sub-agents, with the parent's history in front, in pages and in the old way; and Codex's own",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: paginated(
        meta(T1, {
          source: { subagent: { thread_spawn: { parent_thread_id: "parent-1", depth: 1, agent_nickname: "Ada" } } },
          subagent_history_start_ordinal: 3,
        }),
        message(1, "user", "the parent's prompt"),
        message(2, "assistant", "the parent's reply"),
        item(3, {
          type: "agent_message",
          author: "/root",
          recipient: "/root/ada",
          content: [{ type: "input_text", text: "find callers" }],
        }),
        message(4, "assistant", "three"),
      ),
      [`.codex/sessions/${DAY}/${rollout(T2)}`]: jsonl(
        meta(T2, { source: { subagent: "review" }, parent_thread_id: "parent-1" }),
        meta("0198a5ef-0000-7000-8000-00000000000f"),
        line(1, "turn_context", { turn_id: "0198a5ef-0000-7000-8000-0000000000ff", cwd: "/w/app", model: "gpt-x" }),
        message(1, "user", "the parent's prompt"),
        event(2, { type: "task_started", turn_id: "0198a5f0-2222-7000-8000-000000000002" }),
        message(2, "user", "review it"),
      ),
      [`.codex/sessions/${DAY}/${rollout("0198a5f0-0000-7000-8000-000000000003")}`]: jsonl(
        meta("0198a5f0-0000-7000-8000-000000000003", { source: { internal: "guardian" } }),
        message(1, "user", "is this safe"),
      ),
      [`.codex/sessions/${DAY}/${rollout("0198a5f0-0000-7000-8000-000000000004")}`]: jsonl(
        meta("0198a5f0-0000-7000-8000-000000000004", { source: { subagent: "memory_consolidation" } }),
        message(1, "user", "remember"),
      ),
    },
    expected: {
      [T1]: {
        session: {
          parent: { sessionId: "parent-1", kind: "subagent" },
          title: { text: "find callers", from: "prompt" },
        },
        turns: [
          { kind: "prompt", text: "find callers" },
          { kind: "reply", text: "three" },
        ],
      },
      [T2]: {
        session: { parent: { sessionId: "parent-1", kind: "subagent" } },
        turns: [{ kind: "prompt", text: "review it" }],
      },
    },
    skipped: ["inherited", "internal"],
  },
  {
    name: "what was used goes to the model's latest turn, once",
    files: {
      [`.codex/sessions/${DAY}/${rollout(T1)}`]: jsonl(
        meta(T1, { forked_from_id: T2 }),
        message(1, "user", "go"),
        message(2, "assistant", "gone"),
        event(3, { type: "token_count", info: null, rate_limits: {} }),
        event(3, {
          type: "token_count",
          info: { total_token_usage: tokens(900, 400, 90), last_token_usage: tokens(100, 40, 9) },
        }),
        event(4, {
          type: "token_count",
          info: { total_token_usage: tokens(900, 400, 90), last_token_usage: tokens(100, 40, 9) },
        }),
        message(5, "assistant", "x".repeat(20_000)),
        event(6, {
          type: "token_count",
          info: { total_token_usage: tokens(950, 400, 95), last_token_usage: tokens(50, 0, 5) },
        }),
        message(7, "assistant", "end"),
        event(8, {
          type: "token_count",
          info: { total_token_usage: tokens(1000, 420, 97), last_token_usage: tokens(50, 20, 2) },
        }),
      ),
    },
    expected: {
      [T1]: {
        session: { parent: { sessionId: T2, kind: "fork" } },
        turns: [
          { text: "go" },
          { text: "gone" },
          { text: "gone", usage: { inputTokens: 60, cachedTokens: 40, outputTokens: 9 } },
          {},
          { text: "end" },
          { text: "end", usage: { inputTokens: 80, cachedTokens: 20, outputTokens: 7 } },
        ],
      },
    },
  },
  {
    name: "files older than the envelope, and a file that lost its first record",
    files: {
      [`.codex/sessions/2025/05/07/rollout-2025-05-07-${T1}.jsonl`]: jsonl(
        { id: T1, timestamp: "2025-05-07T17:24:21.597Z", instructions: null, git: { branch: "dev" } },
        { record_type: "state" },
        { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
        { record_type: "state" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] },
      ),
      [`.codex/sessions/${DAY}/${rollout(T2)}`]: jsonl(
        message(1, "user", "headless", "<image name=[Image #1]>", "</image>"),
        line(2, "never_heard_of", {}),
        item(3, { type: "hologram" }),
      ),
    },
    expected: {
      [T1]: {
        session: { gitBranch: "dev", startedAtMs: Date.parse("2025-05-07T17:24:21.597Z") },
        turns: [{ text: "hello" }, { text: "hi" }, { text: "hi" }],
      },
      [T2]: { turns: [{ kind: "prompt", text: "headless" }] },
    },
    skipped: ["state", "never_heard_of", "item:hologram"],
  },
])

describe("ids", () => {
  const read = (name: string, content: string): Capture[] => {
    const { reader } = codex.claim({ path: `/h/${name}`, relative: name, place: { dir: "/h", depth: 4 } })! as {
      reader: LinesReader
    }
    const state = reader.begin(`/h/${name}`)
    return content
      .split("\n")
      .filter(Boolean)
      .flatMap((text) => reader.line(Buffer.from(`${text}\n`), state, { offset: 0 }))
  }
  const turns = (content: string) => read(rollout(T1), content).filter((capture) => capture.type === "turn")

  test("are the same before and after a file is migrated, and all different", () => {
    const [before, after] = [turns(jsonl(...legacy)), turns(paginated(...migrated))]
    expect(after).toEqual(before)
    expect(new Set(before.map(({ nativeId }) => nativeId)).size).toBe(conversation.turns.length)
  })
  test("that a provider counts from one again in each answer do not clash", () => {
    const answer = (second: number, text: string) =>
      item(second, { type: "message", id: "msg_0", role: "assistant", content: [{ type: "output_text", text }] })
    const found = turns(jsonl(meta(T1), answer(1, "one"), answer(2, "two")))
    expect(new Set(found.map(({ nativeId }) => nativeId)).size).toBe(2)
  })
  test("of a rollback point at the first prompt that was taken back, and say when", () => {
    const content = jsonl(
      meta(T1),
      message(1, "user", "one"),
      message(2, "user", "two"),
      message(3, "user", "three"),
      event(4, { type: "thread_rolled_back", num_turns: 2 }),
    )
    const captures = read(rollout(T1), content)
    const two = captures.find((capture) => capture.type === "turn" && capture.text === "two")
    expect(captures.at(-1)).toEqual({
      type: "rewind",
      sessionId: T1,
      fromNativeId: two && "nativeId" in two && two.nativeId,
      atMs: Date.parse("2026-08-16T08:00:04.000Z"),
    })
  })
})

test("plain and compressed are one source", () => {
  const claim = (name: string) => codex.claim({ path: `/h/${name}`, relative: name, place: { dir: "/h", depth: 4 } })
  expect(claim(`${rollout(T1)}.zst`)!.key).toBe(claim(rollout(T1))!.key)
  expect(claim(`${rollout(T1)}.zst`)!.reader).toMatchObject({ mode: "lines", compression: "zstd" })
})

test("a rollout is one source wherever below Codex's home it lies, and another in another home", () => {
  const key = (path: string) => codex.claim({ path, relative: path.slice(1), place: { dir: "", depth: 9 } })!.key
  const name = "rollout-2026-08-16T08-00-00-x.jsonl"
  expect(key(`/sessions/h/.codex/sessions/2026/08/16/${name}`)).toBe(`/sessions/h/.codex/${name}`)
  expect(key(`/sessions/h/.codex/archived_sessions/${name}.zst`)).toBe(`/sessions/h/.codex/${name}`)
  expect(key(`/other/sessions/2026/08/16/${name}`)).toBe(`/other/${name}`)
  expect(key(`/elsewhere/${name}`)).toBe(`/elsewhere/${name}`)
})

test("a session is resumed by its id", () => {
  expect(codex.resume!({ nativeId: T1, projectPath: "/w/app" })).toEqual({
    argv: ["codex", "resume", T1],
    cwd: "/w/app",
  })
})
