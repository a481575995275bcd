import { type RawBuilder, sql } from "kysely"
import { type Analytics, type CountedSession, QUARTER_MS } from "../../domain/analytics.ts"
import type { DeliveryState } from "../../domain/delivery.ts"
import type { SessionId } from "../../domain/ids.ts"
import { PAIR_CHANNEL, pairLane } from "../../domain/pair.ts"
import type { Usage } from "../../domain/turn.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { rowDecoder } from "../rows.ts"

/** A message spans a few turns at most, and only the first has its input tokens. */
const LATEST = 50

const toCounted = rowDecoder<CountedSession>({})

export function makeAnalyticsTable(db: Db, dialect: StoreDialect): Analytics {
  const usageOf = (key: keyof Usage): RawBuilder<number | null> => dialect.jsonNumber("t.usage", key)

  return {
    async sessions({ sinceMs, untilMs, projectId, platform }) {
      let query = db
        .selectFrom("sessions as s")
        .leftJoin("projects as p", "p.id", "s.project_id")
        .select(["s.id", "s.platform", "s.native_id", "s.title", "p.root_uri"])
        .where("s.updated_at_ms", ">=", sinceMs)
        .where("s.created_at_ms", "<", untilMs)
        .where("s.turn_count", ">", 0)
        .orderBy("s.created_at_ms")
      if (projectId !== undefined) query = query.where("s.project_id", "=", projectId)
      if (platform !== undefined) query = query.where("s.platform", "=", platform)
      const rows = await query.execute()
      return rows.map(toCounted)
    },
    async spent(sessionIds, { sinceMs, untilMs }) {
      if (sessionIds.length === 0) return []
      const quarter = sql<number>`t.at_ms / ${sql.lit(QUARTER_MS)}`
      const rows = await db
        .selectFrom("turns as t")
        .select((e) => [
          "t.session_id",
          quarter.as("quarter"),
          e.fn.countAll<number>().as("turns"),
          sql<number>`sum(case when t.kind = 'prompt' and t.superseded_at_ms is null then 1 else 0 end)`.as("prompts"),
          sql<number | null>`sum(${usageOf("inputTokens")})`.as("input"),
          sql<number | null>`sum(${usageOf("cachedTokens")})`.as("cached"),
          sql<number | null>`sum(${usageOf("outputTokens")})`.as("output"),
          sql<number | null>`sum(${usageOf("costUsd")})`.as("cost"),
          e.fn.min("t.at_ms").as("first"),
          e.fn.max("t.at_ms").as("last"),
        ])
        .where("t.session_id", "in", sessionIds)
        .where("t.at_ms", ">=", sinceMs)
        .where("t.at_ms", "<", untilMs)
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom("session_edges as e")
                .innerJoin("sessions as p", (join) =>
                  join
                    .onRef("p.platform", "=", "e.parent_platform")
                    .onRef("p.native_id", "=", "e.parent_native_id")
                    .onRef("p.id", "<>", "e.session_id"),
                )
                .innerJoin("turns as o", (join) =>
                  join.onRef("o.session_id", "=", "p.id").onRef("o.native_id", "=", "t.native_id"),
                )
                .select("o.seq")
                .whereRef("e.session_id", "=", "t.session_id")
                .where("e.kind", "in", ["fork", "resume"]),
            ),
          ),
        )
        .groupBy(["t.session_id", quarter])
        .orderBy("quarter")
        .execute()
      return rows.map((row) => {
        const cachedTokens = Number(row.cached ?? 0)
        return {
          sessionId: row.session_id as SessionId,
          atMs: Number(row.quarter) * QUARTER_MS,
          turns: Number(row.turns),
          prompts: Number(row.prompts),
          inputTokens: Number(row.input ?? 0) + cachedTokens,
          cachedTokens,
          outputTokens: Number(row.output ?? 0),
          costUsd: row.cost === null ? null : Number(row.cost),
          firstAtMs: Number(row.first),
          lastAtMs: Number(row.last),
        }
      })
    },
    async asks({ sinceMs, untilMs }) {
      const rows = await db
        .selectFrom("deliveries as d")
        .leftJoin("answers as a", "a.message_id", "d.key")
        .select(["d.key", "d.lane", "d.state", "d.created_at_ms", "a.native_id", "a.at_ms", "a.duration_ms"])
        .select(["a.input_tokens", "a.output_tokens", "a.cost_usd"])
        .where("d.channel", "=", PAIR_CHANNEL)
        .where("d.created_at_ms", ">=", sinceMs)
        .where("d.created_at_ms", "<", untilMs)
        .orderBy("d.seq")
        .execute()
      return rows.map((row) => ({
        messageId: row.key,
        pairId: row.lane.slice(pairLane("").length),
        state: row.state as DeliveryState,
        askedAtMs: row.created_at_ms,
        answer:
          row.at_ms === null
            ? null
            : {
                nativeId: row.native_id,
                atMs: row.at_ms,
                durationMs: row.duration_ms!,
                inputTokens: row.input_tokens!,
                outputTokens: row.output_tokens!,
                costUsd: row.cost_usd,
              },
      }))
    },
    pairSessions: () =>
      db
        .selectFrom("pair_sessions as s")
        .innerJoin("pairs as p", "p.id", "s.pair_id")
        .select(["s.pair_id as pairId", "p.platform", "s.native_id as nativeId"])
        .execute(),
    async load(sessionId) {
      const live = db.selectFrom("turns").where("session_id", "=", sessionId).where("superseded_at_ms", "is", null)
      const reset = await live
        .select("at_ms")
        .where("kind", "=", "reset")
        .orderBy("at_ms", "desc")
        .limit(1)
        .executeTakeFirst()
      const since = live.where("at_ms", ">", reset?.at_ms ?? -1)
      const prompts = await since
        .select((e) => e.fn.countAll<number>().as("count"))
        .where("kind", "=", "prompt")
        .executeTakeFirstOrThrow()
      const latest = await since
        .select(["usage", "at_ms"])
        .where("usage", "is not", null)
        .orderBy("at_ms", "desc")
        .orderBy("seq", "desc")
        .limit(LATEST)
        .execute()
      for (const { usage, at_ms } of latest) {
        const { inputTokens = 0, cachedTokens = 0, outputTokens = 0 } = JSON.parse(usage!) as Usage
        if (inputTokens + cachedTokens > 0)
          return { prompts: Number(prompts.count), tokens: inputTokens + cachedTokens + outputTokens, atMs: at_ms }
      }
      return { prompts: Number(prompts.count), tokens: null, atMs: null }
    },
  }
}
