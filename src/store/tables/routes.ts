import type { Routes } from "../../domain/queue-store.ts"
import type { Route } from "../../domain/route.ts"
import type { Db } from "../dialects/dialect.ts"
import { rowDecoder, toColumns } from "../rows.ts"

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
      const row = toColumns({ sessionId, host, pid, processStart, pane, seenAtMs })
      await db
        .insertInto("routes")
        .values(row)
        .onConflict((c) => c.columns(["session_id", "host", "pid"]).doUpdateSet(row))
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

const toRoute = rowDecoder<Route>({ json: ["pane"] })
