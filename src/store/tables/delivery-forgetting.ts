import { sql } from "kysely"
import type { ForgetFilter } from "../../domain/forgetting.ts"
import type { ProjectId, SessionId } from "../../domain/ids.ts"
import { LANE_SUFFIXES, lanesOf, SESSION_TARGET } from "../../domain/message.ts"
import { REASONS } from "../../domain/reason.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { update } from "../queries.ts"
import type { DeliveryRow } from "./leasing.ts"

/** Permanently removes the text of deliveries. Returns the pending ones, which are cancelled. */
export async function forgetWords(
  db: Db,
  dialect: StoreDialect,
  { containing, sinceMs, untilMs, projectId, sessionIds }: ForgetFilter & { sessionIds?: readonly SessionId[] },
  nowMs: number,
): Promise<DeliveryRow[]> {
  let query = db.selectFrom("deliveries").selectAll()
  if (sessionIds) {
    const lanes = sessionIds.flatMap((sessionId) => lanesOf({ sessionId }))
    query = query.where((e) => e.or([e("session_id", "in", [...sessionIds, ""]), e("lane", "in", [...lanes, ""])]))
  }
  if (projectId !== undefined)
    query = query.where((e) =>
      e.or([
        e("session_id", "in", e.selectFrom("sessions").select("id").where("project_id", "=", projectId)),
        e("lane", "in", lanesOfProject(projectId)),
      ]),
    )
  if (sinceMs !== undefined) query = query.where("created_at_ms", ">=", sinceMs)
  if (untilMs !== undefined) query = query.where("created_at_ms", "<", untilMs)
  if (containing !== undefined) query = query.where(dialect.contains("payload", inJson(containing)))
  const cancelled: DeliveryRow[] = []
  for (const row of await query.execute()) {
    const payload = JSON.stringify(withoutWords(JSON.parse(row.payload) as object))
    const isWaiting = row.state === "queued" && row.attempt_started_at_ms === null
    const end = { state: "cancelled", outcome: REASONS.forgotten(), settled_at_ms: nowMs, lease_until_ms: null }
    await update(db, "deliveries", { seq: row.seq }, { payload, ...(isWaiting ? { ...end, lease_owner: null } : {}) })
    if (isWaiting) cancelled.push(row)
  }
  return cancelled
}

/** The text of a message, a raw update, or a message to be shown. */
const withoutWords = (payload: object) => ({
  ...payload,
  text: "",
  ...("raw" in payload ? { raw: null } : {}),
  ...("body" in payload ? { body: { text: "", marks: [] } } : {}),
  ...("file" in payload ? { file: null } : {}),
  ...("buttons" in payload ? { buttons: [] } : {}),
})

/** Pending messages for the project's sessions, which have no session id yet. */
const lanesOfProject = (projectId: ProjectId) => {
  const lanes = LANE_SUFFIXES.map(
    (suffix) =>
      sql`select cast(${SESSION_TARGET} as text) || id || cast(${suffix} as text) from sessions where project_id = ${projectId}`,
  )
  return sql<string>`(${sql.join(lanes, sql` union all `)})`
}

/** Escaped as within JSON. */
export const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
