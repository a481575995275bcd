import { type Selectable, sql } from "kysely"
import type { LeaseRequest } from "../../domain/delivery.ts"
import { REASONS } from "../../domain/reason.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { select, update } from "../queries.ts"
import type { Tables } from "../schema.ts"

export type DeliveryRow = Selectable<Tables["deliveries"]>

/** Leases the head of each free lane to the owner. */
export async function takeHeads(
  db: Db,
  dialect: StoreDialect,
  { owner, host, leaseMs, limit, channels, lanes: only, exceptLanes = [] }: LeaseRequest,
  nowMs: number,
): Promise<DeliveryRow[]> {
  if (channels.length === 0) return []
  await dialect.lockLeases(db)
  // Deliveries of other channels are expired by their own daemon, which reports that.
  for (const channel of channels) await expireRows(db, nowMs, channel)
  const isWanted = ({ lane }: DeliveryRow) => (only?.includes(lane) ?? true) && !exceptLanes.includes(lane)
  for (;;) {
    const { heads, busy } = await lanes(db, nowMs)
    const free = heads.filter((row) => isFree(row, nowMs) && !busy.has(row.lane))
    // No attempts left: settle it, or it would block its lane permanently.
    const spent = free.filter((row) => row.attempts >= row.max_attempts && !isCutOff(row))
    if (spent.length === 0) {
      const due = free.filter(
        (row) => !isCutOff(row) && row.due_at_ms <= nowMs && isFor(row, channels, host) && isWanted(row),
      )
      return take(db, dialect, due.slice(0, limit), { owner, untilMs: nowMs + leaseMs }, nowMs)
    }
    for (const { seq, outcome } of spent)
      await update(
        db,
        "deliveries",
        { seq, state: "queued" },
        { ...settled(nowMs), state: "failed", outcome: outcome ?? REASONS.attempts_spent() },
      )
  }
}

/** Leases attempts that were cut off by a crash: the owner must determine whether they arrived. */
export async function takeCutOff(
  db: Db,
  dialect: StoreDialect,
  { owner, host, leaseMs, limit, channels }: LeaseRequest,
  nowMs: number,
): Promise<DeliveryRow[]> {
  if (channels.length === 0) return []
  await dialect.lockLeases(db)
  const queued = select(db, "deliveries", { state: "queued" })
  const rows = await queued.where("lease_until_ms", "<=", nowMs).orderBy("seq").execute()
  const found = rows.filter((row) => isCutOff(row) && isFor(row, channels, host)).slice(0, limit)
  return take(db, dialect, found, { owner, untilMs: nowMs + leaseMs, isSameAttempt: true }, nowMs)
}

/** Expires deliveries that are overdue, but none that is leased or may have arrived. */
export async function expireRows(db: Db, nowMs: number, channel: string): Promise<DeliveryRow[]> {
  return db
    .updateTable("deliveries")
    .set({ ...settled(nowMs), state: "expired", outcome: REASONS.expired() })
    .where("expires_at_ms", "<=", nowMs)
    .where("state", "=", "queued")
    .where((e) => e.or([e("lease_until_ms", "is", null), e("lease_until_ms", "<=", nowMs)]))
    .where((e) => e.or([e("attempt_started_at_ms", "is", null), e("repeatable", "=", 1)]))
    .where("channel", "=", channel)
    .returningAll()
    .execute()
}

/** The head of each lane; and the lanes in which a later delivery was leased before an earlier one committed. */
async function lanes(db: Db, nowMs: number): Promise<{ heads: DeliveryRow[]; busy: Set<string> }> {
  const heads = await select(db, "deliveries").where("seq", "in", FIRST_OF_LANES).orderBy("seq").execute()
  const leased = await db
    .selectFrom("deliveries")
    .select("lane")
    .where("lease_until_ms", ">", nowMs)
    .where("state", "=", "queued")
    .execute()
  return { heads, busy: new Set(leased.map(({ lane }) => lane)) }
}

/** A loose index scan over lanes: grouping by lane would read every pending delivery. */
const FIRST_OF_LANES = sql<number>`(
  with recursive waiting(lane) as (
    select min(lane) from deliveries where state = 'queued'
    union all
    select (select min(d.lane) from deliveries d where d.state = 'queued' and d.lane > waiting.lane)
    from waiting where waiting.lane is not null
  )
  select (select min(d.seq) from deliveries d where d.state = 'queued' and d.lane = waiting.lane)
  from waiting where waiting.lane is not null
)`

async function take(
  db: Db,
  { skipLocked }: StoreDialect,
  rows: DeliveryRow[],
  { owner, untilMs, isSameAttempt = false }: { owner: string; untilMs: number; isSameAttempt?: boolean },
  nowMs: number,
): Promise<DeliveryRow[]> {
  if (rows.length === 0) return []
  const seqs = rows.map(({ seq }) => seq)
  let still = db
    .selectFrom("deliveries")
    .select("seq")
    .where("seq", "in", seqs)
    .where("state", "=", "queued")
    .where((e) => e.or([e("lease_until_ms", "is", null), e("lease_until_ms", "<=", nowMs)]))
  if (skipLocked) still = still.forUpdate().skipLocked()
  const taken = await db
    // A common table expression is evaluated once; PostgreSQL may run a locking subquery again and lease too many.
    .with("still", () => still)
    .updateTable("deliveries")
    .set((e) => ({
      lease_owner: owner,
      lease_until_ms: untilMs,
      ...(isSameAttempt ? {} : { attempts: e("attempts", "+", 1), attempt_started_at_ms: null }),
    }))
    .where("seq", "in", (e) => e.selectFrom("still").select("still.seq"))
    .returningAll()
    .execute()
  return taken.sort((a, b) => a.seq - b.seq)
}

const settled = (nowMs: number) => ({ settled_at_ms: nowMs, lease_owner: null, lease_until_ms: null })
const isFree = ({ lease_until_ms }: DeliveryRow, nowMs: number) => lease_until_ms === null || lease_until_ms <= nowMs
const isCutOff = ({ repeatable, attempt_started_at_ms }: DeliveryRow) =>
  repeatable === 0 && attempt_started_at_ms !== null
const isFor = (row: DeliveryRow, channels: string[], host: string) =>
  channels.includes(row.channel) && (row.host === null || row.host === host)
