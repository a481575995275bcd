import { join } from "node:path"
import type { FileSetup } from "../../domain/setup.ts"
import { readText } from "./shared/files.ts"

/** For agents whose conversations cannot be read and that run no hooks: instructions in the project, to bring them. */
export function projectRules(projectDir: string): FileSetup[] {
  return [
    rules("cursor-rules", "Cursor's rules of this project", join(projectDir, ".cursorrules")),
    rules("cline-rules", "Cline's rules of this project", join(projectDir, ".clinerules")),
  ]
}

const BEGIN = "<!-- throughline: begin (added by `throughline setup`; `throughline unsetup` takes it out) -->"
const END = "<!-- throughline: end -->"
const BLOCK = `${BEGIN}
After each answer, keep the exchange with the tool log_conversation_exchange: user_message is what the user asked,
ai_response what you answered, session_id the same id for the whole conversation. When a conversation begins in a project
that has a history, call init with {"operation":"load_context"} first.
${END}
`

function rules(platform: string, label: string, path: string): FileSetup {
  return {
    platform,
    label,
    onlyNamed: true,
    folder: () => join(path, ".."),
    plan() {
      const before = readText(path)
      const without = withoutBlock(before ?? "")
      const after = `${without === "" || without.endsWith("\n") ? without : `${without}\n`}${without === "" ? "" : "\n"}${BLOCK}`
      const isThere = before?.includes(BLOCK) ?? false
      return isThere ? [] : [{ path, before, after, summary: "ask the agent to keep its conversations" }]
    },
    remove() {
      const before = readText(path)
      if (before === null || !before.includes(BEGIN)) return []
      const left = withoutBlock(before)
      return [{ path, before, after: left.trim() === "" ? null : left, summary: "take the instructions out" }]
    },
  }
}

/** The text as it would be without ours; an older wording between the marks goes too. */
function withoutBlock(text: string): string {
  const start = text.indexOf(BEGIN)
  const end = text.indexOf(END, start)
  if (start < 0 || end < 0) return text
  return text.slice(0, start).replace(/\n\n$/, "\n") + text.slice(end + END.length).replace(/^\n/, "")
}
