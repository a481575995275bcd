import type { Clock } from "../domain/clock.ts"
import type { Run } from "../domain/run.ts"
import type { Session, SessionFilter } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { type ExportedSession, toMarkdown } from "./export.ts"
import { type Forget, makeForget } from "./forget.ts"
import { type Keeping, makeKeeping } from "./keeping.ts"
import { makeProjectFinder, type ProjectFinder } from "./projects.ts"
import { makeRecovery, type Recovery } from "./recovery.ts"
import { makeThinking, type Thinking } from "./thinking.ts"

/** The room's door: everything that others may ask of it. */
export interface SessionsRoom {
  projects: ProjectFinder
  recovery: Recovery
  thinking: Thinking
  keeping: Keeping
  forget: Forget
  /** Of any platform, newest first. */
  list(filter: SessionFilter): Promise<Session[]>
  whole(id: string, wish?: { superseded?: boolean }): Promise<ExportedSession & { runs: Run[] }>
  markdown(exported: ExportedSession): string
}

export function makeSessions(deps: { store: Store; clock: Clock; homeDir: string; tempDir: string }): SessionsRoom {
  const projects = makeProjectFinder(deps)
  const recovery = makeRecovery({ ...deps, projects })
  return {
    projects,
    recovery,
    thinking: makeThinking({ ...deps, recovery }),
    keeping: makeKeeping({ ...deps, projects, recovery }),
    forget: makeForget({ ...deps, recovery }),
    list: (filter) => deps.store.sessions.list(filter),
    async whole(id, wish) {
      const session = await recovery.get(id)
      return {
        session,
        linkedRoots: await deps.store.sessions.linkedRoots(session.id),
        thoughts: await deps.store.thoughts.all(session.id),
        turns: await deps.store.turns.ofSession(session.id, wish),
        edges: await deps.store.sessions.edges(session.id),
        runs: await deps.store.runs.ofSession(session.id),
      }
    },
    markdown: toMarkdown,
  }
}
