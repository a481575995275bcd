import { describe, expect, test } from "vitest"
import { type Planted, plantedSecrets } from "../../../bench/redaction.ts"
import { makeRedactor } from "../../capture/redact/redaction.ts"
import type { Permission } from "../../domain/permission.ts"
import { approvalText, decidedText, wholeInput } from "./approval.ts"

const redact = makeRedactor()
const asked = (tool: string, input: Record<string, unknown>, more: Partial<Permission> = {}): Permission => ({
  ...{ id: "q-1", home: "h", asker: "api • fix the DNS", team: null, sessionId: null, tool, title: "", input },
  ...{ suggestions: [], state: "waiting", always: null, reason: null, answeredBy: null },
  ...{ via: "process", questions: [], answers: {}, takenAtMs: null },
  ...{ askedAtMs: 0, answeredAtMs: null, expiresAtMs: 1 },
  ...more,
})
const questionWith = (text: string) => ({
  key: text,
  text,
  options: [{ label: text, detail: text }],
  isMany: false,
  isOpen: true,
})

/** Any ten characters of it in a row are too many. */
function leaks({ secret }: Planted, said: string): boolean {
  for (let at = 0; at + 10 <= secret.length; at++) if (said.includes(secret.slice(at, at + 10))) return true
  return said.includes(secret)
}
const text = (permission: Permission) => approvalText(permission, { redact }).text

describe("what an agent asks to be allowed", () => {
  test("says who asks, which tool, and the whole of a short command", () => {
    expect(text(asked("Bash", { command: "rm -rf build", description: "Clean up" }))).toBe(
      "🔐 May it use Bash?\napi • fix the DNS\n\nClean up\nrm -rf build",
    )
    const asker = "Claude Code in shop, sub-agent Explore (nothing of it is on the screen)"
    expect(text(asked("Bash", { command: "ls" }, { asker }))).toContain(`\n${asker}\n`)
  })

  test("of 5,000 characters the first 1,200 and the last 800 are seen, and how many are between", () => {
    const command = `echo ${"a ".repeat(2_478)}; rm -rf / # the danger, at the very end`
    const approval = approvalText(asked("Bash", { command }), { redact })
    expect(approval.text).toContain(command.slice(0, 1_200))
    expect(approval.text).toContain(command.slice(-800))
    expect(approval.text).toContain(`… ${(command.length - 2_000).toLocaleString("en")} characters between …`)
    expect(approval.text.length).toBeLessThan(2_400)
    expect(wholeInput(asked("Bash", { command }), redact)).toBe(command)
  })

  test("what would be hidden is shown: signs that turn the text around, that are not seen, that end a line", () => {
    const approval = text(asked("Bash", { command: "echo \u202e safe \u200b\u0007" }))
    expect(approval).toContain("echo ⟨U+202E⟩ safe ⟨U+200B⟩⟨U+0007⟩")
  })

  test("arguments have their names, a plan is read as Markdown, a question has its options", () => {
    expect(text(asked("Edit", { file_path: "/a", old_string: "x\ny", n: 2 }))).toContain(
      "file_path: /a\nold_string: \nx\ny\nn: 2",
    )
    const plan = approvalText(asked("ExitPlanMode", { plan: "# Plan\n- **one**" }), { redact })
    expect(plan.text).toContain("The agent has a plan")
    expect(plan.text).toContain("Plan\n• one")
    const options = [{ label: "Red", detail: "like fire" }, { label: "Blue" }]
    const questions = [
      { key: "a", text: "Which colour?", options, isMany: false, isOpen: true },
      { key: "b", text: "How many?", options: [], isMany: false, isOpen: false },
    ]
    const first = text(asked("AskUserQuestion", {}, { questions }))
    expect(first).toContain("Which colour?\n• Red like fire\n• Blue\nOr reply to this message in your own words.")
    const next = text(asked("AskUserQuestion", {}, { questions, answers: { a: ["Red"] } }))
    expect(next).toContain("Which colour?\n→ Red")
    expect(next).not.toContain("Blue")
  })

  test("once it is decided it says who decided what, and when", () => {
    const done = asked(
      "Bash",
      { command: "ls" },
      { state: "allowed", answeredBy: "Ann (telegram 7)", answeredAtMs: 3_600_000 },
    )
    expect(decidedText(done, { redact }).text).toBe("✅ Allowed by Ann at 01:00 UTC\nBash: ls")
    const stale = asked(
      "Bash",
      { command: "ls" },
      { state: "stale", answeredBy: "throughline", reason: "answered at the desk" },
    )
    expect(decidedText(stale, { redact }).text).toBe("↩️ Withdrawn\nanswered at the desk\nBash: ls")
  })

  test("no secret leaves the machine with it, whatever its kind and wherever it stands", () => {
    const planted = plantedSecrets(2)
    expect(new Set(planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(30)
    for (const secret of planted) {
      const approvals = [
        asked("Bash", { command: secret.text, description: secret.text }),
        asked("Edit", { file_path: "/a", new_string: secret.text }, { title: secret.text, asker: secret.text }),
        asked("ExitPlanMode", { plan: secret.text }),
        asked("AskUserQuestion", {}, { questions: [questionWith(secret.text)], answers: { other: [secret.text] } }),
        asked("AskUserQuestion", {}, { questions: [questionWith("a")], answers: { a: [secret.text] } }),
      ]
      const decided = { state: "denied", answeredBy: "Ann", answeredAtMs: 1, reason: secret.text } as const
      for (const approval of approvals) {
        const said = [
          text(approval),
          decidedText({ ...approval, ...decided }, { redact }).text,
          wholeInput(approval, redact),
        ]
        for (const one of said) if (leaks(secret, withoutMarks(one))) expect({ kind: secret.kind, one }).toBeUndefined()
      }
    }
  })
})

/** The mark names the kind, and some kinds are part of their own secrets. */
const withoutMarks = (text: string) => text.replaceAll(/\[redacted:[^\]]*\]/g, "")
