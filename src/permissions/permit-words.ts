import type { PermissionAnswer } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import type { KeptWords, Permission, PermissionAnswers } from "../domain/permission.ts"
import { redactInside } from "../domain/redact.ts"

/** What one who waits is told. */
export function answerOf(
  { state, always, reason, answeredBy, answers }: Permission,
  { updatedInput, answers: whole, interrupt }: Meant = {},
): PermissionAnswer {
  if (state === "allowed") {
    const said = whole ?? answers
    return {
      behavior: "allow",
      ...(always !== null && { always }),
      ...(updatedInput && { updatedInput }),
      ...(Object.keys(said).length > 0 && { answers: said }),
    }
  }
  if (state === "denied") {
    const message = `Denied by ${answeredBy}${reason ? `: ${reason}` : ""}`
    return { behavior: "deny", message, ...(interrupt && { interrupt }) }
  }
  return { behavior: "deny", message: `Not allowed: ${reason ?? state}` }
}

/** What a decision holds that is not kept: it may have secrets in it. */
export interface Meant {
  updatedInput?: Permission["input"] | undefined
  answers?: PermissionAnswers | undefined
  interrupt?: boolean | undefined
}

export const lateText = (ms: number) => {
  const minutes = Number((ms / 60_000).toFixed(2))
  return `nobody answered within ${minutes === 1 ? "a minute" : `${minutes} minutes`}`
}

/** Which of the rules that were offered is meant. */
export function ruleOf({ suggestions, tool }: Permission, which = suggestions.length === 1 ? 0 : -1): number {
  if (suggestions[which] !== undefined) return which
  const offered = suggestions.map(({ label }, place) => `${place + 1} (${label})`).join(", ")
  const why = suggestions.length === 0 ? `no rule is offered for this ${tool}` : `which must be one of ${offered}`
  throw new Failure("bad_input", why, { parameter: "which" })
}

export function keptOf(
  { title, input, suggestions, answers }: Permission,
  redact: (text: string) => string,
): KeptWords {
  return {
    title: redact(title),
    input: redactInside(input, redact),
    suggestions: suggestions.map(({ label }) => ({ label: redact(label) })),
    answers: redactInside(answers, redact) as PermissionAnswers,
  }
}

/** One answer for each question, and none that could not be given to it. */
export function checkedAnswers({ questions, tool }: Permission, given: PermissionAnswers): PermissionAnswers {
  const bad = (why: string) => new Failure("bad_input", why, { parameter: "answers" })
  if (questions.length === 0) throw bad(`${tool} asks for a yes or no`)
  return Object.fromEntries(
    questions.map(({ key, text, options, isMany, isOpen }) => {
      const said = (given[key] ?? []).filter((word) => word.trim() !== "")
      if (said.length === 0) throw bad(`there is no answer to ${JSON.stringify(text)}`)
      if (said.length > 1 && !isMany) throw bad(`${JSON.stringify(text)} takes one answer`)
      const other = said.find((word) => !options.some(({ label }) => label === word))
      if (other !== undefined && !isOpen) throw bad(`${JSON.stringify(other)} is none of the answers that it takes`)
      return [key, said]
    }),
  )
}
