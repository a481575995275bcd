import type { RichText } from "../../domain/rich-text.ts"
import { firstLine } from "./clean.ts"
import { concat, legal, marked } from "./marks.ts"

/** Our own notices about a session: short, and never more than is known. */

export const doneNote = ({ durationMs, tools }: { durationMs: number | null; tools: number }): RichText =>
  plainNote(
    ["✅ done", ...(durationMs === null ? [] : [`in ${spanOf(durationMs)}`])].join(" ") +
      (tools === 0 ? "" : ` · ${tools} ${tools === 1 ? "tool" : "tools"}`),
  )

/** Why an agent's turn broke off, by its hook's error. */
export function failedNote(error: string | undefined): RichText {
  const known = error === undefined ? undefined : ERRORS[error]
  if (known) return titled(known[0], known[1])
  return titled("❌ The turn broke off", error === undefined ? undefined : `The agent says: ${firstLine(error, 80)}`)
}

const ERRORS: Record<string, [string, string]> = {
  rate_limit: ["🪫 Usage limit reached", "The agent has to wait. Your messages stay queued until it continues."],
  overloaded: ["❌ The model is overloaded", "The turn broke off. Send “continue” to try again."],
  server_error: ["❌ The model's server failed", "The turn broke off. Send “continue” to try again."],
  authentication_failed: ["❌ Logged out", "Log the agent in again on the computer."],
  billing_error: ["❌ The account cannot pay", "Check the agent at the computer."],
  invalid_request: ["❌ The model refused the request", "The turn broke off."],
  max_output_tokens: ["❌ The answer became too long", "The turn was cut off. Send “continue” to go on."],
}

/** The agent needs somebody, by the type in its hook. */
export const needsNote = (type: string): RichText =>
  type === "permission_prompt"
    ? titled("✋ It waits for a permission", "It can be given at the desk.")
    : titled(
        "✋ It needs your answer",
        type.startsWith("elicitation") ? "A tool asks for something at the desk." : undefined,
      )

export const compactedNote = (): RichText => plainNote("🗜 The conversation was compacted")

const ENDS: Record<string, string> = {
  clear: "It was cleared.",
  resume: "Another session was opened in its place.",
  logout: "The agent was logged out.",
  prompt_input_exit: "The agent was closed.",
  gone: "Its process is gone.",
}
export const endedNote = (why: string): RichText => {
  const told = ENDS[why]
  return plainNote(`⏹ The session ended.${told ? ` ${told}` : ""}`)
}

/** A message was not delivered. */
export const refusedNote = (why: string): RichText => plainNote(`⚠️ Not delivered: ${firstLine(why, 300)}`)

/** Links to the session that this one continues. */
export function continuesNote(how: string, before: { name: string; url: string | undefined }): RichText {
  const name = firstLine(before.name, 120)
  const link: RichText = before.url
    ? { text: name, marks: [{ kind: "link", url: before.url, offset: 0, length: name.length }] }
    : { text: name, marks: [] }
  return legal(concat({ text: `${CONTINUES.get(how) ?? "🔗 Continues"} `, marks: [] }, link))
}
const CONTINUES = new Map([
  ["clear", "🔗 After /clear of"],
  ["fork", "🔗 A copy of"],
  ["compact", "🔗 Continues, compacted, from"],
  ["handover", "🔗 Taken over from"],
])

export interface RestartNote {
  team: string
  /** The agents' own session ids; null where there is none. */
  old: string | null
  new: string | null
  cause: string
  task: string | undefined
  pending: number
}

export function restartNote({ team, old, new: next, cause, task, pending }: RestartNote): RichText {
  const head = next === null ? `❌ ${firstLine(team, 60)} is gone` : `🔄 ${firstLine(team, 60)} was restarted`
  const lines = [
    ...(old === null ? [] : [`${short(old)} → ${next === null ? "nobody" : short(next)} (${firstLine(cause, 40)})`]),
    ...(task ? [`Last task: ${firstLine(task, 200)}`] : []),
    ...(pending === 0 ? [] : [`${pending} ${pending === 1 ? "message waits" : "messages wait"}`]),
  ]
  return titled(head, lines.join("\n"))
}

export function titled(title: string, words?: string): RichText {
  return legal(concat(marked("bold", title), { text: words ? `\n${words}` : "", marks: [] }))
}

const plainNote = (text: string): RichText => ({ text, marks: [] })
const short = (id: string) => firstLine(id, 60).slice(0, 8)

export function spanOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
