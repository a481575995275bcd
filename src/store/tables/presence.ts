import type { Selectable } from "kysely"
import type { SessionId } from "../../domain/ids.ts"
import type { Presence } from "../../domain/presence.ts"
import type { PresenceStore } from "../../domain/queue-store.ts"
import type { Db } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export function makePresence(db: Db): PresenceStore {
  return {
    async list() {
      return (await db.selectFrom("posts").selectAll().orderBy("team").execute()).map(toPresence)
    },
    async byTeam(team) {
      const row = await db.selectFrom("posts").selectAll().where("team", "=", team).executeTakeFirst()
      return row && toPresence(row)
    },
    async put({ team, ...presence }) {
      const seen = {
        host: presence.host,
        session_id: presence.sessionId,
        native_id: presence.nativeId,
        pid: presence.pid,
        process_start: presence.processStart,
        since_ms: presence.sinceMs,
        gone_at_ms: presence.goneAtMs,
        cause: presence.cause,
        is_told: Number(presence.isTold),
      }
      const row = { ...seen, is_kept: Number(presence.isSupervised) }
      await db
        .insertInto("posts")
        .values({ team, ...row })
        .onConflict((c) => c.column("team").doUpdateSet(seen))
        .execute()
    },
    async setSupervised(team, isSupervised, nowMs, host) {
      const nobody = { session_id: null, native_id: null, pid: 0, process_start: null, gone_at_ms: null, cause: null }
      await db
        .insertInto("posts")
        .values({ team, host, since_ms: nowMs, is_told: 0, is_kept: Number(isSupervised), ...nobody })
        .onConflict((c) => c.column("team").doUpdateSet({ is_kept: Number(isSupervised) }))
        .execute()
    },
  }
}

function toPresence(row: Selectable<Tables["posts"]>): Presence {
  return {
    team: row.team,
    host: row.host,
    sessionId: row.session_id as SessionId | null,
    nativeId: row.native_id,
    pid: row.pid,
    processStart: row.process_start,
    sinceMs: row.since_ms,
    goneAtMs: row.gone_at_ms,
    cause: row.cause,
    isTold: row.is_told === 1,
    isSupervised: row.is_kept === 1,
  }
}
