import type { Routes } from "../../domain/queue-store.ts"
import type { Route } from "../../domain/route.ts"
import type { Db } from "../dialects/dialect.ts"
import { many, remove, upsert } from "../queries.ts"
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
      await upsert(db, "routes", ["session_id", "host", "pid"], row)
    },
    ofSession: (sessionId) => many(select().where("r.session_id", "=", sessionId), toRoute),
    async drop(sessionId, host, pid) {
      await remove(db, "routes", { session_id: sessionId, host, pid })
    },
    list: (host) => many(select().where("r.host", "=", host), toRoute),
  }
}

const toRoute = rowDecoder<Route>({ json: ["pane"] })
