import { BUTTON, type OutgoingButton } from "../../domain/outgoing.ts"
import type { Permission, PermissionAnswers, PermissionQuestion } from "../../domain/permission.ts"
import { ALWAYS, BUTTON_UNITS, isCut, readableRules } from "../render/approval.ts"
import { firstLine } from "../render/clean.ts"

/** More would not be read, and the messenger limits them. */
const MOST_OPTIONS = 20
const SHORT_UNITS = 14

/** The buttons of an approval request. They carry ids and positions, never text. */
export function buttonsOf(permission: Permission, redact: (text: string) => string): OutgoingButton[][] {
  const { id, suggestions, via } = permission
  const button = (label: string, verb: string) => ({
    label: firstLine(redact(label), BUTTON_UNITS),
    data: `${BUTTON.permission}:${id}:${verb}`,
  })
  const all = isCut(permission, redact) ? [[button("📄 Show all", "full")]] : []
  const open = openQuestion(permission)
  if (open) return [...optionRows(open, permission, button), [button("⛔ Deny", "deny")], ...all]
  const stop = via === "hook" ? [button("✋ Deny and stop", "stop")] : []
  const labels = suggestions.map(({ label }) => redact(label))
  const rules = readableRules(labels).map(({ place }) => [button(`${ALWAYS}${labels[place]}`, `always-${place}`)])
  return [[button("✅ Allow", "allow"), button("⛔ Deny", "deny"), ...stop], ...rules, ...all]
}

/** The position of the next unanswered question; undefined where there is none. */
export function openQuestion({
  questions,
  answers,
}: Permission): { question: PermissionQuestion; at: number } | undefined {
  const at = questions.findIndex(({ key }) => isUnanswered(answers[key]))
  return at < 0 ? undefined : { question: questions[at]!, at }
}

/** A multiple choice ends with an empty string until the person is done. */
export const STILL_CHOOSING = ""
const isUnanswered = (words: string[] | undefined) => words === undefined || words.at(-1) === STILL_CHOOSING
export const chosenIn = (answers: PermissionAnswers, key: string) =>
  (answers[key] ?? []).filter((word) => word !== STILL_CHOOSING)

function optionRows(
  { question, at }: { question: PermissionQuestion; at: number },
  { answers }: Permission,
  button: (label: string, verb: string) => OutgoingButton,
): OutgoingButton[][] {
  const chosen = chosenIn(answers, question.key)
  const options = question.options.slice(0, MOST_OPTIONS).map(({ label }, place) => {
    const mark = question.isMany ? (chosen.includes(label) ? "☑️ " : "◻️ ") : ""
    return button(`${mark}${label}`, `option-${at}-${place}`)
  })
  const isShort = options.every(({ label }) => label.length <= SHORT_UNITS)
  const rows = isShort
    ? options.flatMap((_, place) => (place % 2 === 0 ? [options.slice(place, place + 2)] : []))
    : options.map((one) => [one])
  return question.isMany && chosen.length > 0 ? [...rows, [button("Done", `chosen-${at}`)]] : rows
}
