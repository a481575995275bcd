import type { Selectable } from "kysely"
import type { TaskStates } from "../../domain/queue-store.ts"
import type { TaskState } from "../../domain/task-state.ts"
import type { Db } from "../dialects/dialect.ts"
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
      await db
        .insertInto("task_states")
        .values(row)
        .onConflict((c) => c.columns(["project_id", "native_session_id"]).doUpdateSet(row))
        .execute()
    },
    async get(projectId, nativeSessionId) {
      let query = db.selectFrom("task_states").selectAll().where("project_id", "=", projectId)
      if (nativeSessionId !== undefined) query = query.where("native_session_id", "=", nativeSessionId)
      const row = await query.orderBy("updated_at_ms", "desc").limit(1).executeTakeFirst()
      return row && toTaskState(row)
    },
    async clear(projectId, nativeSessionId) {
      let query = db.deleteFrom("task_states").where("project_id", "=", projectId)
      if (nativeSessionId !== undefined) query = query.where("native_session_id", "=", nativeSessionId)
      return Number((await query.executeTakeFirst()).numDeletedRows)
    },
    async forget({ projectId, containing, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER }) {
      let query = db.selectFrom("task_states").selectAll()
      if (projectId !== undefined) query = query.where("project_id", "=", projectId)
      // Few rows: one for each session with a task.
      const gone = (await query.execute()).filter(({ updated_at_ms, ...row }) => {
        const texts = [row.current_task, row.current_task_id, row.last_completed_step, row.pending_messages]
        const holds = containing === undefined || texts.some((text) => text?.includes(containing))
        return holds && updated_at_ms >= sinceMs && updated_at_ms < untilMs
      })
      for (const { project_id, native_session_id } of gone)
        await db
          .deleteFrom("task_states")
          .where("project_id", "=", project_id)
          .where("native_session_id", "=", native_session_id)
          .execute()
      return gone.length
    },
  }
}

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
