import { type Selectable, sql } from "kysely"
import type { SessionId } from "../../domain/ids.ts"
import type { Thoughts } from "../../domain/store.ts"
import type { Thought } from "../../domain/thought.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared, preparedInsert } from "../dialects/prepared.ts"
import { many, one, select } from "../queries.ts"
import type { Tables } from "../schema.ts"

const thoughtByKey = prepared((db, key: string) => db.selectFrom("thoughts").selectAll().where("key", "=", key))
const highestNumber = prepared((db, sessionId: string, branchId: string) =>
  db
    .selectFrom("thoughts")
    .select((e) => e.fn.max("number").as("highest"))
    .where("session_id", "=", sessionId)
    .where("branch_id", "=", branchId),
)

const COLUMNS = [
  ...(["session_id", "branch_id", "number", "text", "total_thoughts", "next_needed", "is_revision"] as const),
  ...(["revises_thought", "branch_from", "renumbered_from", "key", "created_at_ms"] as const),
] as const
const thoughtAdded = preparedInsert(COLUMNS, (db, row) => db.insertInto("thoughts").values(row).returningAll())
const sessionThoughtOf = prepared((db, thoughts: number, branches: number, atMs: number, sessionId: string) =>
  db
    .updateTable("sessions")
    .set((e) => ({
      thought_count: e("thought_count", "+", thoughts),
      branch_count: e("branch_count", "+", branches),
      updated_at_ms: atMs,
      archived_at_ms: sql<null>`null`,
    }))
    .where("id", "=", sessionId)
    .returning("thought_count"),
)

export function makeThoughts(db: Db, dialect: StoreDialect): Thoughts {
  const countOf = async (sessionId: SessionId, branchId: string) => {
    const row = await db
      .selectFrom("thoughts")
      .select((e) => e.fn.countAll<number>().as("n"))
      .where("session_id", "=", sessionId)
      .where("branch_id", "=", branchId)
      .executeTakeFirstOrThrow()
    return Number(row.n)
  }
  return {
    lock: (sessionId) => dialect.lockSession(db, sessionId),
    async add(thought) {
      const opensBranch = thought.branchId !== null && (await countOf(thought.sessionId, thought.branchId)) === 0
      const [row] = await thoughtAdded(db, dialect, {
        session_id: thought.sessionId,
        branch_id: thought.branchId ?? "",
        number: thought.number,
        text: thought.text,
        total_thoughts: thought.totalThoughts,
        next_needed: Number(thought.nextThoughtNeeded),
        is_revision: Number(thought.isRevision),
        revises_thought: thought.revisesThought,
        branch_from: thought.branchFromThought,
        renumbered_from: thought.renumberedFrom,
        key: thought.key,
        created_at_ms: thought.createdAtMs,
      })
      const [session] = await sessionThoughtOf(
        db,
        dialect,
        1,
        Number(opensBranch),
        thought.createdAtMs,
        thought.sessionId,
      )
      return { thought: toThought(row!), thoughtCount: session!.thought_count }
    },
    async byKey(key) {
      const [row] = await thoughtByKey(db, dialect, key)
      return row && toThought(row)
    },
    async highest(sessionId, branchId) {
      const [row] = await highestNumber(db, dialect, sessionId, branchId ?? "")
      return Number(row?.highest ?? 0)
    },
    at: (sessionId, branchId, number) =>
      one(select(db, "thoughts", { session_id: sessionId, branch_id: branchId ?? "", number }), toThought),
    async branchOrigin(sessionId, branchId) {
      const ofBranch = select(db, "thoughts", { session_id: sessionId, branch_id: branchId })
      return (await ofBranch.orderBy("seq").limit(1).executeTakeFirst())?.branch_from ?? undefined
    },
    async page(sessionId, { beforeSeq, limit }) {
      // Sorted by number alone: the texts of a long session would all be read to leave most of them out.
      let seqs = db.selectFrom("thoughts").select("seq").where("session_id", "=", sessionId)
      if (beforeSeq !== undefined) seqs = seqs.where("seq", "<", beforeSeq)
      const newest = seqs.orderBy("seq", "desc").limit(limit)
      return many(select(db, "thoughts").where("seq", "in", newest).orderBy("seq", "desc"), toThought)
    },
    all: (sessionId) => many(select(db, "thoughts", { session_id: sessionId }).orderBy("seq"), toThought),
    seqs: (sessionId) =>
      many(db.selectFrom("thoughts").select("seq").where("session_id", "=", sessionId), ({ seq }) => seq),
    bySeqs: async (seqs) => (seqs.length === 0 ? [] : many(select(db, "thoughts").where("seq", "in", seqs), toThought)),
  }
}

function toThought(row: Selectable<Tables["thoughts"]>): Thought {
  return {
    seq: row.seq,
    sessionId: row.session_id as SessionId,
    branchId: row.branch_id || null,
    number: row.number,
    text: row.text,
    totalThoughts: row.total_thoughts,
    nextThoughtNeeded: row.next_needed === 1,
    isRevision: row.is_revision === 1,
    revisesThought: row.revises_thought,
    branchFromThought: row.branch_from,
    renumberedFrom: row.renumbered_from,
    createdAtMs: row.created_at_ms,
  }
}
