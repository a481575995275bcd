import * as z from "zod"
import type { TaskState, TaskStep } from "../domain/task-state.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import { operation, TOOL_WRITES } from "./operation.ts"

export const taskState = operation({
  name: "task_state",
  summary: "Save your work after each step so that the next session can continue; load or clear it.",
  ...TOOL_WRITES,
  tool: { set: "queue", alwaysLoad: true, isBrief: true },
  input: z.strictObject({
    operation: z.enum(["save", "load", "clear"]).describe("save keeps omitted fields; an empty text clears one"),
    current_task: z.string().max(4_000).optional(),
    current_task_id: z.string().max(200).optional(),
    last_completed_step: z.union([z.string().max(1_000), z.number()]).optional(),
    pending_messages: z.array(z.string().max(200)).max(100).optional().describe("Ids to be answered"),
  }),
  output: z.object({
    message: z.string(),
    session_id: z.string().optional(),
    is_own: z.boolean().optional(),
    current_task: z.string().optional(),
    current_task_id: z.string().optional(),
    last_completed_step: z.union([z.string(), z.number()]).optional(),
    pending_messages: z.array(z.string()).optional(),
    updated_at: z.string().optional(),
  }),
  text: ({ message, current_task, last_completed_step, pending_messages = [] }) =>
    [
      message,
      current_task ? `Task: ${current_task}` : "",
      last_completed_step !== undefined ? `Last completed step: ${last_completed_step}` : "",
      pending_messages.length > 0 ? `Pending: ${pending_messages.join(", ")}` : "",
    ]
      .filter(Boolean)
      .join("\n"),
  async run({ tasks }, input, caller) {
    if (input.operation === "save") {
      const state = await tasks.save(caller, {
        currentTask: given(input.current_task),
        currentTaskId: given(input.current_task_id),
        lastCompletedStep: givenStep(input.last_completed_step),
        pendingMessages: input.pending_messages,
      })
      return { message: "Saved.", is_own: true, ...view(state) }
    }
    const { state, isOwn } = await (input.operation === "load" ? tasks.load(caller) : tasks.clear(caller))
    if (!state) return { message: "No saved task for this project." }
    const whose = isOwn
      ? "this session's"
      : `session ${state.nativeSessionId || "unknown"}'s, the newest of the project`
    return {
      message: `${input.operation === "load" ? "It is" : "Cleared; it was"} ${whose}.`,
      is_own: isOwn,
      ...view(state),
    }
  },
})

/** Null removes it. */
function given(value: string | undefined): string | null | undefined {
  return value === undefined ? undefined : value.trim() || null
}

const givenStep = (value: TaskStep | undefined) => (typeof value === "number" ? value : given(value))

function view(state: TaskState) {
  return present({
    session_id: state.nativeSessionId || undefined,
    ...{ current_task: state.currentTask, current_task_id: state.currentTaskId },
    ...{ last_completed_step: state.lastCompletedStep, pending_messages: state.pendingMessages },
    updated_at: isoTime(state.updatedAtMs),
  })
}
