import type { SessionId } from "../domain/ids.ts"
import type { ForgetWish } from "../domain/store.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import type { DeliveryRow } from "./leasing.ts"

/** Takes the words out of deliveries, for good. Returns those that waited and are cancelled by it. */
export async function forgetWords(
  db: Db,
  dialect: StoreDialect,
  { containing, sinceMs, untilMs, projectId, sessionIds }: ForgetWish & { sessionIds?: readonly SessionId[] },
  nowMs: number,
): Promise<DeliveryRow[]> {
  let query = db.selectFrom("deliveries").selectAll()
  if (sessionIds) query = query.where("session_id", "in", [...sessionIds, ""])
  if (projectId !== undefined)
    query = query.where("session_id", "in", (e) =>
      e.selectFrom("sessions").select("sessions.id").where("project_id", "=", projectId),
    )
  if (sinceMs !== undefined) query = query.where("created_at_ms", ">=", sinceMs)
  if (untilMs !== undefined) query = query.where("created_at_ms", "<", untilMs)
  if (containing !== undefined) query = query.where(dialect.contains("payload", inJson(containing)))
  const cancelled: DeliveryRow[] = []
  for (const row of await query.execute()) {
    const { body: _, file: __, buttons: ___, ...rest } = JSON.parse(row.payload) as Record<string, unknown>
    const payload = JSON.stringify({ ...rest, text: "" })
    const isWaiting = row.state === "queued" && row.attempt_started_at_ms === null
    const end = { state: "cancelled", outcome: "it was forgotten", settled_at_ms: nowMs, lease_until_ms: null }
    await db
      .updateTable("deliveries")
      .set({ payload, ...(isWaiting ? { ...end, lease_owner: null } : {}) })
      .where("seq", "=", row.seq)
      .execute()
    if (isWaiting) cancelled.push(row)
  }
  return cancelled
}

/** As it stands in a text of JSON. */
export const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
