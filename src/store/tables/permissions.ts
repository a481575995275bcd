import type { Selectable, Updateable } from "kysely"
import type { AuditEntry, Permission } from "../../domain/permission.ts"
import type { Audit, Permissions } from "../../domain/team-store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
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
      await db.updateTable("audit").set({ data: left }).where("seq", "=", seq).execute()
    }
  }

  const moveUntaken = async (id: string, change: Partial<Updateable<Tables["permissions"]>>) => {
    const result = await db
      .updateTable("permissions")
      .set(change)
      .where("id", "=", id)
      .where("state", "in", ["allowed", "denied"])
      .where("taken_at_ms", "is", null)
      .executeTakeFirstOrThrow()
    if (result.numUpdatedRows > 0n) await onMoved()
    return result.numUpdatedRows > 0n
  }

  return {
    async ask({ via, ...same }) {
      await db
        .insertInto("permissions")
        .values(toColumns({ ...same, waiter: via }))
        .onConflict((c) => c.doNothing())
        .execute()
      await onMoved()
    },
    async byId(id) {
      const row = await db.selectFrom("permissions").selectAll().where("id", "=", id).executeTakeFirst()
      return row && toPermission(row)
    },
    async decide(id, { state, always = null, reason = null, by, atMs, kept }) {
      const words = kept && toColumns(kept)
      const result = await db
        .updateTable("permissions")
        .set({ state, always, reason, answered_by: by, answered_at_ms: atMs, ...words })
        .where("id", "=", id)
        .where("state", "=", "waiting")
        .executeTakeFirstOrThrow()
      if (result.numUpdatedRows > 0n) await onMoved()
      return result.numUpdatedRows > 0n
    },
    async note(id, answers) {
      const result = await db
        .updateTable("permissions")
        .set({ answers: JSON.stringify(answers) })
        .where("id", "=", id)
        .where("state", "=", "waiting")
        .executeTakeFirstOrThrow()
      return result.numUpdatedRows > 0n
    },
    take: (id, atMs) => moveUntaken(id, { taken_at_ms: atMs }),
    withdraw: (id, reason, atMs) => moveUntaken(id, { state: "stale", reason, always: null, answered_at_ms: atMs }),
    async untaken(home) {
      const rows = await db
        .selectFrom("permissions")
        .selectAll()
        .where("home", "=", home)
        .where("waiter", "=", "hook")
        .where("state", "in", ["allowed", "denied"])
        .where("taken_at_ms", "is", null)
        .execute()
      return rows.map(toPermission)
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
        await db.deleteFrom("permissions").where("id", "=", id).execute()
        await silence({ id })
      }
      return gone.length
    },
    async waiting() {
      const rows = await db
        .selectFrom("permissions")
        .selectAll()
        .where("state", "=", "waiting")
        .orderBy("asked_at_ms")
        .execute()
      return rows.map(toPermission)
    },
    async list({ last }) {
      const rows = await db.selectFrom("permissions").selectAll().orderBy("asked_at_ms", "desc").limit(last).execute()
      return rows.map(toPermission)
    },
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
      const same = db.selectFrom("audit").select("seq").where("at_ms", "=", atMs).where("who", "=", who)
      const found = await same.where("what", "=", what).where("data", "=", JSON.stringify(data)).executeTakeFirst()
      if (!found) await add(entry)
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
        await db
          .updateTable("audit")
          .set({ data: JSON.stringify(next) })
          .where("seq", "=", found.seq)
          .execute()
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
      let query = db.selectFrom("audit").selectAll().orderBy("at_ms", "desc").orderBy("seq", "desc").limit(limit)
      if (beforeSeq !== undefined) {
        const from = await db.selectFrom("audit").select("at_ms").where("seq", "=", beforeSeq).executeTakeFirst()
        query = query.where((e) => {
          const isBelow = e("seq", "<", beforeSeq)
          return from ? e.or([e("at_ms", "<", from.at_ms), e.and([e("at_ms", "=", from.at_ms), isBelow])]) : isBelow
        })
      }
      const rows = await query.execute()
      return rows.map(toAuditEntry)
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
