import { basename } from "node:path"
import type { Delivery } from "../domain/delivery.ts"
import type { ForgetFilter } from "../domain/forgetting.ts"
import { type ProjectId, type SessionId, withoutScope } from "../domain/ids.ts"
import type { NewJournalEntry } from "../domain/journal.ts"
import { REASONS } from "../domain/reason.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "../lib/clock.ts"
import { defined } from "../lib/defined.ts"
import { lookAt } from "../lib/untrusted-file.ts"
import { forgetInFiles, forgetInLogs, type OwnFiles } from "./forget-files.ts"
import type { SessionRecovery } from "./recovery.ts"

export interface ForgetPlan {
  /** Whole sessions, including those that become empty. */
  sessions: number
  turns: number
  thoughts: number
  /** Titles, branches, messages, tasks, topics and the like that contain the text. */
  mentions: number
}

export interface Forgot extends ForgetPlan {
  /** Our own files that still contain the text: backups of settings, or files that cannot be written. */
  left: string[]
}

/** Whole sessions, or the turns and thoughts selected by a time or a text. */
export interface ForgetScope {
  sessionId?: string | undefined
  projectId?: ProjectId | undefined
  sinceMs?: number | undefined
  untilMs?: number | undefined
  containing?: string | undefined
}

export type Forget = ReturnType<typeof makeForget>

/** The platform of the files that `log_conversation_exchange` writes. */
const CONVERSATION_LOG = "conversation-log"

interface Deps {
  store: Store
  clock: Clock
  recovery: SessionRecovery
  ownFiles?: OwnFiles | undefined
}

export function makeForget({ store, clock, recovery, ownFiles }: Deps) {
  const find = async (scope: ForgetScope) => {
    const { sessionId, projectId } = scope
    const none = { turns: [], thoughts: [] }
    if (sessionId !== undefined) return { whole: [await recovery.get(sessionId)], parts: none }
    if (picksParts(scope)) return { whole: [], parts: await store.forgetting.matching(filterOf(scope)) }
    return { whole: projectId === undefined ? [] : await store.sessions.list({ projectId }), parts: none }
  }
  const planOf = async (
    { whole, parts }: Awaited<ReturnType<typeof find>>,
    scope: ForgetScope,
  ): Promise<ForgetPlan> => {
    const going = [...parts.turns, ...parts.thoughts]
    const touched = await store.sessions.byIds([...new Set(going.map(({ sessionId }) => sessionId))])
    const emptied = touched.filter(
      ({ id, turnCount, thoughtCount }) =>
        going.filter(({ sessionId }) => sessionId === id).length >= turnCount + thoughtCount,
    )
    return {
      sessions: whole.length + emptied.length,
      turns: parts.turns.length + whole.reduce((sum, session) => sum + session.turnCount, 0),
      thoughts: parts.thoughts.length + whole.reduce((sum, session) => sum + session.thoughtCount, 0),
      mentions: isSwept(scope) ? await store.forgetting.mentions(scope.containing, scope.projectId) : 0,
    }
  }

  const forgetFiles = async ({ containing }: ForgetScope, whole: readonly Session[]): Promise<string[]> => {
    const looks = await store.sources.looks()
    const logs = looks.filter(({ platform }) => platform === CONVERSATION_LOG).map(({ key }) => key)
    if (containing !== undefined) return forgetInFiles(containing, ownFiles ?? { lineFolders: [], copies: [] }, logs)
    for (const { platform, nativeId } of whole)
      if (platform === CONVERSATION_LOG) forgetInLogs(withoutScope(nativeId), logs)
    return []
  }

  /** Runs after the files: one that lost its last line is deleted. */
  const forgetNames = async (word: string) => {
    const named = (await store.sources.looks()).filter(({ key, path }) => key.includes(word) || path.includes(word))
    const gone = named.filter(({ path }) => lookAt(path) === undefined)
    const logs = named.filter((source) => source.platform === CONVERSATION_LOG && !gone.includes(source))
    const idsInUse = logs.map(({ path }) => basename(path).replace(/^session-|\.jsonl$/g, ""))
    await store.transaction(async (tx) => {
      if (gone.length > 0) await tx.forgetting.names(word, gone)
      await tx.forgetting.loggedIds(word, CONVERSATION_LOG, idsInUse)
    })
  }

  return {
    plan: async (scope: ForgetScope) => planOf(await find(scope), scope),
    /** Permanently: from the archive, the index and every file of the store. Agents' own files are never touched. */
    async forget(scope: ForgetScope): Promise<Forgot> {
      const found = await find(scope)
      const { whole, parts } = found
      const plan = await planOf(found, scope)
      const nowMs = clock.nowMs()
      await store.transaction(async (tx) => {
        // Written first: SQLite reuses the highest numbers once they are deleted, and a consumer past them would miss it.
        await tx.journal.append([{ kind: "turns.forgotten", atMs: nowMs }])
        await tx.forgetting.turns(
          parts.turns.map(({ seq }) => seq),
          nowMs,
        )
        await tx.forgetting.thoughts(parts.thoughts.map(({ seq }) => seq))
        const touched = [...new Set([...parts.turns, ...parts.thoughts].map(({ sessionId }) => sessionId))]
        const empty = await tx.forgetting.emptied(touched)
        const left = touched.filter((id) => !empty.includes(id))
        await tx.turns.recount(left)
        await tx.forgetting.retitle(left, scope.containing)
        const gone: SessionId[] = [...whole.map(({ id }) => id), ...empty]
        // Before the sessions are deleted: they say to which project a message went.
        const words = scope.sessionId === undefined ? filterOf(scope) : { sessionIds: gone }
        const cancelled = await tx.deliveries.forget(words, nowMs)
        await tx.journal.append(cancelled.map((delivery) => cancelledEntry(delivery, nowMs)))
        await tx.permissions.forget({ sessionIds: gone })
        await tx.pairs.forgetAnswers(
          scope.sessionId === undefined ? filterOf(scope) : { nativeIds: whole.map(({ nativeId }) => nativeId) },
        )
        if (scope.sessionId === undefined) {
          await tx.taskStates.forget(filterOf(scope))
          await tx.updates.forget(filterOf(scope))
          // Permissions get their project from stored sessions, so a project filter cannot match any other.
          if (picksParts(scope) && scope.projectId === undefined) await tx.permissions.forget(filterOf(scope))
        }
        await tx.forgetting.traces(gone)
        for (const id of gone) await tx.forgetting.session(id, nowMs)
        for (const { projectId, nativeId } of whole) if (projectId) await tx.taskStates.clear(projectId, nativeId)
        // Not within a time range: most columns do not say when they were written.
        if (isSwept(scope)) await tx.forgetting.word(scope.containing, scope.projectId)
        plan.sessions = gone.length
      })
      const left = await forgetFiles(scope, whole)
      if (scope.containing !== undefined) await forgetNames(scope.containing)
      await store.purge()
      return { ...plan, left }
    },
  }
}

const picksParts = ({ sinceMs, untilMs, containing }: ForgetScope) =>
  sinceMs !== undefined || untilMs !== undefined || containing !== undefined

const isSwept = (scope: ForgetScope): scope is ForgetScope & { containing: string } =>
  scope.containing !== undefined && scope.sinceMs === undefined && scope.untilMs === undefined

const filterOf = ({ sessionId: _, ...filter }: ForgetScope): ForgetFilter => defined(filter)

/** Reports the cancelled message without its text. */
function cancelledEntry({ key, payload }: Delivery, atMs: number): NewJournalEntry {
  const data = { id: key, team: payload.team, state: "cancelled", reason: REASONS.forgotten() }
  return { kind: "message.cancelled", atMs, data }
}
