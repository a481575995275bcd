import type { ProjectId } from "../domain/ids.ts"
import type { TaskStates } from "../domain/queue-store.ts"
import type { Db } from "./dialect.ts"

export function makeTaskStates(db: Db): TaskStates {
  return {
    async put(state) {
      const facts = {
        current_task: state.currentTask,
        current_task_id: state.currentTaskId,
        last_completed_step: state.lastCompletedStep,
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
          lastCompletedStep: row.last_completed_step,
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
  }
}
