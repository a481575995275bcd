import { describe, expect, test } from "vitest"
import type { Permission } from "../../domain/permission.ts"
import { approvalText } from "../render/approval.ts"
import { buttonsOf, openQuestion } from "./buttons.ts"

const redact = (text: string) => text.replaceAll("secret", "***")
const asked = (more: Partial<Permission> = {}): Permission => ({
  ...{ id: "q-0123456789abcdef", home: "h", asker: "a", team: null, sessionId: null, tool: "Bash", title: "" },
  ...{ input: { command: "ls" }, suggestions: [], state: "waiting", always: null, reason: null, answeredBy: null },
  ...{ via: "hook", questions: [], answers: {}, takenAtMs: null },
  ...{ askedAtMs: 0, answeredAtMs: null, expiresAtMs: 1 },
  ...more,
})
const labels = (permission: Permission) => buttonsOf(permission, redact).map((row) => row.map(({ label }) => label))

describe("the buttons of an approval request", () => {
  test("are a yes, a no, and one for each rule, without secrets and within what a button carries", () => {
    const many = asked({
      suggestions: Array.from({ length: 20 }, (_, n) => ({ label: `allow secret ${n}` })),
    })
    const buttons = buttonsOf(many, redact).flat()
    expect(buttons).toHaveLength(23)
    for (const { label, data } of buttons) {
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64)
      expect(label.length).toBeLessThanOrEqual(60)
      expect(label).not.toContain("secret")
    }
    expect(labels(asked())).toEqual([["✅ Allow", "⛔ Deny", "✋ Deny and stop"]])
    expect(labels(asked({ via: "process" }))).toEqual([["✅ Allow", "⛔ Deny"]])
  })

  test("offer all of it only where the approval request cannot show it", () => {
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

  const ruled = (...rules: string[]) => asked({ suggestions: rules.map((label) => ({ label })) })
  const rulesOf = (permission: Permission) =>
    buttonsOf(permission, redact)
      .flat()
      .filter(({ label }) => label.startsWith("Always"))

  test("do not hide the end of a rule: what does not fit on its button stands whole in the approval request", () => {
    const rule = "allow Bash(npm test *), Bash(npm run *), Bash(docker compose *), Bash(rm -rf *) (localSettings)"
    expect(rulesOf(ruled(rule))[0]!.label).toMatch(/…$/)
    expect(approvalText(ruled(rule), { redact }).text).toContain(`\nAlways: ${rule}`)
    const lines = "allow Bash(ls\nrm -rf /)"
    expect(approvalText(ruled(lines), { redact }).text).toContain(`\nAlways: ${lines}`)
    expect(approvalText(ruled("allow Bash(ls)"), { redact }).text).not.toContain("Always")
  })

  test("do not offer a rule that not even the approval request can show whole, and the others keep their places", () => {
    const long = Array.from({ length: 20 }, (_, n) => `allow Bash(${n} ${"x".repeat(300)})`)
    const permission = { ...ruled(`allow Bash(${"x".repeat(2_000)})`, "allow Bash(ls)", ...long) }
    const offered = rulesOf({ ...permission, input: { command: "y".repeat(5_000) } })
    expect(offered.map(({ data }) => data.split(":").at(-1))).toEqual(["always-1", "always-2", "always-3", "always-4"])
    const { text } = approvalText({ ...permission, input: { command: "y".repeat(5_000) } }, { redact })
    expect(text.length).toBeLessThan(4_096)
    for (const rule of long.slice(0, 3)) expect(text).toContain(rule)
  })
})
