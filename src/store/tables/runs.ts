import type { Selectable } from "kysely"
import type { Route } from "../../domain/live.ts"
import type { Routes } from "../../domain/queue-store.ts"
import type { Run } from "../../domain/run.ts"
import type { Runs } from "../../domain/store.ts"
import type { Db } from "../dialects/dialect.ts"
import { many, remove, upsert } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"

export function makeRuns(db: Db): Runs {
  const select = () =>
    db
      .selectFrom("runs as r")
      .innerJoin("sessions as s", "s.id", "r.session_id")
      .selectAll("r")
      .select(["s.platform", "s.native_id", "s.project_id"])

  return {
    async seen({ sessionId, host, pid, pane, start, end, atMs }) {
      const begun = start === undefined ? {} : { start, started_at_ms: atMs }
      // A hook after the end shows that it continues; a late end does not undo a new start.
      const ended = { ended_at_ms: end === undefined ? null : atMs, end_reason: end ?? null }
      await db
        .insertInto("runs")
        .values({
          session_id: sessionId,
          host,
          pid,
          pane,
          start: start ?? "",
          started_at_ms: atMs,
          seen_at_ms: atMs,
          ...ended,
        })
        .onConflict((c) =>
          c
            .columns(["session_id", "host", "pid"])
            .doUpdateSet({ ...begun, ...ended, seen_at_ms: atMs, ...(pane === null ? {} : { pane }) })
            .where("runs.seen_at_ms", "<=", atMs),
        )
        .execute()
    },
    async before({ platform, nativeId, host, pid, pane, atMs }) {
      const last = (column: "r.pid" | "r.pane", value: number | string) =>
        select()
          .where("r.host", "=", host)
          .where(column, "=", value)
          .where("s.platform", "=", platform)
          .where("s.native_id", "<>", nativeId)
          .where("r.seen_at_ms", "<=", atMs)
          .orderBy("r.seen_at_ms", "desc")
          .executeTakeFirst()
      const row =
        (pid === 0 ? undefined : await last("r.pid", pid)) ?? (pane === null ? undefined : await last("r.pane", pane))
      return row && toRun(row)
    },
    async at({ host, pid }) {
      const row = await db
        .selectFrom("runs as r")
        .innerJoin("sessions as s", "s.id", "r.session_id")
        .select(["s.platform", "s.native_id", "r.ended_at_ms"])
        .where("r.host", "=", host)
        .where("r.pid", "=", pid)
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom("session_edges as e")
                .select("e.kind")
                .whereRef("e.session_id", "=", "s.id")
                .where("e.kind", "=", "subagent"),
            ),
          ),
        )
        .orderBy("r.seen_at_ms", "desc")
        .limit(1)
        .executeTakeFirst()
      if (!row || row.ended_at_ms !== null) return undefined
      return { platform: row.platform, nativeId: row.native_id }
    },
    ofSession: (sessionId) => many(select().where("r.session_id", "=", sessionId).orderBy("r.started_at_ms"), toRun),
  }
}

type Row = Selectable<Tables["runs"]> & { platform: string; native_id: string; project_id: string | null }
const decode = rowDecoder<Omit<Run, "end">>({})
const toRun = ({ end_reason: end, ...row }: Row): Run => ({ ...decode(row), end })

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
