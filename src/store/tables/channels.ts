import type { Selectable } from "kysely"
import type {
  ApprovalRequests,
  Bot,
  BotState,
  Bots,
  Budgets,
  Holds,
  People,
  Roles,
  TeamPeople,
} from "../../domain/channel-store.ts"
import type { Db } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"

export function makeBots(db: Db): Bots {
  const byId: Bots["byId"] = async (id) => {
    const row = await db.selectFrom("bots").selectAll().where("id", "=", id).executeTakeFirst()
    return row && toBot(row)
  }
  return {
    byId,
    list: async () => (await db.selectFrom("bots").selectAll().orderBy("id").execute()).map(toBot),
    async moveOffset(id, nextOffset, nowMs) {
      await db
        .insertInto("bots")
        .values({ id, next_offset: nextOffset, state: "ok", why: null, since_ms: nowMs })
        .onConflict((c) => c.column("id").doUpdateSet({ next_offset: nextOffset }))
        .execute()
    },
    async setState(id, state, why, nowMs) {
      const before = await byId(id)
      if (before?.state === state) {
        if (before.why !== why) await db.updateTable("bots").set({ why }).where("id", "=", id).execute()
        return false
      }
      await db
        .insertInto("bots")
        .values({ id, next_offset: null, state, why, since_ms: nowMs })
        .onConflict((c) => c.column("id").doUpdateSet({ state, why, since_ms: nowMs }))
        .execute()
      return true
    },
  }
}

export function makePeople(db: Db): People {
  return {
    async put({ channel, userId, name, chatId, pairedAtMs }) {
      await db
        .insertInto("people")
        .values({ channel, user_id: userId, name, chat_id: chatId, paired_at_ms: pairedAtMs })
        .onConflict((c) => c.columns(["channel", "user_id"]).doUpdateSet({ name, chat_id: chatId }))
        .execute()
    },
    async remove(channel, userId) {
      const result = await db
        .deleteFrom("people")
        .where("channel", "=", channel)
        .where("user_id", "=", userId)
        .executeTakeFirstOrThrow()
      return result.numDeletedRows > 0n
    },
    async list(channel) {
      const rows = await db
        .selectFrom("people")
        .selectAll()
        .where("channel", "=", channel)
        .orderBy("paired_at_ms")
        .orderBy("user_id")
        .execute()
      return rows.map((row) => ({
        channel: row.channel,
        userId: row.user_id,
        name: row.name,
        chatId: row.chat_id,
        pairedAtMs: row.paired_at_ms,
      }))
    },
  }
}

export function makeTeamPeople(db: Db): TeamPeople {
  return {
    async put({ channel, userId, team, name, pairedAtMs }) {
      await db
        .insertInto("team_people")
        .values({ channel, user_id: userId, team, name, paired_at_ms: pairedAtMs })
        .onConflict((c) => c.columns(["channel", "user_id", "team"]).doUpdateSet({ name }))
        .execute()
    },
    async remove(channel, userId) {
      const result = await db
        .deleteFrom("team_people")
        .where("channel", "=", channel)
        .where("user_id", "=", userId)
        .executeTakeFirstOrThrow()
      return result.numDeletedRows > 0n
    },
    async removeTeam(channel, team) {
      const result = await db
        .deleteFrom("team_people")
        .where("channel", "=", channel)
        .where("team", "=", team)
        .executeTakeFirstOrThrow()
      return Number(result.numDeletedRows)
    },
    async list(channel) {
      const rows = await db
        .selectFrom("team_people")
        .selectAll()
        .where("channel", "=", channel)
        .orderBy("paired_at_ms")
        .orderBy("user_id")
        .orderBy("team")
        .execute()
      return rows.map(({ user_id, team, name, paired_at_ms }) => ({
        channel,
        userId: user_id,
        team,
        name,
        pairedAtMs: paired_at_ms,
      }))
    },
  }
}

export function makeBudgets(db: Db): Budgets {
  return {
    async get(key) {
      const row = await db.selectFrom("budgets").selectAll().where("key", "=", key).executeTakeFirst()
      return row
        ? { sentAtMs: JSON.parse(row.sent_at_ms) as number[], blockedUntilMs: row.blocked_until_ms }
        : { sentAtMs: [], blockedUntilMs: 0 }
    },
    async put(key, { sentAtMs, blockedUntilMs }) {
      const columns = { sent_at_ms: JSON.stringify(sentAtMs), blocked_until_ms: blockedUntilMs }
      await db
        .insertInto("budgets")
        .values({ key, ...columns })
        .onConflict((c) => c.column("key").doUpdateSet(columns))
        .execute()
    },
  }
}

export function makeApprovalRequests(db: Db): ApprovalRequests {
  return {
    async put({ permissionId, channel, chatId, threadId, messageId }) {
      const columns = { thread_id: threadId, message_id: messageId }
      await db
        .insertInto("cards")
        .values({ permission_id: permissionId, channel, chat_id: chatId, ...columns })
        .onConflict((c) => c.columns(["permission_id", "channel", "chat_id"]).doUpdateSet(columns))
        .execute()
    },
    async get(permissionId, channel, chatId) {
      const row = await db
        .selectFrom("cards")
        .selectAll()
        .where("permission_id", "=", permissionId)
        .where("channel", "=", channel)
        .where("chat_id", "=", chatId)
        .executeTakeFirst()
      return row && { permissionId, channel, chatId, threadId: row.thread_id, messageId: row.message_id }
    },
    async byMessage(channel, chatId, messageId) {
      const row = await db
        .selectFrom("cards")
        .selectAll()
        .where("channel", "=", channel)
        .where("chat_id", "=", chatId)
        .where("message_id", "=", messageId)
        .executeTakeFirst()
      return row && { permissionId: row.permission_id, channel, chatId, threadId: row.thread_id, messageId }
    },
    async ofPermission(permissionId, channel) {
      const rows = await db
        .selectFrom("cards")
        .selectAll()
        .where("permission_id", "=", permissionId)
        .where("channel", "=", channel)
        .orderBy("chat_id")
        .execute()
      return rows.map(({ chat_id, thread_id, message_id }) => ({
        permissionId,
        channel,
        chatId: chat_id,
        threadId: thread_id,
        messageId: message_id,
      }))
    },
  }
}

export function makeHolds(db: Db): Holds {
  return {
    async put({ key, kind, why, sinceMs, nextAtMs }) {
      const columns = { kind, why, since_ms: sinceMs, next_at_ms: nextAtMs }
      await db
        .insertInto("holds")
        .values({ key, ...columns })
        .onConflict((c) => c.column("key").doUpdateSet(columns))
        .execute()
    },
    async remove(key) {
      const result = await db.deleteFrom("holds").where("key", "=", key).executeTakeFirstOrThrow()
      return result.numDeletedRows > 0n
    },
    async list(beginning) {
      const rows = await db.selectFrom("holds").selectAll().orderBy("key").execute()
      return rows
        .filter(({ key }) => key.startsWith(beginning))
        .map(({ key, kind, why, since_ms, next_at_ms }) => ({
          key,
          kind,
          why,
          sinceMs: since_ms,
          nextAtMs: next_at_ms,
        }))
    },
  }
}

export function makeRoles(db: Db): Roles {
  return {
    async hold(name, owner, leaseMs, nowMs) {
      const columns = { owner, until_ms: nowMs + leaseMs }
      const held = await db
        .insertInto("roles")
        .values({ name, ...columns })
        .onConflict((c) =>
          c
            .column("name")
            .doUpdateSet(columns)
            .where((e) => e.or([e("roles.owner", "=", owner), e("roles.until_ms", "<=", nowMs)])),
        )
        .returning("name")
        .executeTakeFirst()
      return held !== undefined
    },
    async release(name, owner) {
      await db.deleteFrom("roles").where("name", "=", name).where("owner", "=", owner).execute()
    },
    async list() {
      const rows = await db.selectFrom("roles").selectAll().orderBy("name").execute()
      return rows.map(({ name, owner, until_ms }) => ({ name, owner, untilMs: until_ms }))
    },
  }
}

const toBot = (row: Selectable<Tables["bots"]>): Bot => ({
  id: row.id,
  nextOffset: row.next_offset,
  state: row.state as BotState,
  why: row.why,
  sinceMs: row.since_ms,
})
