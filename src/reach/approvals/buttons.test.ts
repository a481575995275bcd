import { describe, expect, test } from "vitest"
import type { Permission } from "../../domain/permission.ts"
import { buttonsOf, openQuestion } from "./buttons.ts"

const redact = (text: string) => text.replaceAll("secret", "***")
const asked = (more: Partial<Permission> = {}): Permission => ({
  ...{ id: "q-0123456789abcdef", home: "h", asker: "a", team: null, sessionId: null, tool: "Bash", title: "" },
  ...{ input: { command: "ls" }, suggestions: [], state: "waiting", always: null, reason: null, answeredBy: null },
  ...{ waiter: "hook", questions: [], answers: {}, takenAtMs: null },
  ...{ askedAtMs: 0, answeredAtMs: null, expiresAtMs: 1 },
  ...more,
})
const labels = (permission: Permission) => buttonsOf(permission, redact).map((row) => row.map(({ label }) => label))

describe("the buttons of a card", () => {
  test("are a yes, a no, and one for each rule, without secrets and within what a button carries", () => {
    const many = asked({
      suggestions: Array.from({ length: 20 }, (_, n) => ({ label: `allow secret ${n} ${"x".repeat(300)}` })),
    })
    const buttons = buttonsOf(many, redact).flat()
    expect(buttons).toHaveLength(23)
    for (const { label, data } of buttons) {
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64)
      expect(label.length).toBeLessThanOrEqual(60)
      expect(label).not.toContain("secret")
    }
    expect(labels(asked())).toEqual([["✅ Allow", "⛔ Deny", "✋ Deny and stop"]])
    expect(labels(asked({ waiter: "process" }))).toEqual([["✅ Allow", "⛔ Deny"]])
  })

  test("offer all of it only where the card cannot show it", () => {
    expect(labels(asked({ input: { command: "x".repeat(5_000) } })).at(-1)).toEqual(["📄 Show all"])
    expect(labels(asked()).flat()).not.toContain("📄 Show all")
  })

  test("lead through its questions, one after another", () => {
    const option = (label: string) => ({ label })
    const questions = [
      { key: "a", text: "A?", options: [option("one"), option("two"), option("three")], isMany: false, isOpen: true },
      { key: "b", text: "B?", options: [option("a rather long option"), option("short")], isMany: true, isOpen: false },
    ]
    expect(labels(asked({ questions }))).toEqual([["one", "two"], ["three"], ["⛔ Deny"]])
    const next = { questions, answers: { a: ["one"] } }
    expect(labels(asked(next))).toEqual([["◻️ a rather long option"], ["◻️ short"], ["⛔ Deny"]])
    const ticked = { questions, answers: { a: ["one"], b: ["short", ""] } }
    expect(labels(asked(ticked))).toEqual([["◻️ a rather long option"], ["☑️ short"], ["Done"], ["⛔ Deny"]])
    expect(openQuestion(asked({ questions, answers: { a: ["one"], b: ["short"] } }))).toBeUndefined()
  })
})
