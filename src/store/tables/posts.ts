import type { Selectable } from "kysely"
import type { SessionId } from "../../domain/ids.ts"
import type { Post } from "../../domain/post.ts"
import type { Posts } from "../../domain/queue-store.ts"
import type { Db } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export function makePosts(db: Db): Posts {
  return {
    async list() {
      return (await db.selectFrom("posts").selectAll().orderBy("team").execute()).map(toPost)
    },
    async byTeam(team) {
      const row = await db.selectFrom("posts").selectAll().where("team", "=", team).executeTakeFirst()
      return row && toPost(row)
    },
    async put({ team, ...post }) {
      const seen = {
        host: post.host,
        session_id: post.sessionId,
        native_id: post.nativeId,
        pid: post.pid,
        process_start: post.processStart,
        since_ms: post.sinceMs,
        gone_at_ms: post.goneAtMs,
        cause: post.cause,
        is_told: Number(post.isTold),
      }
      const row = { ...seen, is_kept: Number(post.isKept) }
      await db
        .insertInto("posts")
        .values({ team, ...row })
        .onConflict((c) => c.column("team").doUpdateSet(seen))
        .execute()
    },
    async keep(team, isKept, nowMs, host) {
      const nobody = { session_id: null, native_id: null, pid: 0, process_start: null, gone_at_ms: null, cause: null }
      await db
        .insertInto("posts")
        .values({ team, host, since_ms: nowMs, is_told: 0, is_kept: Number(isKept), ...nobody })
        .onConflict((c) => c.column("team").doUpdateSet({ is_kept: Number(isKept) }))
        .execute()
    },
  }
}

function toPost(row: Selectable<Tables["posts"]>): Post {
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
    isKept: row.is_kept === 1,
  }
}
