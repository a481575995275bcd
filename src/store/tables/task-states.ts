import type { Selectable } from "kysely"
import type { TaskStates } from "../../domain/queue-store.ts"
import type { TaskState } from "../../domain/task-state.ts"
import type { Db } from "../dialects/dialect.ts"
import { one, remove, select, upsert } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makeTaskStates(db: Db): TaskStates {
  return {
    async put({ lastCompletedStep: step, ...state }) {
      const row = {
        ...toColumns(state),
        last_completed_step: step === null ? null : String(step),
        is_step_number: Number(typeof step === "number"),
      }
      await upsert(db, "task_states", ["project_id", "native_session_id"], row)
    },
    get(projectId, nativeSessionId) {
      const states = select(db, "task_states", keyOf(projectId, nativeSessionId))
      return one(states.orderBy("updated_at_ms", "desc").limit(1), toTaskState)
    },
    clear: (projectId, nativeSessionId) => remove(db, "task_states", keyOf(projectId, nativeSessionId)),
    async forget({ projectId, containing, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER }) {
      const states = select(db, "task_states", projectId === undefined ? {} : { project_id: projectId })
      // Few rows: one for each session with a task.
      const gone = (await states.execute()).filter(({ updated_at_ms, ...row }) => {
        const texts = [row.current_task, row.current_task_id, row.last_completed_step, row.pending_messages]
        const holds = containing === undefined || texts.some((text) => text?.includes(containing))
        return holds && updated_at_ms >= sinceMs && updated_at_ms < untilMs
      })
      for (const { project_id, native_session_id } of gone)
        await remove(db, "task_states", { project_id, native_session_id })
      return gone.length
    },
  }
}

const keyOf = (projectId: string, nativeSessionId: string | undefined) => ({
  project_id: projectId,
  ...(nativeSessionId !== undefined && { native_session_id: nativeSessionId }),
})

const decode = rowDecoder<Omit<TaskState, "lastCompletedStep">>({ json: ["pendingMessages"] })

function toTaskState({
  last_completed_step: step,
  is_step_number,
  ...row
}: Selectable<Tables["task_states"]>): TaskState {
  // Forgetting may have replaced the digits.
  const isNumber = is_step_number === 1 && step !== null && Number.isFinite(Number(step))
  return { ...decode(row), lastCompletedStep: isNumber ? Number(step) : step }
}
