/** Changes that people make to whole sessions. Each is one journal entry; a change without effect writes none. */
import type { ProjectFinder } from "../domain/project.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { plainText } from "../domain/text.ts"
import type { Clock } from "../lib/clock.ts"
import { defined } from "../lib/defined.ts"
import type { SessionRecovery } from "./recovery.ts"

export type SessionEdits = ReturnType<typeof makeSessionEdits>

interface Deps {
  store: Store
  clock: Clock
  projects: ProjectFinder
  recovery: SessionRecovery
  redact(text: string): string
}

export function makeSessionEdits({ store, clock, projects, recovery, redact }: Deps) {
  const change = async (
    id: string,
    kind: string,
    act: (tx: Store, session: Session, nowMs: number) => Promise<boolean>,
  ) => {
    const session = await recovery.get(id)
    const nowMs = clock.nowMs()
    await store.transaction(async (tx) => {
      if (!(await act(tx, session, nowMs))) return
      await tx.journal.append([{ kind, sessionId: session.id, projectId: session.projectId, atMs: nowMs }])
    })
    return (await store.sessions.byId(session.id))!
  }

  return {
    rename: (
      id: string,
      request: { title?: string | undefined; tags?: string[] | undefined; domain?: string | undefined },
    ) =>
      change(id, "session.renamed", async (tx, session) => {
        const clean = (text: string) => redact(plainText(text))
        const [title, tags] = [request.title && clean(request.title), request.tags?.map(clean)]
        const domain = request.domain && clean(request.domain)
        const sameTags = tags === undefined || JSON.stringify(tags) === JSON.stringify(session.tags)
        const sameDomain = (domain ?? session.domain) === session.domain
        if ((title ?? session.title) === session.title && sameTags && sameDomain) return false
        await tx.sessions.update(session.id, defined({ title, tags, domain }))
        return true
      }),
    pin: (id: string, pinned: boolean) =>
      change(id, pinned ? "session.pinned" : "session.unpinned", async (tx, session, nowMs) => {
        if (!pinned && session.pinnedAtMs === null) return false
        await tx.sessions.update(session.id, { pinnedAtMs: pinned ? nowMs : null })
        return true
      }),
    archive: (id: string, archived: boolean) =>
      change(id, archived ? "session.archived" : "session.unarchived", async (tx, session, nowMs) => {
        if ((session.archivedAtMs !== null) === archived) return false
        // A restored session counts as active, or the next sweep would archive it again.
        await tx.sessions.update(
          session.id,
          archived ? { archivedAtMs: nowMs } : { archivedAtMs: null, updatedAtMs: nowMs },
        )
        return true
      }),
    async linkRoot(id: string, root: string) {
      const project = await projects.ensure(root)
      const session = await change(id, "session.linked", async (tx, session) => {
        if (session.projectId === project.id) return false
        if ((await tx.sessions.linkedRoots(session.id)).includes(project.rootUri)) return false
        if (session.projectId === null) await tx.sessions.update(session.id, { projectId: project.id })
        else await tx.sessions.link(session.id, project.id)
        return true
      })
      return { session, rootUri: project.rootUri }
    },
    /** Archives sessions without activity for this long; returns how many. */
    async archiveUntouched(sinceMs: number) {
      const nowMs = clock.nowMs()
      return store.transaction(async (tx) => {
        const ids = await tx.sessions.archiveOlder(nowMs - sinceMs, nowMs)
        await tx.journal.append(
          ids.map((sessionId) => ({ kind: "session.archived", sessionId, atMs: nowMs, data: { by: "age" } })),
        )
        return ids.length
      })
    },
  }
}
