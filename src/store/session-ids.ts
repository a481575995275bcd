import type { ExpressionBuilder } from "kysely"
import type { SessionId } from "../domain/ids.ts"
import type { Sessions } from "../domain/store.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import { prepared } from "./prepared.ts"
import type { Tables } from "./tables.ts"

type Filter = Omit<Parameters<Sessions["ids"]>[0], "among">

/** Sessions that fit, in no order. */
export async function sessionIds(
  db: Db,
  dialect: StoreDialect,
  { among, ...filter }: Filter & { among?: readonly SessionId[] },
): Promise<SessionId[]> {
  if (among !== undefined) return idsAmong(db, dialect, filter, among)
  const rows = await fitting(db, filter).execute()
  return rows.map((row) => row.id as SessionId)
}

/** Its own, and those linked to it. */
export function isOfProject(e: ExpressionBuilder<Tables & { s: Tables["sessions"] }, "s">, projectId: string) {
  const linked = e.selectFrom("session_projects as l").where("l.project_id", "=", projectId).select("l.session_id")
  return e.or([e("s.project_id", "=", projectId), e("s.id", "in", linked)])
}

function fitting(db: Db, { projectId, platform, gitBranch }: Filter) {
  let query = db.selectFrom("sessions as s").select("s.id")
  if (projectId !== undefined) query = query.where((e) => isOfProject(e, projectId))
  if (platform !== undefined) query = query.where("s.platform", "=", platform)
  if (gitBranch !== undefined) query = query.where("s.git_branch", "=", gitBranch)
  return query
}

const IDS_AT_ONCE = 8

const some = (db: Db) => db.selectFrom("sessions as s").select(["s.id", "s.platform", "s.git_branch"])
const someById = prepared((db, ...ids: string[]) => some(db).where("s.id", "in", ids))
const someOfProject = prepared((db, projectId: string, _linkedTo: string, ...ids: string[]) =>
  some(db)
    .where((e) => isOfProject(e, projectId))
    .where("s.id", "in", ids),
)

/** Platform and branch are compared here: SQLite would look at every session of a platform to find these few. */
async function idsAmong(db: Db, dialect: StoreDialect, filter: Filter, among: readonly SessionId[]) {
  const { projectId, platform, gitBranch } = filter
  const found: SessionId[] = []
  for (let at = 0; at < among.length; at += IDS_AT_ONCE) {
    const ids = Array.from({ length: IDS_AT_ONCE }, (_, index) => among[Math.min(at + index, among.length - 1)]!)
    const rows =
      projectId === undefined
        ? await someById(db, dialect, ...ids)
        : await someOfProject(db, dialect, projectId, projectId, ...ids)
    for (const row of rows)
      if ((platform ?? row.platform) === row.platform && (gitBranch ?? row.git_branch) === row.git_branch)
        found.push(row.id as SessionId)
  }
  return found
}
