import { expect, test } from "vitest"
import { antigravity, antigravityIde } from "../../../src/agents/antigravity/records.ts"
import { platformContract } from "../platform.ts"

const at = (second: number) => `2026-08-01T10:00:${String(second).padStart(2, "0")}Z`
const ms = (second: number) => Date.parse(at(second))
const ID = "901d1db7-8590-4cb0-a7cb-35fac369d860"
const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const step = (index: number, source: string, type: string, more: object = {}) => ({
  ...{ step_index: index, source, type, status: "DONE", created_at: at(index), ...more },
})
const log = (folder: string, name = "transcript_full") =>
  `.gemini/${folder}/brain/${ID}/.system_generated/logs/${name}.jsonl`
const CHANGE =
  "<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to Gemini 3.5 Flash (High). No need to comment.\n</USER_SETTINGS_CHANGE>"
const asked = (index: number, text: string, more = "") =>
  step(index, "USER_EXPLICIT", "USER_INPUT", { content: `<USER_REQUEST>\n${text}\n</USER_REQUEST>\n${more}` })

const CONVERSATION = lines(
  asked(0, "List the files", CHANGE),
  step(1, "SYSTEM", "CONVERSATION_HISTORY", { content: "# Conversation History" }),
  step(2, "SYSTEM", "EPHEMERAL_MESSAGE", { content: "noise" }),
  step(3, "MODEL", "PLANNER_RESPONSE", {
    content: "I look.",
    thinking: "The directory first.",
    tool_calls: [
      { name: "list_dir", args: { DirectoryPath: '"/home/mia/shop"' } },
      { name: "default_api:run_command", args: { CommandLine: "npm test" } },
    ],
    usage: { input_tokens: 100, output_tokens: 50, cached_content_token_count: 20 },
  }),
  step(4, "MODEL", "LIST_DIRECTORY", { content: "a.txt" }),
  step(5, "MODEL", "RUN_COMMAND", { content: "1 failed", status: "ERROR" }),
  step(6, "SYSTEM", "CHECKPOINT", { content: "{{ CHECKPOINT 0 }}\nThe earlier parts" }),
  step(7, "SYSTEM", "CHECKPOINT", {}),
  step(8, "MODEL", "PLANNER_RESPONSE", { content: "One test fails." }),
  step(9, "SYSTEM", "HOLOGRAM", {}),
)

const turns = [
  { nativeId: "0", kind: "prompt" as const, text: "List the files", atMs: ms(0) },
  {
    nativeId: "3:thinking",
    kind: "reasoning" as const,
    text: "The directory first.",
    model: "Gemini 3.5 Flash (High)",
  },
  {
    nativeId: "3",
    kind: "reply" as const,
    text: "I look.",
    usage: { inputTokens: 80, outputTokens: 50, cachedTokens: 20 },
  },
  {
    nativeId: "3:call:0",
    kind: "tool_call" as const,
    text: '{"DirectoryPath":"/home/mia/shop"}',
    toolName: "list_dir",
    toolCallId: "3:0",
  },
  { nativeId: "3:call:1", kind: "tool_call" as const, text: '{"CommandLine":"npm test"}', toolName: "run_command" },
  { nativeId: "4", kind: "tool_result" as const, text: "a.txt", toolName: "list_dir", toolCallId: "3:0" },
  { nativeId: "5", kind: "tool_result" as const, text: "1 failed", toolName: "run_command", isError: true },
  { nativeId: "6", kind: "reset" as const },
  { nativeId: "6:summary", kind: "summary" as const, text: "{{ CHECKPOINT 0 }}\nThe earlier parts" },
  { nativeId: "8", kind: "reply" as const, text: "One test fails." },
]
const skipped = ["CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "empty CHECKPOINT", "HOLOGRAM"]
const session = {
  title: { text: "List the files", from: "prompt" as const },
  model: "Gemini 3.5 Flash (High)",
  startedAtMs: ms(0),
}

platformContract(antigravity, [
  {
    name: "a conversation, with its folder from the list of prompts, and the short form beside it left alone",
    files: {
      [log("antigravity-cli")]: CONVERSATION,
      [log("antigravity-cli", "transcript")]: lines(asked(0, "List the …")),
      ".gemini/antigravity-cli/history.jsonl": lines(
        { display: "x", timestamp: ms(0), workspace: "/home/mia/other", conversationId: "other" },
        { display: "List the files", timestamp: ms(0), workspace: "/home/mia/shop", conversationId: ID },
      ),
      [`.gemini/antigravity-cli/brain/${ID}/plan.md`]: "# Plan",
      ".gemini/antigravity-cli/settings.json": "{}",
    },
    unclaimed: [log("antigravity-cli", "transcript"), `.gemini/antigravity-cli/brain/${ID}/plan.md`],
    expected: { [ID]: { session: { ...session, projectPath: "/home/mia/shop" }, turns } },
    skipped,
  },
  {
    name: "only the short form, with its folder from the list of latest conversations",
    files: {
      [log("antigravity-cli", "transcript")]: lines(asked(0, "Paint the boat")),
      ".gemini/antigravity-cli/cache/last_conversations.json": JSON.stringify({ "/home/mia/lake": ID }),
    },
    expected: { [ID]: { session: { projectPath: "/home/mia/lake" }, turns: [{ text: "Paint the boat" }] } },
  },
  {
    name: "a prompt without tags, and one that quotes them",
    files: {
      [log("antigravity-cli")]: lines(
        step(0, "USER_EXPLICIT", "USER_INPUT", { content: `Paint\n${CHANGE}` }),
        asked(1, "What does </USER_REQUEST> mean?"),
        step(2, "USER_EXPLICIT", "USER_INPUT", { content: { text: "in an object" } }),
      ),
    },
    expected: {
      [ID]: { turns: [{ text: "Paint" }, { text: "What does </USER_REQUEST> mean?" }, { text: "in an object" }] },
    },
  },
])

platformContract(antigravityIde, [
  {
    name: "a conversation of the editor, and the command line's left alone",
    files: { [log("antigravity-ide")]: CONVERSATION, [log("antigravity-cli")]: CONVERSATION },
    unclaimed: [log("antigravity-cli")],
    expected: { [ID]: { session, turns } },
    skipped,
  },
  { name: "the editor's older folder", files: { [log("antigravity")]: CONVERSATION }, expected: { [ID]: { turns } } },
])

test("a conversation goes on in the command line", () => {
  expect(antigravity.resume!({ nativeId: ID, projectPath: "/w" })).toEqual({
    argv: ["agy", "--conversation", ID],
    cwd: "/w",
  })
})
