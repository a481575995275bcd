import { describe, expect, test } from "vitest"
import { bareSummary, compactionSummary } from "./compaction.ts"

const SUMMARY = "1. Primary Request and Intent:\n   Make the tailer crash safe.\n\n2. Pending Tasks:\n   - test it"
const CONTINUED = "This session is being continued from a previous conversation that ran out of context."

describe("what a program writes around a summary is cut", () => {
  test.each([
    [
      "by Claude Code now",
      `${CONTINUED} The summary below covers the earlier portion of the conversation.\n\n${SUMMARY}\n\nIf you need specific details from before compaction (like exact code snippets), read the full transcript at: /x.jsonl\n\nRecent messages are preserved verbatim.\nContinue the conversation from where it left off without asking the user any further questions. Resume directly — do not recap.`,
    ],
    [
      "by Claude Code before",
      `${CONTINUED} The conversation is summarized below:\n${SUMMARY}\nPlease continue the conversation from where we left it off without asking the user any further questions. Continue with the last task that you were asked to work on.`,
    ],
    [
      "by Codex",
      `Another language model started to solve this problem and produced a summary of its thinking process. Use this to build on the work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:\n${SUMMARY}`,
    ],
    ["with the summary in the same line", `${CONTINUED} ${SUMMARY}`],
    ["in tags", `${CONTINUED}\n<summary>\n${SUMMARY}\n</summary>`],
  ])("%s", (_, text) => {
    expect(compactionSummary(text)).toBe(SUMMARY)
  })

  test("and nothing of what somebody said, also when they quote it", () => {
    for (const said of ["Why does it say: This session is being continued from a previous conversation?", SUMMARY, ""])
      expect(compactionSummary(said)).toBeUndefined()
    expect(bareSummary(SUMMARY)).toBe(SUMMARY)
  })
})
