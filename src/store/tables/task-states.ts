import type { Selectable } from "kysely"
import type { ProjectId } from "../../domain/ids.ts"
import type { TaskStates } from "../../domain/queue-store.ts"
import type { TaskStep } from "../../domain/task-state.ts"
import type { Db } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export function makeTaskStates(db: Db): TaskStates {
  return {
    async put(state) {
      const facts = {
        current_task: state.currentTask,
        current_task_id: state.currentTaskId,
        last_completed_step: state.lastCompletedStep === null ? null : String(state.lastCompletedStep),
        is_step_number: Number(typeof state.lastCompletedStep === "number"),
        pending_messages: JSON.stringify(state.pendingMessages),
        updated_at_ms: state.updatedAtMs,
      }
      await db
        .insertInto("task_states")
        .values({ project_id: state.projectId, native_session_id: state.nativeSessionId, ...facts })
        .onConflict((c) => c.columns(["project_id", "native_session_id"]).doUpdateSet(facts))
        .execute()
    },
    async get(projectId, nativeSessionId) {
      let query = db.selectFrom("task_states").selectAll().where("project_id", "=", projectId)
      if (nativeSessionId !== undefined) query = query.where("native_session_id", "=", nativeSessionId)
      const row = await query.orderBy("updated_at_ms", "desc").limit(1).executeTakeFirst()
      return (
        row && {
          projectId: row.project_id as ProjectId,
          nativeSessionId: row.native_session_id,
          currentTask: row.current_task,
          currentTaskId: row.current_task_id,
          lastCompletedStep: stepOf(row),
          pendingMessages: JSON.parse(row.pending_messages) as string[],
          updatedAtMs: row.updated_at_ms,
        }
      )
    },
    async clear(projectId, nativeSessionId) {
      let query = db.deleteFrom("task_states").where("project_id", "=", projectId)
      if (nativeSessionId !== undefined) query = query.where("native_session_id", "=", nativeSessionId)
      return Number((await query.executeTakeFirst()).numDeletedRows)
    },
    async forget({ projectId, containing, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER }) {
      let query = db.selectFrom("task_states").selectAll()
      if (projectId !== undefined) query = query.where("project_id", "=", projectId)
      // They are few: one for each session that has a task.
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

function stepOf({ last_completed_step: step, is_step_number }: Selectable<Tables["task_states"]>): TaskStep | null {
  // Forgetting may have put other words in its place.
  const isNumber = is_step_number === 1 && step !== null && Number.isFinite(Number(step))
  return isNumber ? Number(step) : step
}
