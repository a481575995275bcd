import { expect, test } from "vitest"
import type { Permission } from "../../domain/permission.ts"
import { cardText } from "../render/card.ts"
import { buttonsOf } from "./buttons.ts"

const redact = (text: string) => text
const asked = (...labels: string[]): Permission => ({
  ...{ id: "q-1", home: "h", asker: "api", team: null, sessionId: null, tool: "Bash", title: "" },
  ...{ input: { command: "npm test" }, suggestions: labels.map((label) => ({ label })), state: "waiting" },
  ...{ always: null, reason: null, answeredBy: null, waiter: "hook", questions: [], answers: {}, takenAtMs: null },
  ...{ askedAtMs: 0, answeredAtMs: null, expiresAtMs: 1 },
})
const rulesOf = (permission: Permission) =>
  buttonsOf(permission, redact)
    .flat()
    .filter(({ label }) => label.startsWith("Always"))

test("a rule whose end does not fit on its button stands whole in the card", () => {
  const rule = `allow Bash(npm test *), Bash(npm run *), Bash(docker compose *), Bash(rm -rf *) (localSettings)`
  expect(rulesOf(asked(rule))[0]!.label).toMatch(/…$/)
  expect(cardText(asked(rule), { redact }).text).toContain(`\nAlways: ${rule}`)
  const lines = "allow Bash(ls\nrm -rf /)"
  expect(cardText(asked(lines), { redact }).text).toContain(`\nAlways: ${lines}`)
  expect(cardText(asked("allow Bash(ls)"), { redact }).text).not.toContain("Always")
})

test("a rule that not even the card can show whole is not offered, and the others keep their places", () => {
  const offered = rulesOf(asked(`allow Bash(${"x".repeat(600)})`, "allow Bash(ls)"))
  expect(offered).toEqual([{ label: "Always: allow Bash(ls)", data: expect.stringMatching(/:always-1$/) }])
})
