import type { Permission } from "../../domain/permission.ts"
import type { RichText } from "../../domain/rich-text.ts"
import { firstLine, shorten, shown } from "./clean.ts"
import { markdown } from "./markdown.ts"
import { concat, legal, marked, slice, wholeAt } from "./marks.ts"

/** The beginning and the end of a long input that are always shown. */
const HEAD_UNITS = 1_200
const TAIL_UNITS = 800
const MOST_QUESTIONS = 4
const MOST_OPTIONS = 10

export interface ApprovalWords {
  /** Removes secrets: the text leaves this machine. */
  redact(text: string): string
}

/** The text of an approval request. It never cuts the end, where the dangerous part may be. */
export function approvalText(asked: Permission, { redact }: ApprovalWords): RichText {
  const permission = withoutSecrets(asked, redact)
  const { asker, tool } = permission
  const who = firstLine(asker, 120)
  return legal(
    concat(
      { text: "🔐 ", marks: [] },
      marked("bold", `${headOf(tool)}`),
      { text: `\n${who}\n\n`, marks: [] },
      bodyOf(permission, redact),
      rulesOf(permission),
    ),
  )
}

/** The length of a rule that fits on its button; a longer one is also in the text, as far as there is space. */
export const BUTTON_UNITS = 60
const RULES_UNITS = 1_200

/** Nobody may permanently allow what they cannot read. The readable rules, by their positions. */
export function readableRules(labels: readonly string[]): { place: number; isInText: boolean }[] {
  let left = RULES_UNITS
  return labels.flatMap((label, place) => {
    const isInText = label.includes("\n") || ALWAYS.length + label.length > BUTTON_UNITS
    const units = isInText ? ALWAYS.length + shown(label).length + 1 : 0
    if (units > left) return []
    left -= units
    return [{ place, isInText }]
  })
}

function rulesOf({ suggestions, questions }: Permission): RichText {
  const labels = suggestions.map(({ label }) => label)
  const long = questions.length > 0 ? [] : readableRules(labels).filter(({ isInText }) => isInText)
  return concat(
    ...long.flatMap(({ place }) => [marked("bold", `\n${ALWAYS}`), { text: shown(labels[place]!), marks: [] }]),
  )
}
export const ALWAYS = "Always: "

/** The text after the decision: who decided what, and when. */
export function decidedText(asked: Permission, { redact }: ApprovalWords): RichText {
  const permission = withoutSecrets(asked, redact)
  const { state, tool, answeredBy, answeredAtMs, reason, always, suggestions } = permission
  const isSaid = answeredBy !== null && answeredBy !== "throughline" && state !== "stale"
  const by = isSaid ? ` by ${nameOf(answeredBy)}` : ""
  const at = answeredAtMs === null ? "" : ` at ${new Date(answeredAtMs).toISOString().slice(11, 16)} UTC`
  const rule = always === null ? undefined : suggestions[always]?.label
  const lines = [
    `${DECIDED[state]}${by}${at}`,
    ...(rule === undefined ? [] : [`${ALWAYS}${firstLine(rule, RULES_UNITS)}`]),
    ...(reason ? [firstLine(reason, 200)] : []),
  ]
  const what = `${firstLine(tool, 60)}: ${firstLine(redact(gist(permission)), 200)}`
  return legal(
    concat(
      marked("bold", lines[0]!),
      { text: `${["", ...lines.slice(1)].join("\n")}\n`, marks: [] },
      marked("code", what),
    ),
  )
}

/** Whether the approval request shows only a part of the input. */
export const isCut = (asked: Permission, redact: (text: string) => string): boolean =>
  CUT.test(approvalText(asked, { redact }).text)

/** The whole input. */
export const wholeInput = (asked: Permission, redact: (text: string) => string): string =>
  shown(redact(inputText(withoutSecrets(asked, redact))))

/** Redact before cutting: half a secret is not detected. Values alone, and together with their names. */
function withoutSecrets(permission: Permission, redact: (text: string) => string): Permission {
  const bare = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value)
    if (Array.isArray(value)) return value.map(bare)
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [redact(key), named(key, bare(inner))]))
  }
  const named = (key: string, value: unknown) => {
    if (typeof value !== "string") return value
    const before = `${key}: `
    const told = redact(before + value)
    return told.startsWith(before) ? told.slice(before.length) : value
  }
  const { asker, title, input, suggestions, questions, answers, reason } = permission
  return {
    ...permission,
    asker: redact(asker),
    title: redact(title),
    input: bare(input) as Permission["input"],
    suggestions: suggestions.map(({ label }) => ({ label: redact(label) })),
    // The keys of questions are text too.
    questions: bare(questions) as Permission["questions"],
    answers: bare(answers) as Permission["answers"],
    reason: reason === null ? null : redact(reason),
  }
}

/** Readers know people by name; the audit has their ids. */
const nameOf = (by: string) => firstLine(by, 60).replace(/ \(\w+ \d+\)$/, "")

const CUT = /\n… [\d,]+ characters between …\n/

const DECIDED: Record<Permission["state"], string> = {
  waiting: "⏳ Waiting",
  allowed: "✅ Allowed",
  denied: "⛔ Denied",
  timed_out: "⌛ Nobody answered",
  stale: "↩️ Withdrawn",
}

function headOf(tool: string): string {
  if (tool === QUESTION) return "The agent asks"
  if (tool === PLAN) return "The agent has a plan"
  return `May it use ${firstLine(tool, 60)}?`
}

const QUESTION = "AskUserQuestion"
const PLAN = "ExitPlanMode"

function bodyOf(permission: Permission, redact: (text: string) => string): RichText {
  const { tool, input, title } = permission
  if (tool === PLAN && typeof input.plan === "string") return shortened(markdown(redact(input.plan)))
  const questions = questionsOf(permission)
  if (questions.length > 0) return shortened(markdown(redact(questions.join("\n\n"))))
  const text = shown(redact(inputText(permission)))
  const { description } = input
  const said = typeof description === "string" ? description : title
  const about = said === "" || text.includes(said) ? "" : `${firstLine(redact(said), 300)}\n`
  return concat({ text: about, marks: [] }, shortened(marked("pre", text)))
}

/** The command alone, or each argument with its name. */
function inputText({ input }: Permission): string {
  const { command, cmd } = input
  const [only, ...more] = Object.entries(input).filter(([key]) => key !== "description")
  const script = typeof command === "string" ? command : cmd
  const others = more.filter(([key]) => !/^(?:timeout|run_in_background)$/.test(key))
  if (typeof script === "string" && others.length === 0) return script
  if (!only) return "(nothing)"
  return [only, ...more].map(([key, value]) => `${key}: ${valueText(value)}`).join("\n")
}

const valueText = (value: unknown): string =>
  typeof value === "string" ? (value.includes("\n") ? `\n${value}` : value) : JSON.stringify(value, undefined, 1)

function gist(permission: Permission): string {
  const { tool, input, title } = permission
  if (permission.questions.length > 0) return questionsOf(permission).join(" ").replaceAll("**", "") || title
  return tool === PLAN && typeof input.plan === "string" ? input.plan : inputText(permission)
}

/** Each question with its options, or with the chosen ones. */
function questionsOf({ questions, answers }: Permission): string[] {
  return questions.slice(0, MOST_QUESTIONS).map(({ key, text, options, isOpen }) => {
    const head = `**${shorten(text, 600)}**`
    const chosen = answers[key]
    if (chosen && chosen.at(-1) !== "") return `${head}\n→ ${firstLine(chosen.join(", "), 200)}`
    const offered = options
      .slice(0, MOST_OPTIONS)
      .map(({ label, detail }) => `- **${firstLine(label, 80)}**${detail ? ` ${firstLine(detail, 200)}` : ""}`)
    return [head, ...offered, ...(isOpen ? ["_Or reply to this message in your own words._"] : [])].join("\n")
  })
}

/** Head and tail, and the length between: dangerous parts are often at the end. */
function shortened(rich: RichText): RichText {
  const { text } = rich
  if (text.length <= HEAD_UNITS + TAIL_UNITS + 100) return rich
  const head = wholeAt(text, HEAD_UNITS)
  const tail = wholeAt(text, text.length - TAIL_UNITS)
  // Matched by CUT.
  const between = `\n… ${(tail - head).toLocaleString("en")} characters between …\n`
  return concat(slice(rich, 0, head), marked("italic", between), slice(rich, tail, text.length))
}
