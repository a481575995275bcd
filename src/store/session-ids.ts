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
/** Each filter as often as `fitting` has it as a parameter, in that order. */
const PARAMETERS = ["projectId", "projectId", "platform", "gitBranch"] as const

/** While something is said, every search asks for this: the text for each combination of filters is made once. */
const byFilters = new Map<string, ReturnType<typeof preparedFor>>()

function preparedFor(names: readonly (keyof Filter)[]) {
  return prepared((db, ...values: string[]) => {
    const filter: Filter = Object.fromEntries(names.map((name, at) => [name, values[at]]))
    return fitting(db, filter).where("s.id", "in", values.slice(names.length))
  })
}

async function idsAmong(db: Db, dialect: StoreDialect, filter: Filter, among: readonly SessionId[]) {
  const names = PARAMETERS.filter((name) => filter[name] !== undefined)
  const found: SessionId[] = []
  for (let at = 0; at < among.length; at += IDS_AT_ONCE) {
    const ids = Array.from({ length: IDS_AT_ONCE }, (_, index) => among[Math.min(at + index, among.length - 1)]!)
    const ask = byFilters.get(names.join()) ?? preparedFor(names)
    byFilters.set(names.join(), ask)
    const rows = await ask(db, dialect, ...names.map((name) => filter[name]!), ...ids)
    for (const { id } of rows) found.push(id as SessionId)
  }
  return found
}
