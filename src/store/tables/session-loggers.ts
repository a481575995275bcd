import type { ProjectId, SessionId } from "../../domain/ids.ts"
import type { Sessions } from "../../domain/store.ts"
import type { Db } from "../dialects/dialect.ts"

/** Which agents logged a session with our tool. */
export function makeLoggers(db: Db): Pick<Sessions, "noteLogger" | "loggedBy"> {
  return {
    async noteLogger(id, platform) {
      await db.updateTable("sessions").set({ logged_by: platform }).where("id", "=", id).execute()
    },
    async loggedBy(platform) {
      const rows = await db
        .selectFrom("sessions")
        .select(["id", "project_id"])
        .where("logged_by", "=", platform)
        .where("turn_count", ">", 0)
        .orderBy("updated_at_ms", "desc")
        .execute()
      return rows.map((row) => ({ id: row.id as SessionId, projectId: row.project_id as ProjectId | null }))
    },
  }
}
