import type { PermissionAnswer } from "../../domain/driver.ts"
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

export function suggestionLabel(suggestion: Suggestion): string {
  const { type, behavior = "allow", destination, mode, directories = [], rules = [] } = suggestion
  const where = destination === undefined ? "" : ` (${destination})`
  if (type === "setMode") return `permission mode ${mode}${where}`
  if (type === "addDirectories") return `${behavior} ${directories.join(", ")}${where}`
  const named = rules.map(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName))
  return `${behavior} ${named.join(", ") || type}${where}`
}

interface AskedQuestion {
  question?: string
  options?: { label?: string; description?: string }[]
  multiSelect?: boolean
}

/** The questions of AskUserQuestion; none for other tools. */
export function questionsIn(tool: string, input: Record<string, unknown>): PermissionQuestion[] {
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
  { updatedInput, answers }: Extract<PermissionAnswer, { behavior: "allow" }>,
): Record<string, unknown> | undefined {
  if (!answers) return updatedInput
  const said = Object.entries(answers).map(([question, words]) => [question, words.join(", ")])
  return { ...input, ...updatedInput, answers: Object.fromEntries(said) }
}
