import type { ExpressionBuilder } from "kysely"
import type { SessionId } from "../../domain/ids.ts"
import type { Sessions } from "../../domain/store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { preparedRuns } from "../dialects/prepared.ts"
import type { Tables } from "../schema.ts"

type Filter = Omit<Parameters<Sessions["ids"]>[0], "among">

/** The ids of matching sessions, in no order. */
export async function sessionIds(
  db: Db,
  dialect: StoreDialect,
  { among, ...filter }: Filter & { among?: readonly SessionId[] },
): Promise<SessionId[]> {
  if (among !== undefined) return idsAmong(db, dialect, filter, among)
  const rows = await fitting(db, filter).execute()
  return rows.map((row) => row.id as SessionId)
}

/** The project's own sessions, and those linked to it. */
export function isOfProject(e: ExpressionBuilder<Tables & { s: Tables["sessions"] }, "s">, projectId: string) {
  const linked = e.selectFrom("session_projects as l").where("l.project_id", "=", projectId).select("l.session_id")
  return e.or([e("s.project_id", "=", projectId), e("s.id", "in", linked)])
}

function fitting(db: Db, { projectId, platform, gitBranch, domain }: Filter) {
  let query = db.selectFrom("sessions as s").select("s.id")
  if (projectId !== undefined) query = query.where((e) => isOfProject(e, projectId))
  if (platform !== undefined) query = query.where("s.platform", "=", platform)
  if (gitBranch !== undefined) query = query.where("s.git_branch", "=", gitBranch)
  if (domain !== undefined) query = query.where("s.domain", "=", domain)
  return query
}

const facts = preparedRuns((db, ids: SessionId[]) =>
  db.selectFrom("sessions").select(["id", "platform", "git_branch", "project_id", "domain"]).where("id", "in", ids),
)
const links = preparedRuns((db, ids: SessionId[]) =>
  db.selectFrom("session_projects").select(["session_id", "project_id"]).where("session_id", "in", ids),
)

/** Filtered here: SQLite would scan every session of a platform to find these few. */
async function idsAmong(db: Db, dialect: StoreDialect, filter: Filter, among: readonly SessionId[]) {
  const { projectId, platform, gitBranch, domain } = filter
  const linked = projectId === undefined ? [] : await links(db, dialect, among)
  const ofProject = new Set(linked.filter((link) => link.project_id === projectId).map((link) => link.session_id))
  const rows = await facts(db, dialect, among)
  const fits = (row: (typeof rows)[number]) =>
    (projectId === undefined || row.project_id === projectId || ofProject.has(row.id)) &&
    (platform === undefined || row.platform === platform) &&
    (gitBranch === undefined || row.git_branch === gitBranch) &&
    (domain === undefined || row.domain === domain)
  return rows.filter(fits).map(({ id }) => id as SessionId)
}
