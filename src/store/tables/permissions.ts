import type { Selectable, Updateable } from "kysely"
import type { AuditEntry, Permission } from "../../domain/permission.ts"
import type { Audit, Permissions } from "../../domain/team-store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { insertNew, many, one, remove, select, update } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"
import { inJson } from "./delivery-forgetting.ts"

export function makePermissions(db: Db, dialect: StoreDialect, onMoved: () => Promise<void>): Permissions {
  /** The audit keeps that there was a request, and who decided. */
  const silence = async (which: { id: string } | { containing: string; sinceMs: number; untilMs: number }) => {
    let query = db.selectFrom("audit").select(["seq", "data"])
    if ("id" in which) query = query.where(dialect.contains("data", JSON.stringify(which.id)))
    else {
      query = query.where(dialect.contains("data", inJson(which.containing))).where("at_ms", ">=", which.sinceMs)
      query = query.where("at_ms", "<", which.untilMs)
    }
    for (const { seq, data } of await query.execute()) {
      const { id } = JSON.parse(data) as { id?: string }
      const left = JSON.stringify({ ...(id !== undefined && { id }), forgotten: true })
      await update(db, "audit", { seq }, { data: left })
    }
  }

  const moveUntaken = async (id: string, change: Updateable<Tables["permissions"]>) => {
    const untaken = db.updateTable("permissions").set(change).where("id", "=", id).where("taken_at_ms", "is", null)
    const result = await untaken.where("state", "in", ["allowed", "denied"]).executeTakeFirstOrThrow()
    if (result.numUpdatedRows > 0n) await onMoved()
    return result.numUpdatedRows > 0n
  }

  return {
    async ask({ via, ...same }) {
      await insertNew(db, "permissions", toColumns({ ...same, waiter: via }))
      await onMoved()
    },
    byId: (id) => one(select(db, "permissions", { id }), toPermission),
    async decide(id, { state, always = null, reason = null, by, atMs, kept }) {
      const words = kept && toColumns(kept)
      const change = { state, always, reason, answered_by: by, answered_at_ms: atMs, ...words }
      const isDecided = await update(db, "permissions", { id, state: "waiting" }, change)
      if (isDecided) await onMoved()
      return isDecided
    },
    note: (id, answers) => update(db, "permissions", { id, state: "waiting" }, { answers: JSON.stringify(answers) }),
    take: (id, atMs) => moveUntaken(id, { taken_at_ms: atMs }),
    withdraw: (id, reason, atMs) => moveUntaken(id, { state: "stale", reason, always: null, answered_at_ms: atMs }),
    untaken(home) {
      const untaken = select(db, "permissions", { home, waiter: "hook", taken_at_ms: null })
      return many(untaken.where("state", "in", ["allowed", "denied"]), toPermission)
    },
    async dropDecided(beforeMs) {
      const { numDeletedRows } = await db
        .deleteFrom("permissions")
        .where("state", "!=", "waiting")
        .where("answered_at_ms", "<", beforeMs)
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
    async forget(filter) {
      let query = db.selectFrom("permissions").select("id")
      if ("sessionIds" in filter) {
        if (filter.sessionIds.length === 0) return 0
        query = query.where("session_id", "in", filter.sessionIds)
      } else {
        const { containing, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER } = filter
        query = query.where("asked_at_ms", ">=", sinceMs).where("asked_at_ms", "<", untilMs)
        if (containing !== undefined) {
          const held = ["input", "suggestions", "questions", "answers"] as const
          const texts = held.map((column) => dialect.contains(column, inJson(containing)))
          const plain = [dialect.contains("title", containing), dialect.contains("reason", containing)]
          query = query.where((e) => e.or([...texts, ...plain]))
          await silence({ containing, sinceMs, untilMs })
        }
      }
      const gone = await query.execute()
      for (const { id } of gone) {
        await remove(db, "permissions", { id })
        await silence({ id })
      }
      return gone.length
    },
    waiting: () => many(select(db, "permissions", { state: "waiting" }).orderBy("asked_at_ms"), toPermission),
    list: ({ last }) => many(select(db, "permissions").orderBy("asked_at_ms", "desc").limit(last), toPermission),
  }
}

export function makeAudit(db: Db): Audit {
  const add: Audit["add"] = async ({ atMs, who, what, data }) => {
    await db
      .insertInto("audit")
      .values({ at_ms: atMs, who, what, data: JSON.stringify(data) })
      .execute()
  }
  return {
    add,
    async addOnce(entry) {
      const { atMs, who, what, data } = entry
      const same = select(db, "audit", { at_ms: atMs, who, what, data: JSON.stringify(data) })
      if (!(await same.executeTakeFirst())) await add(entry)
    },
    async tally(entry, { windowMs, most }) {
      const { what, atMs, data } = entry
      const recent = db
        .selectFrom("audit")
        .where("what", "=", what)
        .where("at_ms", ">", atMs - windowMs)
      const ofWhom = (who: string) =>
        recent.select(["seq", "data"]).where("who", "=", who).orderBy("seq", "desc").limit(1).executeTakeFirst()
      const countUp = async (found: { seq: number; data: string }) => {
        const kept = JSON.parse(found.data) as { count?: number }
        const next = { ...kept, count: (kept.count ?? 1) + 1, lastAtMs: atMs }
        await update(db, "audit", { seq: found.seq }, { data: JSON.stringify(next) })
      }
      const own = await ofWhom(entry.who)
      if (own) return countUp(own)
      const { n } = await recent.select((e) => e.fn.countAll().as("n")).executeTakeFirstOrThrow()
      if (Number(n) < most) return add({ ...entry, data: { ...data, count: 1, firstAtMs: atMs, lastAtMs: atMs } })
      const others = await ofWhom(OTHERS)
      if (others) return countUp(others)
      await add({ ...entry, who: OTHERS, data: { count: 1, firstAtMs: atMs, lastAtMs: atMs } })
    },
    async list({ limit, beforeSeq }) {
      // By time, not by number: entries of offline commands are imported later, with a higher number.
      let query = select(db, "audit").orderBy("at_ms", "desc").orderBy("seq", "desc").limit(limit)
      if (beforeSeq !== undefined) {
        const from = await db.selectFrom("audit").select("at_ms").where("seq", "=", beforeSeq).executeTakeFirst()
        query = query.where((e) => {
          const isBelow = e("seq", "<", beforeSeq)
          return from ? e.or([e("at_ms", "<", from.at_ms), e.and([e("at_ms", "=", from.at_ms), isBelow])]) : isBelow
        })
      }
      return many(query, toAuditEntry)
    },
  }
}

const toAuditEntry = rowDecoder<AuditEntry>({ json: ["data"] })

/** For those beyond the limit. */
const OTHERS = "others"

const decoded = rowDecoder<Omit<Permission, "via">>({ json: ["input", "suggestions", "questions", "answers"] })
const toPermission = ({ waiter, ...row }: Selectable<Tables["permissions"]>): Permission => ({
  ...decoded(row),
  via: waiter as Permission["via"],
})
