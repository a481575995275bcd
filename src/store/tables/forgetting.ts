import { createHash } from "node:crypto"
import { type RawBuilder, type SqlBool, sql } from "kysely"
import type { Forgetting } from "../../domain/forgetting.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared } from "../dialects/prepared.ts"
import { insertNew, remove, select, update } from "../queries.ts"
import { inJson } from "./delivery-forgetting.ts"
import { countMentions, forgetLoggedIds, forgetNames, forgetTraces, forgetWord } from "./word-forgetting.ts"

const WHOLE_SESSION = ""
const IDS_AT_ONCE = 500

const forgottenTurns = prepared((db, session: string) =>
  db.selectFrom("forgotten").select("turn_hash").where("session_hash", "=", session),
)

/** Stores hashes of the agents' ids: records that are read again stay forgotten, and the hashes reveal nothing. */
export function makeForgetting(db: Db, dialect: StoreDialect): Forgetting {
  const sessionHash = (platform: string, nativeId: string) => hash(`${platform}\n${nativeId}`)
  const mark = async (session: string, turn: string, atMs: number) => {
    await insertNew(db, "forgotten", { session_hash: session, turn_hash: turn, at_ms: atMs })
  }
  return {
    async of(platform, nativeId) {
      const rows = await forgottenTurns(db, dialect, sessionHash(platform, nativeId))
      const turns = new Set(rows.map((row) => row.turn_hash))
      return {
        whole: turns.has(WHOLE_SESSION),
        turn: (nativeTurnId) => turns.size > 0 && turns.has(hash(nativeTurnId)),
      }
    },
    async session(id, atMs) {
      const session = await select(db, "sessions", { id }).executeTakeFirst()
      if (!session) return
      await mark(sessionHash(session.platform, session.native_id), WHOLE_SESSION, atMs)
      for (const table of ["thoughts", "turns", "journal"] as const) await remove(db, table, { session_id: id })
      await remove(db, "sessions", { id })
    },
    async turns(seqs, atMs) {
      for (let at = 0; at < seqs.length; at += IDS_AT_ONCE) {
        const chunk = seqs.slice(at, at + IDS_AT_ONCE)
        const rows = await db
          .selectFrom("turns as t")
          .innerJoin("sessions as s", "s.id", "t.session_id")
          .select(["s.platform", "s.native_id as session", "t.native_id as turn"])
          .where("t.seq", "in", chunk)
          .execute()
        for (const row of rows) await mark(sessionHash(row.platform, row.session), hash(row.turn), atMs)
        await db.deleteFrom("turns").where("seq", "in", chunk).execute()
      }
    },
    async thoughts(seqs) {
      for (let at = 0; at < seqs.length; at += IDS_AT_ONCE) {
        const chunk = seqs.slice(at, at + IDS_AT_ONCE)
        const rows = await db
          .selectFrom("thoughts")
          .select((e) => ["session_id", e.fn.countAll<number>().as("n")])
          .where("seq", "in", chunk)
          .groupBy("session_id")
          .execute()
        await db.deleteFrom("thoughts").where("seq", "in", chunk).execute()
        for (const { session_id, n } of rows) {
          await db
            .updateTable("sessions")
            .set((e) => ({ thought_count: e("thought_count", "-", Number(n)) }))
            .where("id", "=", session_id)
            .execute()
        }
      }
    },
    async matching({ containing, sinceMs, untilMs, projectId }) {
      const conditions = (time: string, holding: (text: string) => RawBuilder<SqlBool>[]) => {
        const parts = [
          ...(sinceMs === undefined ? [] : [sql<SqlBool>`${sql.ref(time)} >= ${sinceMs}`]),
          ...(untilMs === undefined ? [] : [sql<SqlBool>`${sql.ref(time)} < ${untilMs}`]),
          ...(projectId === undefined ? [] : [sql<SqlBool>`s.project_id = ${projectId}`]),
          ...(containing === undefined ? [] : [sql<SqlBool>`(${sql.join(holding(containing), sql` or `)})`]),
        ]
        return sql.join(parts, sql` and `)
      }
      const inText = (text: string) => dialect.contains("t.text", text)
      const inTurn = (text: string) => [inText(text), dialect.contains("t.metadata", inJson(text))]
      const pick = async (table: string, time: string, holding: Parameters<typeof conditions>[1]) => {
        const { rows } = await sql<{ seq: number; session_id: string }>`
          select t.seq, t.session_id from ${sql.table(table)} t join sessions s on s.id = t.session_id
          where ${conditions(time, holding)}`.execute(db)
        return rows.map((row) => ({ seq: row.seq, sessionId: row.session_id as SessionId }))
      }
      return {
        turns: await pick("turns", "t.at_ms", inTurn),
        thoughts: await pick("thoughts", "t.created_at_ms", (text) => [inText(text)]),
      }
    },
    async retitle(sessionIds, containing) {
      const PROMPT_RANK = 1
      for (const id of sessionIds) {
        const session = await select(db, "sessions", { id }).executeTakeFirst()
        const holds = containing !== undefined && (session?.title.includes(containing) ?? false)
        if (!session || (session.title_rank !== PROMPT_RANK && !holds)) continue
        const prompts = select(db, "turns", { session_id: id, kind: "prompt" }).orderBy("at_ms").orderBy("seq")
        const first = await prompts.limit(1).executeTakeFirst()
        const title = first?.text.trim().split("\n")[0]?.slice(0, 80)
        const change = title ? { title, title_rank: PROMPT_RANK } : { title: "Untitled", title_rank: 0 }
        await update(db, "sessions", { id }, change)
      }
    },
    word: (text, projectId) => forgetWord(db, dialect, text, projectId),
    mentions: (text, projectId) => countMentions(db, dialect, text, projectId),
    names: (text, sources) => forgetNames(db, text, sources),
    loggedIds: (text, platform, except) => forgetLoggedIds(db, dialect, { text, platform, except }),
    traces: (sessionIds) => forgetTraces(db, sessionIds),
    async emptied(sessionIds) {
      const left: SessionId[] = []
      for (const id of sessionIds) {
        const has = async (table: "turns" | "thoughts") =>
          (await select(db, table, { session_id: id }).limit(1).executeTakeFirst()) !== undefined
        if (!(await has("turns")) && !(await has("thoughts"))) left.push(id)
      }
      return left
    },
  }
}

const hash = (text: string) => createHash("sha256").update(text).digest("base64url")
