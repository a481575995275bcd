import { kiloLegacy } from "../../../src/agents/kilo/records.ts"
import { roo } from "../../../src/agents/roo/records.ts"
import { platformContract } from "../platform.ts"

const T = 1_785_571_200_000
const ROO = ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks"
const KILO = ".vscode-server/data/User/globalStorage/kilocode.kilo-code/tasks"
const CHILD = "019f0b2e-7c11-7d41-9d0a-3f6f1c2b4a55"
const text = (text: string) => ({ type: "text", text })
const json = (value: unknown) => JSON.stringify(value)

const MESSAGES = [
  { role: "user", content: [text("<task>\nMake the header sticky\n</task>")], ts: T + 100, condenseParent: "k1" },
  {
    role: "assistant",
    content: [
      text("I will change the style sheet."),
      { type: "tool_use", id: "call_1", name: "apply_diff", input: { path: "a.css", diff: "+ position: sticky" } },
    ],
    reasoning_content: "Sticky, not fixed.",
    ts: T + 200,
    condenseParent: "k1",
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "call_1", content: "Applied" },
      text("<environment_details>x</environment_details>"),
    ],
    ts: T + 300,
    condenseParent: "k1",
  },
  { role: "user", content: [text("The header is sticky now.")], ts: T + 400, isSummary: true, condenseId: "k1" },
  { role: "user", content: "Earlier messages are hidden", ts: T + 410, isTruncationMarker: true, truncationId: "t1" },
  {
    role: "assistant",
    content: "<attempt_completion>\n<result>Sticky it is.</result>\n</attempt_completion>",
    ts: T + 500,
  },
]

platformContract(roo, [
  {
    name: "a task, condensed, and the one that it started",
    files: {
      [`${ROO}/${T}/api_conversation_history.json`]: json(MESSAGES),
      [`${ROO}/${T}/ui_messages.json`]: json([
        { ts: T + 100, type: "say", say: "text", text: "Make the header sticky" },
        {
          ts: T + 400,
          type: "say",
          say: "condense_context",
          contextCondense: { summary: "The header is sticky now." },
        },
      ]),
      [`${ROO}/${T}/history_item.json`]: json({
        id: String(T),
        ts: T + 500,
        task: "Make the header sticky",
        workspace: "/home/mia/shop",
        mode: "code",
        childIds: [CHILD],
      }),
      [`${ROO}/${T}/task_metadata.json`]: "{}",
      [`${ROO}/_index.json`]: json({
        version: 1,
        updatedAt: T,
        entries: [
          {
            id: CHILD,
            task: "Check the colours",
            workspace: "/home/mia/shop",
            parentTaskId: String(T),
            rootTaskId: String(T),
          },
        ],
      }),
      [`${ROO}/${CHILD}/api_conversation_history.json`]: json([
        { role: "user", content: [text("<task>\nCheck the colours\n</task>")], ts: T + 600 },
        { role: "assistant", content: [text("They are fine.")], ts: T + 700 },
      ]),
    },
    unclaimed: [`${ROO}/${T}/history_item.json`, `${ROO}/${T}/task_metadata.json`, `${ROO}/_index.json`],
    expected: {
      [T]: {
        session: {
          projectPath: "/home/mia/shop",
          title: { text: "Make the header sticky", from: "prompt" },
          startedAtMs: T,
        },
        turns: [
          { kind: "prompt", text: "Make the header sticky", atMs: T + 100 },
          { kind: "reasoning", text: "Sticky, not fixed.", atMs: T + 200 },
          { kind: "reply", text: "I will change the style sheet." },
          { kind: "tool_call", toolName: "apply_diff", toolCallId: "call_1" },
          { kind: "tool_result", toolName: "apply_diff", text: "Applied", atMs: T + 300 },
          { kind: "summary", text: "The header is sticky now.", atMs: T + 400 },
          { kind: "reply", text: "Sticky it is.", atMs: T + 500 },
        ],
      },
      [CHILD]: {
        session: {
          projectPath: "/home/mia/shop",
          parent: { sessionId: String(T), kind: "subagent" },
          startedAtMs: T + 600,
        },
        turns: [
          { kind: "prompt", text: "Check the colours" },
          { kind: "reply", text: "They are fine." },
        ],
      },
    },
    skipped: ["truncation marker", "environment"],
  },
  {
    name: "a task that was condensed before summaries were messages",
    files: {
      [`${ROO}/${T}/api_conversation_history.json`]: json([
        {
          role: "user",
          content:
            "<task>\nRename it\n</task>\n\n<environment_details>\n# Current Workspace Directory (/home/mia/app) Files\n</environment_details>",
          ts: T,
        },
        { role: "assistant", content: "Renamed.", ts: T + 1 },
      ]),
      [`${ROO}/${T}/ui_messages.json`]: json([
        {
          ts: T + 2,
          type: "say",
          say: "condense_context",
          contextCondense: { summary: "It was renamed.", newContextTokens: 5 },
        },
      ]),
    },
    expected: {
      [T]: {
        session: { projectPath: "/home/mia/app" },
        turns: [
          { kind: "prompt", text: "Rename it" },
          { kind: "reply", text: "Renamed." },
          { kind: "summary", text: "It was renamed.", atMs: T + 2 },
        ],
      },
    },
  },
])

platformContract(kiloLegacy, [
  {
    name: "the same layout under its own name",
    files: {
      [`${KILO}/${T}/api_conversation_history.json`]: json(MESSAGES.slice(0, 2)),
      [`${KILO}/${T}/history_item.json`]: json({
        id: String(T),
        task: "Make the header sticky",
        workspace: "/home/mia/shop",
      }),
    },
    expected: {
      [T]: {
        session: { projectPath: "/home/mia/shop" },
        turns: [{ kind: "prompt" }, { kind: "reasoning" }, { kind: "reply" }, { kind: "tool_call" }],
      },
    },
  },
])
