import { sql } from "kysely"
import type { Delivery, DeliveryState } from "../../domain/delivery.ts"
import { AGENT_CHANNEL, type DeliveryRoute } from "../../domain/message.ts"
import { NOTICE_CHANNEL, PAIR_CHANNEL } from "../../domain/pair.ts"
import type { Deliveries } from "../../domain/queue-store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { many, one, select } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"
import { forgetWords } from "./delivery-forgetting.ts"
import { type DeliveryRow, expireRows, takeCutOff, takeHeads } from "./leasing.ts"

const DEFAULT_MAX_ATTEMPTS = 5

export function makeDeliveries(db: Db, dialect: StoreDialect, onMoved: () => Promise<void>): Deliveries {
  /** Only the holder of the lease may settle it. */
  const held = (seq: number, owner: string) =>
    db.updateTable("deliveries").where("seq", "=", seq).where("lease_owner", "=", owner).where("state", "=", "queued")
  const changed = (result: { numUpdatedRows: bigint }) => result.numUpdatedRows > 0n

  const ofLanes: Deliveries["ofLanes"] = async (lanes, { states, first, last } = {}) => {
    if (lanes.length === 0) return []
    let query = select(db, "deliveries").where("lane", "in", [...lanes])
    if (states) query = query.where("state", "in", [...states])
    query = last === undefined ? query.orderBy("seq") : query.orderBy("seq", "desc").limit(last)
    if (first !== undefined) query = query.limit(first)
    return (await many(query, toDelivery)).sort((a, b) => a.seq - b.seq)
  }

  return {
    async enqueue({ key, lane, channel, payload, repeatable, ...delivery }, nowMs) {
      const { host = null, maxAttempts = DEFAULT_MAX_ATTEMPTS, dueAtMs = nowMs } = delivery
      const { expiresAtMs = null, fingerprint = null } = delivery
      const inserted = await db
        .insertInto("deliveries")
        .values(
          toColumns({
            ...{ key, lane, channel, payload, repeatable, state: "queued", fingerprint, host },
            ...{ maxAttempts, dueAtMs, expiresAtMs, createdAtMs: nowMs },
          }),
        )
        .onConflict((c) => c.column("key").doNothing())
        .returning("seq")
        .executeTakeFirst()
      if (inserted) await onMoved()
      return inserted !== undefined
    },
    byKey: (key) => one(select(db, "deliveries", { key }), toDelivery),
    twin(fingerprint, sinceMs) {
      const since = select(db, "deliveries", { fingerprint }).where("created_at_ms", ">=", sinceMs)
      const newest = since.where("state", "not in", ["failed", "cancelled"]).orderBy("seq", "desc").limit(1)
      return one(newest, toDelivery)
    },
    lease: async (request, nowMs) => (await takeHeads(db, dialect, request, nowMs)).map(toDelivery),
    expire: async (channel, nowMs) => (await expireRows(db, nowMs, channel)).map(toDelivery),
    cutOff: async (request, nowMs) => (await takeCutOff(db, dialect, request, nowMs)).map(toDelivery),
    startAttempt: async (seq, owner, nowMs, attempt) =>
      changed(
        await held(seq, owner)
          .set({
            attempt_started_at_ms: nowMs,
            ...(attempt
              ? { session_id: attempt.sessionId, rung: attempt.route, fetch_key: attempt.fetchKey ?? null }
              : {}),
          })
          .executeTakeFirstOrThrow(),
      ),
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
    async retry(seq, owner, dueAtMs, outcome, { countAttempt = true } = {}) {
      return changed(
        await held(seq, owner)
          .set((e) => ({
            due_at_ms: dueAtMs,
            outcome,
            lease_owner: null,
            lease_until_ms: null,
            attempt_started_at_ms: null,
            ...(countAttempt ? {} : { attempts: e("attempts", "-", 1) }),
          }))
          .executeTakeFirstOrThrow(),
      )
    },
    async move(seq, from, to, outcome, nowMs) {
      const result = await db
        .updateTable("deliveries")
        .set({ state: to, outcome, settled_at_ms: nowMs, lease_owner: null, lease_until_ms: null })
        .where("seq", "=", seq)
        .where("state", "in", [...from])
        .where((e) =>
          e.or([e("state", "<>", "queued"), e("lease_until_ms", "is", null), e("lease_until_ms", "<=", nowMs)]),
        )
        .executeTakeFirstOrThrow()
      if (changed(result)) await onMoved()
      return changed(result)
    },
    async endLeases(ownerPrefix, except, nowMs) {
      await db
        .updateTable("deliveries")
        .set((e) => ({
          lease_until_ms: nowMs,
          lease_owner: null,
          attempts: e
            .case()
            .when("attempt_started_at_ms", "is", null)
            .then(e("attempts", "-", 1))
            .else(e.ref("attempts"))
            .end(),
        }))
        .where("state", "=", "queued")
        .where("lease_owner", "<>", except)
        .where((e) => e(e.fn<string>("substr", ["lease_owner", e.val(1), e.val(ownerPrefix.length)]), "=", ownerPrefix))
        .execute()
    },
    async rewrite(seq, payload, { ifWaitingAtMs } = {}) {
      let query = db
        .updateTable("deliveries")
        .set({ payload: JSON.stringify(payload) })
        .where("seq", "=", seq)
      if (ifWaitingAtMs !== undefined)
        query = query
          .where("state", "=", "queued")
          .where("attempt_started_at_ms", "is", null)
          .where((e) => e.or([e("lease_until_ms", "is", null), e("lease_until_ms", "<=", ifWaitingAtMs)]))
      return changed(await query.executeTakeFirstOrThrow())
    },
    forget: async (filter, nowMs) => (await forgetWords(db, dialect, filter, nowMs)).map(toDelivery),
    async drop({ beforeMs, limit }) {
      const over = db
        .selectFrom("deliveries")
        .select("seq")
        .where("settled_at_ms", "<", beforeMs)
        // A literal, as in the partial index: a parameter would not match it.
        .where("channel", "<>", sql.lit(PAIR_CHANNEL))
        .where(IS_OVER)
        .orderBy("settled_at_ms")
        .limit(limit)
      const { numDeletedRows } = await db.deleteFrom("deliveries").where("seq", "in", over).executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
    pending: (lane) => ofLanes([lane], { states: ["queued"] }),
    async heads(lanes) {
      if (lanes.length === 0) return []
      // One index lookup per lane: grouping by lane would read everything that is queued.
      const firsts = lanes.map(
        (lane) => sql`(select min(seq) from deliveries where state = 'queued' and lane = ${lane})`,
      )
      const heads = select(db, "deliveries").where("seq", "in", sql<number>`(${sql.join(firsts)})`)
      return many(heads.orderBy("seq"), toDelivery)
    },
    ofLanes,
    ofChannel: (channel, states) =>
      many(select(db, "deliveries", { channel }).where("state", "in", states).orderBy("seq"), toDelivery),
    underWay(sessionId) {
      const begun = select(db, "deliveries", { session_id: sessionId }).where((e) =>
        e.or([
          e("state", "in", ["delivered", "seen", "running"]),
          e.and([e("state", "=", "queued"), e("attempt_started_at_ms", "is not", null)]),
        ]),
      )
      return many(begun.orderBy("seq"), toDelivery)
    },
    fetchedUnder: (fetchKey) =>
      many(select(db, "deliveries", { fetch_key: fetchKey }).where("state", "<>", "queued").orderBy("seq"), toDelivery),
    async counts(channel) {
      const rows = await db
        .selectFrom("deliveries")
        .select(["lane", "state", (e) => e.fn.countAll<number>().as("count")])
        .where("channel", "=", channel)
        .groupBy(["lane", "state"])
        .execute()
      return rows.map(({ lane, state, count }) => ({ lane, state: state as DeliveryState, count: Number(count) }))
    },
  }
}

/** In this form the planner uses no other index, which would read all finished deliveries. */
const IS_OVER = sql<boolean>`case channel
  when ${sql.lit(AGENT_CHANNEL)} then state in ('done', 'cancelled')
  when ${sql.lit(NOTICE_CHANNEL)} then state not in ('queued', 'seen', 'running')
  else state not in ('queued', 'delivered', 'seen', 'running') end`

const decoded = rowDecoder<Omit<Delivery, "route">>({ json: ["payload"], flags: ["repeatable"] })
const toDelivery = ({ rung, ...row }: DeliveryRow): Delivery => ({
  ...decoded(row),
  route: rung as DeliveryRoute | null,
})
