import type { SessionId } from "../../domain/ids.ts"
import type { PaneAddress } from "../../domain/panes.ts"
import type { Routes } from "../../domain/queue-store.ts"
import type { Route } from "../../domain/route.ts"
import type { Db } from "../dialects/dialect.ts"

export function makeRoutes(db: Db): Routes {
  const select = () =>
    db
      .selectFrom("routes as r")
      .innerJoin("sessions as s", "s.id", "r.session_id")
      .selectAll("r")
      .select(["s.platform", "s.native_id"])
      .orderBy("r.seen_at_ms", "desc")

  return {
    async put({ sessionId, host, pid, processStart, pane, seenAtMs }) {
      const facts = {
        process_start: processStart,
        pane: pane === null ? null : JSON.stringify(pane),
        seen_at_ms: seenAtMs,
      }
      await db
        .insertInto("routes")
        .values({ session_id: sessionId, host, pid, ...facts })
        .onConflict((c) => c.columns(["session_id", "host", "pid"]).doUpdateSet(facts))
        .execute()
    },
    ofSession: async (sessionId) => (await select().where("r.session_id", "=", sessionId).execute()).map(toRoute),
    async drop(sessionId, host, pid) {
      await db
        .deleteFrom("routes")
        .where("session_id", "=", sessionId)
        .where("host", "=", host)
        .where("pid", "=", pid)
        .execute()
    },
    list: async (host) => (await select().where("r.host", "=", host).execute()).map(toRoute),
  }
}

interface Row {
  session_id: string
  platform: string
  native_id: string
  host: string
  pid: number
  process_start: string
  pane: string | null
  seen_at_ms: number
}

function toRoute(row: Row): Route {
  return {
    sessionId: row.session_id as SessionId,
    platform: row.platform,
    nativeId: row.native_id,
    host: row.host,
    pid: row.pid,
    processStart: row.process_start,
    pane: row.pane === null ? null : (JSON.parse(row.pane) as PaneAddress),
    seenAtMs: row.seen_at_ms,
  }
}
