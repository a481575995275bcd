/** What other modules may use of sessions. */
import type { LineageKind } from "../domain/capture.ts"
import type { SessionId } from "../domain/ids.ts"
import type { ProjectFinder } from "../domain/project.ts"
import type { Run } from "../domain/run.ts"
import type { Session, SessionFilter, SessionTally } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import type { Thought } from "../domain/thought.ts"
import type { Turn } from "../domain/turn.ts"
import type { Clock } from "../lib/clock.ts"
import { makeSessionEdits, type SessionEdits } from "./edits.ts"
import { type ExportedSession, toMarkdown } from "./export.ts"
import { type Forget, makeForget } from "./forget.ts"
import type { OwnFiles } from "./forget-files.ts"
import { makeProjectFinder } from "./projects.ts"
import { makeRecovery, type SessionRecovery } from "./recovery.ts"
import { makeThinking, type Thinking } from "./thinking.ts"
export interface SessionsModule {
  projects: ProjectFinder
  recovery: SessionRecovery
  thinking: Thinking
  edits: SessionEdits
  forget: Forget
  /** Sessions of any platform, newest first. */
  list(filter: SessionFilter): Promise<Session[]>
  /** Counts by project, branch and agent. */
  tally(): Promise<SessionTally[]>
  whole(id: string, request?: { superseded?: boolean }): Promise<ExportedSession & { runs: Run[] }>
  markdown(exported: ExportedSession): string
  /** Like `whole`, with texts cut and with related sessions. */
  outline(id: string, request: { superseded: boolean; maxChars: number }): Promise<Outline>
  /** Full turns in the given order; turns of other sessions are skipped. */
  turns(id: string, seqs: readonly number[]): Promise<Turn[]>
  /** The tool names of these calls, by turn number. */
  toolsOf(seqs: readonly number[]): Promise<Map<number, string>>
  /** The last prompt or reply. */
  lastWords(id: SessionId): Promise<Turn | undefined>
}

export interface Outline {
  session: Session
  relatives: Relative[]
  runs: Run[]
  turns: Turn[]
  thoughts: Thought[]
}

export interface Relative {
  kind: LineageKind
  /** True if the session was derived from this one, false for the reverse. */
  isParent: boolean
  session: Session
  atMs: number
}

export interface SessionsDeps {
  store: Store
  clock: Clock
  homeDir: string
  tempDir: string
  /** Whether a process of this machine is running. */
  isAlive?(pid: number): boolean
  redact?: (text: string) => string
  /** Files outside the store that `forget` searches. */
  ownFiles?: OwnFiles
}

export function makeSessions(deps: SessionsDeps): SessionsModule {
  const redact = deps.redact ?? ((text: string) => text)
  const projects = makeProjectFinder(deps)
  const recovery = makeRecovery({ ...deps, projects, redact })
  return {
    projects,
    recovery,
    thinking: makeThinking({ ...deps, recovery, redact }),
    edits: makeSessionEdits({ ...deps, projects, recovery, redact }),
    forget: makeForget({ ...deps, recovery }),
    list: (filter) => deps.store.sessions.list(filter),
    tally: () => deps.store.sessions.tally(),
    async whole(id, request) {
      const session = await recovery.get(id)
      return {
        session,
        linkedRoots: await deps.store.sessions.linkedRoots(session.id),
        thoughts: await deps.store.thoughts.all(session.id),
        turns: await deps.store.turns.ofSession(session.id, request),
        edges: await deps.store.sessions.edges(session.id),
        runs: await deps.store.runs.ofSession(session.id),
      }
    },
    markdown: toMarkdown,
    async outline(id, request) {
      const session = await recovery.get(id)
      return {
        session,
        relatives: await relativesOf(deps.store, session),
        runs: await deps.store.runs.ofSession(session.id),
        turns: await deps.store.turns.ofSession(session.id, request),
        thoughts: await deps.store.thoughts.all(session.id),
      }
    },
    async turns(id, seqs) {
      const session = await recovery.get(id)
      const found = new Map((await deps.store.turns.bySeqs([...seqs])).map((turn) => [turn.seq, turn]))
      return seqs.map((seq) => found.get(seq)).filter((turn) => turn?.sessionId === session.id) as Turn[]
    },
    async toolsOf(seqs) {
      const calls = seqs.length === 0 ? [] : await deps.store.turns.bySeqs([...seqs])
      return new Map(calls.flatMap(({ seq, toolName }) => (toolName ? [[seq, toolName]] : [])))
    },
    async lastWords(id) {
      const [last] = await deps.store.turns.ofSession(id, { kinds: ["prompt", "reply"], limit: 1, maxChars: 2_000 })
      return last
    },
  }
}

async function relativesOf(store: Store, session: Session): Promise<Relative[]> {
  const parents = await Promise.all(
    (await store.sessions.edges(session.id)).map(async ({ kind, parentPlatform, parentNativeId, atMs }) => {
      const parent = await store.sessions.byNative(parentPlatform, parentNativeId)
      return parent && { kind, isParent: true, session: parent, atMs }
    }),
  )
  const children = await store.sessions.children(session.platform, session.nativeId)
  const found = await store.sessions.byIds(children.map(({ id }) => id))
  return [
    ...parents.filter((parent) => parent !== undefined),
    ...children.flatMap(({ id, kind, atMs }) => {
      const child = found.find((one) => one.id === id)
      return child && !child.isSubagent ? [{ kind, isParent: false, session: child, atMs }] : []
    }),
  ]
}
