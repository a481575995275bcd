import type { PermissionAnswer, PermissionRequest } from "../../domain/driver.ts"
import type { PermissionQuestion } from "../../domain/permission.ts"

/** A permission rule that Claude Code suggests. */
export interface Suggestion {
  type: string
  behavior?: string
  destination?: string
  mode?: string
  directories?: string[]
  rules?: { toolName: string; ruleContent?: string }[]
}

function suggestionLabel(suggestion: Suggestion): string {
  const { type, behavior = "allow", destination, mode, directories = [], rules = [] } = suggestion
  const where = destination === undefined ? "" : ` (${destination})`
  if (type === "setMode") return `permission mode ${mode}${where}`
  if (type === "addDirectories") return `${behavior} ${directories.join(", ")}${where}`
  const named = rules.map(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName))
  return `${behavior} ${named.join(", ") || type}${where}`
}

export function permissionRequest(
  tool: string,
  input: Record<string, unknown>,
  description: unknown,
  suggestions: readonly Suggestion[] = [],
): PermissionRequest {
  return {
    tool,
    input,
    title: typeof description === "string" && description !== "" ? `${tool}: ${description}` : tool,
    suggestions: suggestions.map((value) => ({ label: suggestionLabel(value), value })),
    questions: questionsIn(tool, input),
  }
}

/** The person's answer as Claude Code reads it. Only the chosen rule: all of them would allow more than the person meant. */
export function decisionOf(
  answer: PermissionAnswer,
  suggestions: readonly Suggestion[] = [],
  updatedInput?: Record<string, unknown>,
): object {
  if (answer.behavior === "deny")
    return { behavior: "deny", message: answer.message, ...(answer.interrupt && { interrupt: true }) }
  const rule = answer.always === undefined ? undefined : suggestions[answer.always]
  return { behavior: "allow", ...(updatedInput && { updatedInput }), ...(rule && { updatedPermissions: [rule] }) }
}

interface AskedQuestion {
  question?: string
  options?: { label?: string; description?: string }[]
  multiSelect?: boolean
}

/** The questions of AskUserQuestion; none for other tools. */
function questionsIn(tool: string, input: Record<string, unknown>): PermissionQuestion[] {
  const { questions } = input as { questions?: AskedQuestion[] }
  if (tool !== "AskUserQuestion" || !Array.isArray(questions)) return []
  return questions.flatMap(({ question, options = [], multiSelect = false }) =>
    typeof question !== "string"
      ? []
      : {
          key: question,
          text: question,
          options: options.map(({ label = "", description }) => ({
            label,
            ...(description && { detail: description }),
          })),
          isMany: multiSelect,
          isOpen: true,
        },
  )
}

/** The input with the answers added, or the replaced input; undefined if unchanged. */
export function answersTo(
  input: Record<string, unknown>,
  answer: PermissionAnswer,
): Record<string, unknown> | undefined {
  if (answer.behavior === "deny") return undefined
  const { updatedInput, answers } = answer
  if (!answers) return updatedInput
  const said = Object.entries(answers).map(([question, words]) => [question, words.join(", ")])
  return { ...input, ...updatedInput, answers: Object.fromEntries(said) }
}
