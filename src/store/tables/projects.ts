import { newProjectId, type ProjectId } from "../../domain/ids.ts"
import type { Project } from "../../domain/project.ts"
import type { Projects } from "../../domain/store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared } from "../dialects/prepared.ts"

const projectByRoot = prepared((db, rootUri: string) =>
  db.selectFrom("projects").selectAll().where("root_uri", "=", rootUri),
)

/** A project is never changed nor deleted, and nearly every call asks for one. */
const knownProjects = new WeakMap<StoreDialect, Map<string, Project>>()
const MOST_KNOWN = 1_000

export function makeProjects(db: Db, dialect: StoreDialect): Projects {
  const known = knownProjects.get(dialect) ?? new Map<string, Project>()
  knownProjects.set(dialect, known)
  const byRoot = async (rootUri: string) => {
    const before = known.get(rootUri)
    if (before) return before
    const [row] = await projectByRoot(db, dialect, rootUri)
    if (!row) return undefined
    const project = toProject(row)
    // What a transaction sees may still be undone.
    if (!db.isTransaction) {
      if (known.size >= MOST_KNOWN) known.clear()
      known.set(rootUri, project)
    }
    return project
  }
  return {
    byRoot,
    async ensure(rootUri, nowMs) {
      const found = await byRoot(rootUri)
      if (found) return found
      await db
        .insertInto("projects")
        .values({ id: newProjectId(), root_uri: rootUri, created_at_ms: nowMs })
        .onConflict((c) => c.column("root_uri").doNothing())
        .execute()
      return (await byRoot(rootUri))!
    },
    async byId(id) {
      const row = await db.selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst()
      return row && toProject(row)
    },
    async remember(seenUri, projectId) {
      await db
        .insertInto("project_roots")
        .values({ seen_uri: seenUri, project_id: projectId })
        .onConflict((c) => c.column("seen_uri").doUpdateSet({ project_id: projectId }))
        .execute()
    },
    async bySeen(seenUri) {
      const row = await db
        .selectFrom("project_roots as r")
        .innerJoin("projects as p", "p.id", "r.project_id")
        .selectAll("p")
        .where("r.seen_uri", "=", seenUri)
        .executeTakeFirst()
      return row && toProject(row)
    },
    async list() {
      const rows = await db.selectFrom("projects").selectAll().orderBy("root_uri").execute()
      return rows.map(toProject)
    },
  }
}

function toProject(row: { id: string; root_uri: string; created_at_ms: number }): Project {
  return { id: row.id as ProjectId, rootUri: row.root_uri, createdAtMs: row.created_at_ms }
}
