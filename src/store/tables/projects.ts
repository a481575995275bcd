import { newProjectId, type ProjectId } from "../../domain/ids.ts"
import type { Project } from "../../domain/project.ts"
import type { Projects } from "../../domain/store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared } from "../dialects/prepared.ts"
import { insertNew, many, one, select, upsert } from "../queries.ts"

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
      await insertNew(db, "projects", { id: newProjectId(), root_uri: rootUri, created_at_ms: nowMs })
      return (await byRoot(rootUri))!
    },
    byId: (id) => one(select(db, "projects", { id }), toProject),
    remember: (seenUri, projectId) =>
      upsert(db, "project_roots", ["seen_uri"], { seen_uri: seenUri, project_id: projectId }),
    bySeen(seenUri) {
      const seen = db.selectFrom("project_roots as r").innerJoin("projects as p", "p.id", "r.project_id")
      return one(seen.selectAll("p").where("r.seen_uri", "=", seenUri), toProject)
    },
    list: () => many(select(db, "projects").orderBy("root_uri"), toProject),
  }
}

function toProject(row: { id: string; root_uri: string; created_at_ms: number }): Project {
  return { id: row.id as ProjectId, rootUri: row.root_uri, createdAtMs: row.created_at_ms }
}
