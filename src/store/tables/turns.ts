import { type Selectable, sql } from "kysely"
import type { SessionId } from "../../domain/ids.ts"
import type { Metadata } from "../../domain/metadata.ts"
import type { NewTurn, PutTurn, Turns } from "../../domain/store.ts"
import type { Turn, TurnKind, Usage } from "../../domain/turn.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { preparedRuns } from "../dialects/prepared.ts"
import { many, one, select, update } from "../queries.ts"
import type { Tables } from "../schema.ts"
import { exchangeFrom } from "./exchange-turns.ts"

const turnsBySeq = preparedRuns((db, seqs: number[]) => db.selectFrom("turns").selectAll().where("seq", "in", seqs))
const textsBySeq = preparedRuns((db, seqs: number[]) =>
  db.selectFrom("turns").select(["seq", "text", "metadata"]).where("seq", "in", seqs),
)

/** Well below both databases' limit of parameters in one statement. */
const IDS_AT_ONCE = 5_000

const BESIDES_TEXT = [
  ...(["session_id", "native_id", "kind", "at_ms", "model", "tool_name", "tool_call_id"] as const),
  ...(["is_error", "is_fallback", "usage", "metadata", "source_id"] as const),
] as const
export const TURN_COLUMNS = [...BESIDES_TEXT, "text"] as const

/** Only where the turn reads differently now. A lent time never replaces a known one. */
export const onTurnConflict = (isTimeLent: boolean) => `
  on conflict (session_id, native_id) do update set kind = excluded.kind, text = excluded.text,
    ${isTimeLent ? "" : "at_ms = excluded.at_ms,"} model = coalesce(excluded.model, turns.model),
    is_error = excluded.is_error, usage = excluded.usage, source_id = excluded.source_id, superseded_at_ms = null,
    metadata = coalesce(excluded.metadata, turns.metadata)
  where turns.text is distinct from excluded.text or turns.kind <> excluded.kind
    or turns.usage is distinct from excluded.usage ${isTimeLent ? "" : "or turns.at_ms <> excluded.at_ms"}
    or turns.model is distinct from coalesce(excluded.model, turns.model)
    or turns.is_error <> excluded.is_error or turns.superseded_at_ms is not null
    or turns.metadata is distinct from coalesce(excluded.metadata, turns.metadata)`

export function makeTurns(db: Db, dialect: StoreDialect): Turns {
  return {
    async put(turns) {
      if (turns.length === 0) return []
      // A turn that grew while it was read occurs more than once; the last reading counts.
      const latest = new Map(turns.map((turn) => [`${turn.sessionId} ${turn.nativeId}`, turn]))
      const put: PutTurn[] = []
      for (const { isTimeLent, rows } of runsOf([...latest.values()]))
        put.push(...(await dialect.putTurns(db, rows, { isTimeLent })))
      // Unchanged turns may be in another file now, which from now on decides whether they still exist.
      if (put.length < latest.size) await own(db, [...latest.values()])
      return put
    },
    async ofSession(sessionId, { superseded, kinds, untilMs, limit, fromStart = false, maxChars } = {}) {
      const text = maxChars === undefined ? sql.ref<string>("text") : sql<string>`substr(text, 1, ${maxChars})`
      let query = db
        .selectFrom("turns")
        .select(["seq", ...BESIDES_TEXT, "superseded_at_ms", text.as("text")])
        .where("session_id", "=", sessionId)
      if (!superseded) query = query.where("superseded_at_ms", "is", null)
      if (kinds !== undefined) query = query.where("kind", "in", kinds)
      if (untilMs !== undefined) query = query.where("at_ms", "<=", untilMs)
      const isLast = limit !== undefined && !fromStart
      const order = isLast ? "desc" : "asc"
      query = query.orderBy("at_ms", order).orderBy("seq", order)
      const rows = await (limit === undefined ? query : query.limit(limit)).execute()
      const turns = rows.map(toTurn)
      return isLast ? turns.reverse() : turns
    },
    bySeqs: async (seqs) => (await turnsBySeq(db, dialect, seqs)).map(toTurn),
    texts: async (seqs) =>
      new Map(
        (await textsBySeq(db, dialect, seqs)).map(({ seq, text, metadata }) => [seq, { text, ...ofJson(metadata) }]),
      ),
    seqs: (sessionId) =>
      many(db.selectFrom("turns").select("seq").where("session_id", "=", sessionId), ({ seq }) => seq),
    byNative: (sessionId, nativeId) => one(select(db, "turns", { session_id: sessionId, native_id: nativeId }), toTurn),
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
    ofExchange: async (sessionId, seq) => (await exchangeFrom(db, dialect, sessionId, seq)).map(toTurn),
    async holders(platform, nativeTurnId) {
      const rows = await db
        .selectFrom("sessions as s")
        .innerJoin("turns as t", (join) => join.onRef("t.session_id", "=", "s.id").on("t.native_id", "=", nativeTurnId))
        .select(["s.id", "s.native_id"])
        .where("s.platform", "=", platform)
        .orderBy("t.seq")
        .execute()
      return rows.map((row) => ({ id: row.id as SessionId, nativeId: row.native_id }))
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
    async supersedeFrom(sessionId, { nativeId, after, beforeMs }, atMs) {
      let query = db
        .updateTable("turns")
        .set({ superseded_at_ms: atMs })
        .where("session_id", "=", sessionId)
        .where("superseded_at_ms", "is", null)
      if (beforeMs !== undefined) query = query.where("at_ms", "<", beforeMs)
      if (nativeId !== null) {
        const from = await select(db, "turns", { session_id: sessionId, native_id: nativeId }).executeTakeFirst()
        if (!from) return []
        query = query.where((e) =>
          e.or([
            e("at_ms", ">", from.at_ms),
            e.and([e("at_ms", "=", from.at_ms), e("seq", after ? ">" : ">=", from.seq)]),
          ]),
        )
      }
      const rows = await query.returning("seq").execute()
      return rows.map(({ seq }) => seq)
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
      const rows = await db
        .deleteFrom("turns")
        .where("session_id", "=", sessionId)
        .where("is_fallback", "=", 1)
        .returning("seq")
        .execute()
      return rows.map(({ seq }) => seq)
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
        await update(db, "sessions", { id }, { ...counts, ...last })
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

async function own(db: Db, turns: NewTurn[]): Promise<void> {
  const groups = Map.groupBy(turns, ({ sessionId, sourceId }) => `${sessionId} ${sourceId}`)
  for (const group of groups.values()) {
    const { sessionId, sourceId } = group[0]!
    for (let at = 0; at < group.length; at += IDS_AT_ONCE) {
      const natives = group.slice(at, at + IDS_AT_ONCE).map(({ nativeId }) => nativeId)
      await db
        .updateTable("turns")
        .set({ source_id: sourceId })
        .where("session_id", "=", sessionId)
        .where("native_id", "in", natives)
        .where("source_id", "<>", sourceId)
        .execute()
    }
  }
}

/** Consecutive turns that one statement can store: the order of a conversation is the order of its rows. */
function runsOf(turns: NewTurn[]): { isTimeLent: boolean; rows: TurnRow[] }[] {
  const runs: { isTimeLent: boolean; rows: TurnRow[] }[] = []
  for (const turn of turns) {
    const isTimeLent = turn.isTimeLent === true
    if (runs.at(-1)?.isTimeLent !== isTimeLent) runs.push({ isTimeLent, rows: [] })
    runs.at(-1)!.rows.push(fromTurn(turn))
  }
  return runs
}

export type TurnRow = Omit<Selectable<Tables["turns"]>, "seq" | "superseded_at_ms">

function fromTurn(turn: NewTurn): TurnRow {
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
    metadata: turn.metadata === undefined ? null : JSON.stringify(turn.metadata),
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
    ...ofJson(row.metadata),
    supersededAtMs: row.superseded_at_ms,
  }
}

const ofJson = (metadata: string | null): Pick<Turn, "metadata"> =>
  metadata === null ? {} : { metadata: JSON.parse(metadata) as Metadata }
