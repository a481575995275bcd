import { describe, expect, test } from "vitest"
import { because, REASONS, type ReasonCode } from "./reason.ts"
import { WAIT_WORDS, waitWordsOf } from "./wait-notice.ts"

const codes = Object.keys(REASONS) as ReasonCode[]
const words = (code: ReasonCode) => WAIT_WORDS[code]?.("shop")

describe("what is said of a message that waits", () => {
  for (const code of codes.filter((one) => WAIT_WORDS[one] !== null))
    test(`is one sentence for a person: ${code}`, () => {
      const said = words(code)!
      expect(said.words).toMatch(/^[A-Z].*[a-z\d`]\.$/)
      expect(said.words.match(/\.(?:\s|$)/g)).toHaveLength(1)
      expect(said.words).not.toMatch(/pull_updates|queue_status|undefined|\bmail\b|lane|rung|[a-z]_[a-z]/)
      expect(said.words.length).toBeLessThan(160)
    })

  test("comes at once where nothing will change by itself, late where it mostly does, and never by itself for an agent at work", () => {
    const afterOf = (code: ReasonCode) => words(code)!.afterMs
    for (const code of [
      "not_in_tmux",
      "never_heard",
      "cannot_type",
      "session_ended",
      "not_shown",
      "no_way_in",
    ] as const)
      expect([code, afterOf(code)]).toEqual([code, 800])
    for (const code of ["dialog_open", "agent_waits", "draft_open"] as const)
      expect([code, afterOf(code)]).toEqual([code, 30_000])
    for (const code of ["agent_busy", "other_first", "agent_moved"] as const)
      expect([code, afterOf(code)]).toEqual([code, null])
    expect(codes.filter((code) => words(code)?.canResume)).toEqual(["session_ended"])
  })

  test("is found by what the row says, with what it names", () => {
    expect(waitWordsOf(because("cannot_type", "Gemini CLI").words)?.words).toBe(
      "This agent (Gemini CLI) does not accept typed messages; use its own terminal.",
    )
    expect(waitWordsOf(because("agent_waits", "permission_prompt").words)?.words).toBe(
      "The agent is waiting for an answer at its terminal (permission prompt); your message is delivered after that.",
    )
    expect(waitWordsOf("taken back")).toBeUndefined()
    expect(waitWordsOf("the disk is full")).toBeUndefined()
    expect(waitWordsOf(null)).toBeUndefined()
  })
})
