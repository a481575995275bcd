import { type Selectable, type SqlBool, sql } from "kysely"
import type { SessionId } from "../domain/ids.ts"
import type { PutTurn, Turns } from "../domain/store.ts"
import type { Turn, TurnKind, Usage } from "../domain/turn.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import type { Tables } from "./tables.ts"

/** Well below what either database allows as parameters of one statement. */
const IDS_AT_ONCE = 5_000

export function makeTurns(db: Db, dialect: StoreDialect): Turns {
  return {
    async put(turns) {
      if (turns.length === 0) return []
      // A turn that grew while it was read comes more than once; its last reading stands.
      const latest = new Map(turns.map((turn) => [`${turn.sessionId} ${turn.nativeId}`, turn]))
      return dialect.putTurns(db, [...latest.values()].map(fromTurn))
    },
    async ofSession(sessionId, { superseded, limit } = {}) {
      let query = db.selectFrom("turns").selectAll().where("session_id", "=", sessionId)
      if (!superseded) query = query.where("superseded_at_ms", "is", null)
      const rows = await (limit === undefined
        ? query.orderBy("at_ms").orderBy("seq")
        : query.orderBy("at_ms", "desc").orderBy("seq", "desc").limit(limit)
      ).execute()
      const turns = rows.map(toTurn)
      return limit === undefined ? turns : turns.reverse()
    },
    async bySeqs(seqs) {
      const found: Turn[] = []
      for (let at = 0; at < seqs.length; at += IDS_AT_ONCE) {
        const rows = await db
          .selectFrom("turns")
          .selectAll()
          .where("seq", "in", seqs.slice(at, at + IDS_AT_ONCE))
          .execute()
        found.push(...rows.map(toTurn))
      }
      return found
    },
    async byNative(sessionId, nativeId) {
      const row = await db
        .selectFrom("turns")
        .selectAll()
        .where("session_id", "=", sessionId)
        .where("native_id", "=", nativeId)
        .executeTakeFirst()
      return row && toTurn(row)
    },
    async outline(sessionId) {
      const rows = await db
        .selectFrom("turns")
        .select(["seq", "at_ms as atMs", "kind"])
        .where("session_id", "=", sessionId)
        .where("superseded_at_ms", "is", null)
        .where((e) => e.or([e("kind", "=", "prompt"), e("seq", "=", firstOf(db, sessionId))]))
        .orderBy("at_ms")
        .orderBy("seq")
        .execute()
      return rows.map(({ seq, atMs }) => ({ seq, atMs }))
    },
    async ofExchange(sessionId, seq) {
      const from = await db.selectFrom("turns").select("at_ms").where("seq", "=", seq).executeTakeFirst()
      if (!from) return []
      const after = db
        .selectFrom("turns")
        .where("session_id", "=", sessionId)
        .where("superseded_at_ms", "is", null)
        .where(sql<SqlBool>`(at_ms, seq) >= (${from.at_ms}, ${seq})`)
        .orderBy("at_ms")
        .orderBy("seq")
      const next = await after
        .select(["at_ms", "seq"])
        .where("kind", "=", "prompt")
        .where("seq", "<>", seq)
        .limit(1)
        .executeTakeFirst()
      const rows = await (next ? after.where(sql<SqlBool>`(at_ms, seq) < (${next.at_ms}, ${next.seq})`) : after)
        .selectAll()
        .execute()
      return rows.map(toTurn)
    },
    async liveOfSource(sourceId) {
      return db
        .selectFrom("turns")
        .select(["seq", "session_id as sessionId", "native_id as nativeId"])
        .where("source_id", "=", sourceId)
        .where("superseded_at_ms", "is", null)
        .execute() as Promise<{ seq: number; sessionId: SessionId; nativeId: string }[]>
    },
    async supersede(seqs, atMs) {
      for (let at = 0; at < seqs.length; at += IDS_AT_ONCE) {
        await db
          .updateTable("turns")
          .set({ superseded_at_ms: atMs })
          .where("seq", "in", seqs.slice(at, at + IDS_AT_ONCE))
          .execute()
      }
    },
    async supersedeFrom(sessionId, nativeId, atMs) {
      let query = db
        .updateTable("turns")
        .set({ superseded_at_ms: atMs })
        .where("session_id", "=", sessionId)
        .where("superseded_at_ms", "is", null)
      if (nativeId !== null) {
        const from = await db
          .selectFrom("turns")
          .select("seq")
          .where("session_id", "=", sessionId)
          .where("native_id", "=", nativeId)
          .executeTakeFirst()
        if (!from) return
        query = query.where("seq", ">=", from.seq)
      }
      await query.execute()
    },
    async hasReal(sessionId) {
      const row = await db
        .selectFrom("turns")
        .select("seq")
        .where("session_id", "=", sessionId)
        .where("is_fallback", "=", 0)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
    async dropFallbacks(sessionId) {
      await db.deleteFrom("turns").where("session_id", "=", sessionId).where("is_fallback", "=", 1).execute()
    },
    async recount(sessionIds) {
      for (const id of sessionIds) {
        const row = await db
          .selectFrom("turns")
          .select((e) => [
            e.fn.countAll<number>().as("turns"),
            e.fn.sum<number>(e.case().when("kind", "=", "prompt").then(1).else(0).end()).as("prompts"),
            e.fn.max("at_ms").as("last"),
          ])
          .where("session_id", "=", id)
          .where("superseded_at_ms", "is", null)
          .executeTakeFirstOrThrow()
        const counts = { turn_count: Number(row.turns), prompt_count: Number(row.prompts ?? 0) }
        const last = row.last === null ? {} : { updated_at_ms: Number(row.last) }
        await db
          .updateTable("sessions")
          .set({ ...counts, ...last })
          .where("id", "=", id)
          .execute()
      }
    },
  }
}

function firstOf(db: Db, sessionId: SessionId) {
  return db
    .selectFrom("turns")
    .select("seq")
    .where("session_id", "=", sessionId)
    .where("superseded_at_ms", "is", null)
    .orderBy("at_ms")
    .orderBy("seq")
    .limit(1)
}

export interface PutRow {
  seq: number
  session_id: string
  kind: string
  at_ms: number
}

export function toPutTurn(row: PutRow & { inserted: boolean }): PutTurn {
  return {
    seq: row.seq,
    sessionId: row.session_id as SessionId,
    kind: row.kind as TurnKind,
    atMs: row.at_ms,
    inserted: row.inserted,
  }
}

export type TurnRow = Omit<Selectable<Tables["turns"]>, "seq" | "superseded_at_ms">

function fromTurn(turn: Omit<Turn, "seq" | "supersededAtMs"> & { sourceId: number | null }): TurnRow {
  return {
    session_id: turn.sessionId,
    native_id: turn.nativeId,
    kind: turn.kind,
    text: turn.text,
    at_ms: turn.atMs,
    model: turn.model,
    tool_name: turn.toolName,
    tool_call_id: turn.toolCallId,
    is_error: Number(turn.isError),
    is_fallback: Number(turn.isFallback),
    usage: turn.usage === null ? null : JSON.stringify(turn.usage),
    source_id: turn.sourceId,
  }
}

function toTurn(row: Selectable<Tables["turns"]>): Turn {
  return {
    seq: row.seq,
    sessionId: row.session_id as SessionId,
    nativeId: row.native_id,
    kind: row.kind as TurnKind,
    text: row.text,
    atMs: row.at_ms,
    model: row.model,
    toolName: row.tool_name,
    toolCallId: row.tool_call_id,
    isError: row.is_error === 1,
    isFallback: row.is_fallback === 1,
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Usage),
    supersededAtMs: row.superseded_at_ms,
  }
}
