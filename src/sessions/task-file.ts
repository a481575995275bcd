import { join } from "node:path"
import type { ArchiveRules } from "../domain/capture.ts"
import { TASK_STATE_FILE, type TaskFile } from "../domain/task-file.ts"
import { plainText } from "../domain/text.ts"
import { jsonObject } from "../lib/json-object.ts"
import { textIfAny } from "../lib/untrusted-file.ts"

/** The limits of `task_state`. */
const MOST = { bytes: 64 * 1024, task: 4_000, step: 1_000, id: 200, pending: 100 }

/** Undefined if the file names no task. Redacted, because the result is stored. */
export function readTaskFile(
  projectDir: string,
  { redact, excluded }: Pick<ArchiveRules, "redact" | "excluded">,
): TaskFile | undefined {
  if (excluded(projectDir)) return undefined
  const text = textIfAny(join(projectDir, TASK_STATE_FILE), { within: projectDir, maxBytes: MOST.bytes })
  const said = text === undefined ? undefined : jsonObject(text)
  if (said === undefined) return undefined
  const words = (value: unknown, most: number) =>
    typeof value === "string" && value.trim() !== "" ? redact(plainText(value), projectDir).slice(0, most) : null
  const { last_completed_step: step, pending_messages: pending, updated_at: updated } = said
  const updatedAtMs = typeof updated === "string" ? Date.parse(updated) : Number.NaN
  const file: TaskFile = {
    session_id: words(said.session_id, MOST.id),
    current_task: words(said.current_task, MOST.task),
    current_task_id: words(said.current_task_id, MOST.id),
    last_completed_step: typeof step === "number" ? step : words(step, MOST.step),
    pending_messages: (Array.isArray(pending) ? pending : [])
      .slice(0, MOST.pending)
      .flatMap((id) => words(id, MOST.id) ?? []),
    updated_at: Number.isNaN(updatedAtMs) ? null : new Date(updatedAtMs).toISOString(),
  }
  return file.current_task === null && file.pending_messages.length === 0 ? undefined : file
}
