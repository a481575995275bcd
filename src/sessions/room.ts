import type { Clock } from "../domain/clock.ts"
import type { Store } from "../domain/store.ts"
import { type ExportedSession, toMarkdown } from "./export.ts"
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
  whole(id: string): Promise<ExportedSession>
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
    async whole(id) {
      const session = await recovery.get(id)
      const [linkedRoots, thoughts] = [
        await deps.store.sessions.linkedRoots(session.id),
        await deps.store.thoughts.all(session.id),
      ]
      return { session, linkedRoots, thoughts }
    },
    markdown: toMarkdown,
  }
}
