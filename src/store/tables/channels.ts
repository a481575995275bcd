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
import { many, one, remove, select, update, upsert } from "../queries.ts"
import { rowDecoder, toColumns } from "../rows.ts"

export function makeBots(db: Db): Bots {
  const byId: Bots["byId"] = (id) => one(select(db, "bots", { id }), toBot)
  return {
    byId,
    list: () => many(select(db, "bots").orderBy("id"), toBot),
    async moveOffset(id, nextOffset, nowMs) {
      const row = { id, next_offset: nextOffset, state: "ok", why: null, since_ms: nowMs }
      await upsert(db, "bots", ["id"], row, { next_offset: nextOffset })
    },
    async setState(id, state, why, nowMs) {
      const before = await byId(id)
      if (before?.state === state) {
        if (before.why !== why) await update(db, "bots", { id }, { why })
        return false
      }
      const change = { state, why, since_ms: nowMs }
      await upsert(db, "bots", ["id"], { id, next_offset: null, ...change }, change)
      return true
    },
  }
}

export function makePeople(db: Db): People {
  return {
    async put(person) {
      const change = toColumns({ name: person.name, chatId: person.chatId })
      await upsert(db, "people", ["channel", "user_id"], toColumns(person), change)
    },
    remove: async (channel, userId) => (await remove(db, "people", { channel, user_id: userId })) > 0,
    list: (channel) => many(select(db, "people", { channel }).orderBy("paired_at_ms").orderBy("user_id"), toPerson),
  }
}

export function makeTeamPeople(db: Db): TeamPeople {
  return {
    async put(person) {
      const key = ["channel", "user_id", "team"] as const
      await upsert(db, "team_people", [...key], toColumns(person), { name: person.name })
    },
    remove: async (channel, userId) => (await remove(db, "team_people", { channel, user_id: userId })) > 0,
    removeTeam: (channel, team) => remove(db, "team_people", { channel, team }),
    list(channel) {
      const query = select(db, "team_people", { channel }).orderBy("paired_at_ms").orderBy("user_id").orderBy("team")
      return many(query, toTeamPerson)
    },
  }
}

export function makeBudgets(db: Db): Budgets {
  return {
    async get(key) {
      const found = await one(select(db, "budgets", { key }), ({ key: _, ...row }) => toBudget(row))
      return found ?? { sentAtMs: [], blockedUntilMs: 0 }
    },
    put: (key, budget) => upsert(db, "budgets", ["key"], { key, ...toColumns(budget) }),
  }
}

export function makeApprovalRequests(db: Db): ApprovalRequests {
  return {
    put: (request) => upsert(db, "cards", ["permission_id", "channel", "chat_id"], toColumns(request)),
    get: (permissionId, channel, chatId) =>
      one(select(db, "cards", { permission_id: permissionId, channel, chat_id: chatId }), toApprovalRequest),
    byMessage: (channel, chatId, messageId) =>
      one(select(db, "cards", { channel, chat_id: chatId, message_id: messageId }), toApprovalRequest),
    ofPermission: (permissionId, channel) =>
      many(select(db, "cards", { permission_id: permissionId, channel }).orderBy("chat_id"), toApprovalRequest),
  }
}

export function makeHolds(db: Db): Holds {
  return {
    put: (hold) => upsert(db, "holds", ["key"], toColumns(hold)),
    remove: async (key) => (await remove(db, "holds", { key })) > 0,
    async list(beginning) {
      const rows = await select(db, "holds").orderBy("key").execute()
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
      await remove(db, "roles", { name, owner })
    },
    list: () => many(select(db, "roles").orderBy("name"), toRole),
  }
}

const toBot = rowDecoder<Bot>({})
const toPerson = rowDecoder<Person>({})
const toTeamPerson = rowDecoder<TeamPerson>({})
const toBudget = rowDecoder<Budget>({ json: ["sentAtMs"] })
const toApprovalRequest = rowDecoder<ApprovalRequest>({})
const toHold = rowDecoder<Hold>({})
const toRole = rowDecoder<Awaited<ReturnType<Roles["list"]>>[number]>({})
