import type {
  ApprovalRequest,
  ApprovalRequests,
  Bot,
  Bots,
  Budget,
  Budgets,
  Hold,
  Holds,
  People,
  Person,
  Roles,
  TeamPeople,
  TeamPerson,
} from "../../domain/channel-store.ts"
import type { Db } from "../dialects/dialect.ts"
import { rowDecoder, toColumns } from "../rows.ts"

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
    async put(person) {
      const { name, chatId } = person
      await db
        .insertInto("people")
        .values(toColumns(person))
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
      return rows.map(toPerson)
    },
  }
}

export function makeTeamPeople(db: Db): TeamPeople {
  return {
    async put(person) {
      await db
        .insertInto("team_people")
        .values(toColumns(person))
        .onConflict((c) => c.columns(["channel", "user_id", "team"]).doUpdateSet({ name: person.name }))
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
      return rows.map(toTeamPerson)
    },
  }
}

export function makeBudgets(db: Db): Budgets {
  return {
    async get(key) {
      const row = await db
        .selectFrom("budgets")
        .select(["sent_at_ms", "blocked_until_ms"])
        .where("key", "=", key)
        .executeTakeFirst()
      return row ? toBudget(row) : { sentAtMs: [], blockedUntilMs: 0 }
    },
    async put(key, budget) {
      const columns = toColumns(budget)
      await db
        .insertInto("budgets")
        .values({ key, ...columns })
        .onConflict((c) => c.column("key").doUpdateSet(columns))
        .execute()
    },
  }
}

export function makeApprovalRequests(db: Db): ApprovalRequests {
  const inChannel = (channel: string) => db.selectFrom("cards").selectAll().where("channel", "=", channel)
  return {
    async put(request) {
      const { threadId, messageId } = request
      await db
        .insertInto("cards")
        .values(toColumns(request))
        .onConflict((c) =>
          c
            .columns(["permission_id", "channel", "chat_id"])
            .doUpdateSet({ thread_id: threadId, message_id: messageId }),
        )
        .execute()
    },
    async get(permissionId, channel, chatId) {
      const query = inChannel(channel).where("permission_id", "=", permissionId).where("chat_id", "=", chatId)
      const row = await query.executeTakeFirst()
      return row && toApprovalRequest(row)
    },
    async byMessage(channel, chatId, messageId) {
      const query = inChannel(channel).where("chat_id", "=", chatId).where("message_id", "=", messageId)
      const row = await query.executeTakeFirst()
      return row && toApprovalRequest(row)
    },
    async ofPermission(permissionId, channel) {
      const rows = await inChannel(channel).where("permission_id", "=", permissionId).orderBy("chat_id").execute()
      return rows.map(toApprovalRequest)
    },
  }
}

export function makeHolds(db: Db): Holds {
  return {
    async put({ key, ...hold }) {
      const columns = toColumns(hold)
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
      return rows.filter(({ key }) => key.startsWith(beginning)).map(toHold)
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
      return rows.map(toRole)
    },
  }
}

const toBot = rowDecoder<Bot>({})
const toPerson = rowDecoder<Person>({})
const toTeamPerson = rowDecoder<TeamPerson>({})
const toBudget = rowDecoder<Budget>({ json: ["sentAtMs"] })
const toApprovalRequest = rowDecoder<ApprovalRequest>({})
const toHold = rowDecoder<Hold>({})
const toRole = rowDecoder<Awaited<ReturnType<Roles["list"]>>[number]>({})
