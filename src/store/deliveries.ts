import type { Selectable } from "kysely"
import type { Delivery, DeliveryState } from "../domain/delivery.ts"
import type { Deliveries } from "../domain/store.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import type { Tables } from "./tables.ts"

const DEFAULT_MAX_ATTEMPTS = 5

export function makeDeliveries(db: Db, dialect: StoreDialect, onMoved: () => Promise<void>): Deliveries {
  /** Only the holder of the lease may say how it went. */
  const held = (seq: number, owner: string) =>
    db.updateTable("deliveries").where("seq", "=", seq).where("lease_owner", "=", owner).where("state", "=", "queued")
  const changed = (result: { numUpdatedRows: bigint }) => result.numUpdatedRows > 0n

  return {
    async enqueue(delivery, nowMs) {
      const inserted = await db
        .insertInto("deliveries")
        .values({
          key: delivery.key,
          lane: delivery.lane,
          channel: delivery.channel,
          payload: JSON.stringify(delivery.payload),
          state: "queued",
          repeatable: Number(delivery.repeatable),
          host: delivery.host ?? null,
          max_attempts: delivery.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
          due_at_ms: delivery.dueAtMs ?? nowMs,
          expires_at_ms: delivery.expiresAtMs ?? null,
          created_at_ms: nowMs,
        } as never)
        .onConflict((c) => c.column("key").doNothing())
        .returning("seq")
        .executeTakeFirst()
      if (inserted) await onMoved()
      return inserted !== undefined
    },
    async byKey(key) {
      const row = await db.selectFrom("deliveries").selectAll().where("key", "=", key).executeTakeFirst()
      return row && toDelivery(row)
    },
    async lease({ owner, host, leaseMs, limit, channels }, nowMs) {
      if (channels.length === 0) return []
      await dialect.lockLeases(db)
      await settleOverdue(db, nowMs)
      let heads = db
        .selectFrom("deliveries as d")
        .select("d.seq")
        .where("d.state", "=", "queued")
        .where("d.channel", "in", channels)
        .where("d.due_at_ms", "<=", nowMs)
        .where((e) => e.or([e("d.host", "is", null), e("d.host", "=", host)]))
        .where((e) => e.or([e("d.lease_until_ms", "is", null), e("d.lease_until_ms", "<=", nowMs)]))
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom("deliveries as other")
                .select("other.seq")
                .whereRef("other.lane", "=", "d.lane")
                .where("other.state", "=", "queued")
                // A later one may be under way: it was leased before this one's transaction committed.
                .where((o) => o.or([o("other.seq", "<", o.ref("d.seq")), o("other.lease_until_ms", ">", nowMs)])),
            ),
          ),
        )
        .orderBy("d.seq")
        .limit(limit)
      if (dialect.skipLocked) heads = heads.forUpdate("d").skipLocked()
      const rows = await db
        // A common table expression is evaluated once; PostgreSQL may run a locking subquery again and lease too many.
        .with("heads", () => heads)
        .updateTable("deliveries")
        .set((e) => ({
          lease_owner: owner,
          lease_until_ms: nowMs + leaseMs,
          attempts: e("attempts", "+", 1),
          attempt_started_at_ms: null,
        }))
        .where("seq", "in", (e) => e.selectFrom("heads").select("heads.seq"))
        .returningAll()
        .execute()
      return rows.map(toDelivery).sort((a, b) => a.seq - b.seq)
    },
    startAttempt: async (seq, owner, nowMs) =>
      changed(await held(seq, owner).set({ attempt_started_at_ms: nowMs }).executeTakeFirstOrThrow()),
    renew: async (seq, owner, leaseMs, nowMs) =>
      changed(
        await held(seq, owner)
          .set({ lease_until_ms: nowMs + leaseMs })
          .executeTakeFirstOrThrow(),
      ),
    async settle(seq, owner, state, outcome, nowMs) {
      const result = await held(seq, owner)
        .set({ state, outcome, settled_at_ms: nowMs, lease_owner: null, lease_until_ms: null })
        .executeTakeFirstOrThrow()
      if (changed(result)) await onMoved()
      return changed(result)
    },
    async retry(seq, owner, dueAtMs, outcome) {
      return changed(
        await held(seq, owner)
          .set({ due_at_ms: dueAtMs, outcome, lease_owner: null, lease_until_ms: null, attempt_started_at_ms: null })
          .executeTakeFirstOrThrow(),
      )
    },
    async pending(lane) {
      const rows = await db
        .selectFrom("deliveries")
        .selectAll()
        .where("lane", "=", lane)
        .where("state", "=", "queued")
        .orderBy("seq")
        .execute()
      return rows.map(toDelivery)
    },
  }
}

/** A delivery that nobody may try again must be settled, or it would block its lane for good. */
async function settleOverdue(db: Db, nowMs: number): Promise<void> {
  const free = () =>
    db
      .updateTable("deliveries")
      .where("state", "=", "queued")
      .where((e) => e.or([e("lease_until_ms", "is", null), e("lease_until_ms", "<=", nowMs)]))
  const settled = { settled_at_ms: nowMs, lease_owner: null, lease_until_ms: null }
  await free()
    .set({ ...settled, state: "uncertain", outcome: "the attempt was cut off; whether it arrived is not known" })
    .where("repeatable", "=", 0)
    .where("attempt_started_at_ms", "is not", null)
    .execute()
  await free()
    .set({ ...settled, state: "expired", outcome: "its time ran out before it could be delivered" })
    .where("expires_at_ms", "<=", nowMs)
    .execute()
  await free()
    .set((e) => ({ ...settled, state: "failed", outcome: e.fn.coalesce("outcome", e.val("no attempt succeeded")) }))
    .whereRef("attempts", ">=", "max_attempts")
    .execute()
}

function toDelivery(row: Selectable<Tables["deliveries"]>): Delivery {
  return {
    seq: row.seq,
    key: row.key,
    lane: row.lane,
    channel: row.channel,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
    state: row.state as DeliveryState,
    repeatable: row.repeatable === 1,
    host: row.host,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    dueAtMs: row.due_at_ms,
    expiresAtMs: row.expires_at_ms,
    leaseOwner: row.lease_owner,
    leaseUntilMs: row.lease_until_ms,
    attemptStartedAtMs: row.attempt_started_at_ms,
    outcome: row.outcome,
    createdAtMs: row.created_at_ms,
    settledAtMs: row.settled_at_ms,
  }
}
