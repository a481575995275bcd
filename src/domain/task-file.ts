import { quoteLines } from "./framing.ts"
import { UNTRUSTED_LABEL, UNTRUSTED_NOTE } from "./origin.ts"
import type { TaskStep } from "./task-state.ts"

/** The name that agents' instructions give it. */
export const TASK_STATE_FILE = ".claude-session-state.json"

/** What the file in a project says of a task: content of a repository, whoever wrote it. */
export interface TaskFile {
  session_id: string | null
  current_task: string | null
  current_task_id: string | null
  last_completed_step: TaskStep | null
  pending_messages: string[]
  updated_at: string | null
}

const SHOWN_CHARS = 1_500

/** For an agent: quoted, marked, and no word of ours. */
export function taskFileText(file: Omit<TaskFile, "session_id">): string {
  const facts = [
    ["task", file.current_task],
    ["task id", file.current_task_id],
    ["last completed step", file.last_completed_step],
    ["messages not answered", file.pending_messages.join(", ") || null],
    ["saved", file.updated_at],
  ] as const
  const lines = facts.flatMap(([name, said]) => (said === null ? [] : `${name}: ${String(said).slice(0, SHOWN_CHARS)}`))
  return `${TASK_STATE_FILE} in the project says (${UNTRUSTED_LABEL}):\n${quoteLines(lines.join("\n"))}\n${UNTRUSTED_NOTE}`
}
