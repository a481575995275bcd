import type { ProjectId } from "./ids.ts"

/** As the agent gave it: a number stays one. */
export type TaskStep = string | number

/** What an agent was doing, as it said itself, so that the next session of the project can go on. */
export interface TaskState {
  projectId: ProjectId
  /** The agent's own name for its session; empty when the caller could not be told apart. */
  nativeSessionId: string
  currentTask: string | null
  currentTaskId: string | null
  lastCompletedStep: TaskStep | null
  pendingMessages: string[]
  updatedAtMs: number
}
