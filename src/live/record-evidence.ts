import { lanesOf } from "../domain/message.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import type { TaskFile } from "../domain/task-file.ts"
import type { TaskStep } from "../domain/task-state.ts"
import type { Team } from "../domain/team.ts"
import { folderUri } from "../lib/folder-uri.ts"
import { decide, type Evidence, type PresenceFacts, type PresenceNotice } from "./presence.ts"

export interface TaskFiles {
  /** The task that the file in a project's folder reports. */
  taskFile(projectDir: string): TaskFile | undefined
}

/** The kinds of the journal entries. */
const KINDS = {
  session_restart: "team.restarted",
  session_started: "team.started",
  session_ended: "team.ended",
} as const

/** Decides by the evidence, and writes the new presence and its notice in one transaction. */
export async function recordEvidence(
  tx: Store,
  team: Team,
  evidence: Evidence,
  facts: PresenceFacts & TaskFiles,
): Promise<PresenceNotice | undefined> {
  const before = await tx.presence.byTeam(team.name)
  const { presence, notice } = decide(before, evidence, { team: team.name, ...facts })
  if (presence) await tx.presence.put(presence)
  if (notice) await recordNotice(tx, team, notice, facts)
  return notice
}

async function recordNotice(
  tx: Store,
  team: Team,
  notice: PresenceNotice,
  { host, taskFile }: PresenceFacts & TaskFiles,
): Promise<void> {
  const { type, key, old, new: next, cause, atMs } = notice
  const names = { old: old?.nativeId ?? null, new: next?.nativeId ?? null, cause }
  const session = old?.sessionId ? await tx.sessions.byId(old.sessionId) : undefined
  const written = await tx.journal.append([
    {
      kind: KINDS[type],
      key,
      sessionId: next?.sessionId ?? session?.id ?? null,
      projectId: session?.projectId ?? null,
      atMs,
      data: { team: team.name, ...names },
    },
  ])
  if (written === 0) return
  const isRestart = type === "session_restart"
  const task = isRestart ? await taskOf(tx, team, session) : null
  // Only if the agent reported no task by our tool. A file that the new session wrote is not the old one's task.
  const file = isRestart && task === null ? taskFile(team.projectDir) : undefined
  const work = {
    task,
    pending: await pendingOf(tx, team),
    ...(file && file.session_id !== next?.nativeId ? { task_file: file } : {}),
  }
  await tx.updates.add([
    {
      team: team.name,
      key,
      type,
      messageId: null,
      sessionId: (old ? session?.id : next?.sessionId) ?? null,
      turnSeq: isRestart && session ? await lastPrompt(tx, session) : null,
      data: { ...names, ...(isRestart ? work : {}) },
      atMs,
    },
  ])
  // The process has switched to another session: it is no route to the old one any more.
  if (old?.sessionId && next && next.pid === old.pid) await tx.routes.drop(old.sessionId, host, old.pid)
}

async function lastPrompt(tx: Store, { id }: Session): Promise<number | null> {
  const [prompt] = await tx.turns.ofSession(id, { kinds: ["prompt"], limit: 1, maxChars: 1 })
  return prompt?.seq ?? null
}

/** The session's own report, or else the project's latest one. */
async function taskOf(
  tx: Store,
  team: Team,
  session: Session | undefined,
): Promise<Record<string, TaskStep | null> | null> {
  const projectId = session ? session.projectId : (await tx.projects.byRoot(folderUri(team.projectDir)))?.id
  if (!projectId) return null
  const own = session && (await tx.taskStates.get(projectId, session.nativeId))
  const state = own ?? (await tx.taskStates.get(projectId))
  return (
    (state && {
      current_task: state.currentTask,
      current_task_id: state.currentTaskId,
      last_completed_step: state.lastCompletedStep,
    }) ??
    null
  )
}

const NOT_DONE = ["queued", "delivered", "seen", "running", "uncertain"] as const

async function pendingOf(tx: Store, { name }: Team): Promise<string[]> {
  return (await tx.deliveries.ofLanes(lanesOf({ team: name }), { states: NOT_DONE })).map(({ key }) => key)
}
