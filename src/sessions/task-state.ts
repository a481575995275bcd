import { join } from "node:path"
import type { Caller } from "../domain/caller.ts"
import type { ArchiveRules } from "../domain/capture.ts"
import { Failure } from "../domain/failure.ts"
import type { Project, ProjectFinder } from "../domain/project.ts"
import type { Store } from "../domain/store.ts"
import { TASK_STATE_FILE } from "../domain/task-file.ts"
import type { TaskState, TaskStep } from "../domain/task-state.ts"
import { plainText } from "../domain/text.ts"
import type { Clock } from "../lib/clock.ts"
import { parseRoot } from "../lib/roots.ts"
import { removeFile, replaceFile } from "../lib/untrusted-write.ts"

export interface TaskInput {
  currentTask?: string | null | undefined
  currentTaskId?: string | null | undefined
  lastCompletedStep?: TaskStep | null | undefined
  pendingMessages?: string[] | undefined
}

/** What agents report they are doing, so that the project's next session can continue. */
export type Tasks = ReturnType<typeof makeTasks>

interface Deps {
  store: Store
  clock: Clock
  homeDir: string
  projects: ProjectFinder
  rules: Pick<ArchiveRules, "redact" | "excluded">
  /** Folders that also get the state of a task in `dir` as a file. */
  mirrorDirs(dir: string): readonly string[]
  onTrouble(error: unknown, path: string): void
}

export function makeTasks({ store, clock, homeDir, projects, rules, mirrorDirs, onTrouble }: Deps) {
  const place = async (caller: Caller) => {
    const root = await projects.ofCaller(caller)
    if (!root) throw new Failure("root_unknown", "this client's project root is unknown, so it has no task")
    const dir = parseRoot(root.given, homeDir)
    if (rules.excluded(dir)) throw new Failure("project_excluded", `${dir} is excluded`, { path: dir })
    return { dir, project: root.project ?? (await projects.ensure(root.given)) }
  }

  const find = async (from: Store, project: Project, own: string) => {
    const mine = await from.taskStates.get(project.id, own)
    return { state: mine ?? (await from.taskStates.get(project.id)), isOwn: mine !== undefined }
  }

  const note = async (tx: Store, kind: string, caller: Caller, state: TaskState) => {
    const { nativeSession } = caller
    const session = nativeSession && (await tx.sessions.byNative(nativeSession.platform, nativeSession.id))
    const data = { session: state.nativeSessionId, task: state.currentTaskId }
    await tx.journal.append([
      { kind, sessionId: session?.id ?? null, projectId: state.projectId, atMs: clock.nowMs(), data },
    ])
  }

  /** Best effort: a file that cannot be written must not undo the save. */
  const mirror = (dir: string, write: (path: string) => void) => {
    for (const folder of mirrorDirs(dir)) {
      const path = join(folder, TASK_STATE_FILE)
      try {
        write(path)
      } catch (error) {
        onTrouble(error, path)
      }
    }
  }

  return {
    /** Omitted fields stay. A save without a task continues the project's last one. */
    async save(caller: Caller, input: TaskInput): Promise<TaskState> {
      const { dir, project } = await place(caller)
      const clean = (text: string) => rules.redact(plainText(text), dir)
      const own = caller.nativeSession?.id ?? ""
      const state = await store.transaction(async (tx) => {
        const { state: before, isOwn } = await find(tx, project, own)
        const isSame = isOwn || input.currentTask == null || clean(input.currentTask) === before?.currentTask
        const base = before && isSame ? before : NOTHING
        const state: TaskState = {
          projectId: project.id,
          nativeSessionId: own,
          currentTask: changed(input.currentTask, base.currentTask, clean),
          currentTaskId: changed(input.currentTaskId, base.currentTaskId, clean),
          lastCompletedStep: changed(input.lastCompletedStep, base.lastCompletedStep, (step) => cleanStep(step, clean)),
          pendingMessages: input.pendingMessages?.map(clean) ?? base.pendingMessages,
          updatedAtMs: clock.nowMs(),
        }
        // The task moves to this session; left behind, it would reappear after being cleared.
        if (before && !isOwn && isSame) await tx.taskStates.clear(project.id, before.nativeSessionId)
        await tx.taskStates.put(state)
        await note(tx, "task.saved", caller, state)
        return state
      })
      // Atomic. A symlink in its place is replaced, never followed: the repository may have planted it.
      mirror(dir, (path) => replaceFile(path, `${JSON.stringify(asFile(state), null, 2)}\n`))
      return state
    },
    /** The caller's own state, or else the newest of its project. */
    async load(caller: Caller) {
      const { project } = await place(caller)
      return find(store, project, caller.nativeSession?.id ?? "")
    },
    /** Clears the state that `load` would return. */
    async clear(caller: Caller) {
      const { dir, project } = await place(caller)
      const found = await store.transaction(async (tx) => {
        const found = await find(tx, project, caller.nativeSession?.id ?? "")
        if (!found.state) return found
        await tx.taskStates.clear(project.id, found.state.nativeSessionId)
        await note(tx, "task.cleared", caller, found.state)
        return found
      })
      if (found.state) mirror(dir, (path) => removeFile(path))
      return found
    },
  }
}

const NOTHING: Pick<TaskState, "currentTask" | "currentTaskId" | "lastCompletedStep" | "pendingMessages"> = {
  currentTask: null,
  currentTaskId: null,
  lastCompletedStep: null,
  pendingMessages: [],
}

function changed<T>(input: T | null | undefined, before: T | null, clean: (value: T) => T): T | null {
  return input === undefined ? before : input === null ? null : clean(input)
}

/** A number stays a number, unless it is a secret. */
function cleanStep(step: TaskStep, clean: (text: string) => string): TaskStep {
  const text = clean(String(step))
  return text === String(step) ? step : text
}

function asFile(state: TaskState) {
  return {
    session_id: state.nativeSessionId,
    current_task: state.currentTask,
    current_task_id: state.currentTaskId,
    last_completed_step: state.lastCompletedStep,
    pending_messages: state.pendingMessages,
    updated_at: new Date(state.updatedAtMs).toISOString(),
  }
}
