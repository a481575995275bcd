import { type Selectable, sql } from "kysely"
import { type ProjectId, type SessionId, withoutScope } from "../../domain/ids.ts"
import { REASONING_PLATFORM, type Session } from "../../domain/session.ts"
import type { Sessions } from "../../domain/store.ts"
import type { Db, StoreDialect } from "../dialects/dialect.ts"
import { prepared, preparedPerColumns, preparedRuns } from "../dialects/prepared.ts"
import { insertNew, many, one, update } from "../queries.ts"
import { toColumns } from "../rows.ts"
import type { Tables } from "../schema.ts"
import { makeLineage } from "./lineage.ts"
import { isOfProject, sessionIds } from "./session-ids.ts"

const withRoot = (db: Db) =>
  db.selectFrom("sessions as s").leftJoin("projects as p", "p.id", "s.project_id").selectAll("s").select("p.root_uri")
const sessionById = prepared((db, id: string) => withRoot(db).where("s.id", "=", id))
const sessionsByIds = preparedRuns((db, ids: string[]) => withRoot(db).where("s.id", "in", ids))
const sessionBoundTo = prepared((db, callerKey: string) =>
  withRoot(db).innerJoin("bindings as b", "b.session_id", "s.id").where("b.caller_key", "=", callerKey),
)
const sessionByNative = prepared((db, platform: string, nativeId: string) =>
  withRoot(db).where("s.platform", "=", platform).where("s.native_id", "=", nativeId),
)

/**
 * The session a caller chose last, and how many open sessions its project has. One query, because a transaction costs more
 * than its reads; two counts, because SQLite would scan every session of the platform for one.
 */
const stateOfCaller = prepared(
  (db, ownOf: string, ownPlatform: string, linkedTo: string, linkedPlatform: string, not: string, callerKey: string) =>
    db
      .selectFrom(sql<{ caller_key: string }>`(select ${callerKey} as caller_key)`.as("c"))
      .leftJoin("bindings as b", "b.caller_key", "c.caller_key")
      .leftJoin("sessions as s", "s.id", "b.session_id")
      .leftJoin("projects as p", "p.id", "s.project_id")
      .select((e) => [
        e
          .selectFrom("sessions as own")
          .select((own) => own.fn.countAll<number>().as("n"))
          .where("own.project_id", "=", ownOf)
          .where("own.platform", "=", ownPlatform)
          .where("own.archived_at_ms", "is", null)
          .as("own"),
        e
          .selectFrom("session_projects as l")
          .select((l) => l.fn.countAll<number>().as("n"))
          .where("l.project_id", "=", linkedTo)
          .where((l) =>
            l.exists(
              l
                .selectFrom("sessions as other")
                .select("other.id")
                .whereRef("other.id", "=", "l.session_id")
                .where("other.platform", "=", linkedPlatform)
                .where("other.archived_at_ms", "is", null)
                .where("other.project_id", "is distinct from", not),
            ),
          )
          .as("linked"),
      ])
      .selectAll("s")
      .select("p.root_uri"),
)

const sessionInserted = preparedPerColumns<object, { id: string }>((db, row) =>
  db
    .insertInto("sessions")
    .values(row as never)
    .onConflict((c) => c.doNothing())
    .returning("id"),
)
const sessionUpdated = preparedPerColumns<object, unknown, [id: string]>((db, set, id) =>
  db.updateTable("sessions").set(set).where("id", "=", id),
)
const titled = (below: "<" | "<=") =>
  prepared((db, title: string, rank: number, id: string, mostRank: number) =>
    db
      .updateTable("sessions")
      .set({ title, title_rank: rank })
      .where("id", "=", id)
      .where("title_rank", below, mostRank),
  )
const [titledFirst, titledLast] = [titled("<"), titled("<=")]
const sessionGrown = prepared((db, turns: number, prompts: number, lastAtMs: number, updatedAtMs: number, id: string) =>
  db
    .updateTable("sessions")
    .set((e) => ({
      turn_count: e("turn_count", "+", turns),
      prompt_count: e("prompt_count", "+", prompts),
      updated_at_ms: e
        .case()
        .when("updated_at_ms", "<", lastAtMs)
        // A parameter: `then` puts the number into the text, and each text is compiled on its own.
        .then(e.val(updatedAtMs))
        .else(e.ref("updated_at_ms"))
        .end(),
    }))
    .where("id", "=", id),
)

const MOST_BY_PREFIX = 20

export function makeSessionTable(db: Db, dialect: StoreDialect): Sessions {
  const select = () => withRoot(db)
  const ofProject = (projectId: ProjectId) => select().where((e) => isOfProject(e, projectId))
  const byId = async (id: SessionId) => {
    const [row] = await sessionById(db, dialect, id)
    return row && toSession(row)
  }

  return {
    byId,
    byIds: async (ids) => (await sessionsByIds(db, dialect, ids)).map(toSession),
    async boundTo(callerKey) {
      const [row] = await sessionBoundTo(db, dialect, callerKey)
      return row && toSession(row)
    },
    async stateOf(callerKey, projectId, platform) {
      const [row] = await stateOfCaller(db, dialect, projectId, platform, projectId, platform, projectId, callerKey)
      const bound = row && row.id !== null ? toSession(row as Row) : undefined
      return { bound, open: Number(row?.own) + Number(row?.linked) }
    },
    async create({ id, platform, nativeId, projectId, title, tags, domain, key, createdAtMs, origin = "agent" }) {
      const facts = { id, platform, nativeId, projectId, title, tags, domain, key, createdAtMs, origin }
      const [inserted] = await sessionInserted(db, dialect, toColumns({ ...facts, updatedAtMs: createdAtMs }))
      if (inserted) return { session: (await byId(id))!, created: true }
      const byKey = key === null ? undefined : await select().where("s.key", "=", key).executeTakeFirst()
      const byNativeId = () => select().where("s.platform", "=", platform).where("s.native_id", "=", nativeId)
      return { session: toSession(byKey ?? (await byNativeId().executeTakeFirstOrThrow())), created: false }
    },
    async byPrefix(prefix) {
      // Not a range up to prefix~: PostgreSQL sorts by the collation of the database, and "~" before letters.
      const begins = (column: "s.id" | "s.native_id") => sql<string>`substr(${sql.ref(column)}, 1, length(${prefix}))`
      const rows = await select()
        .where((e) =>
          e.or([
            e(begins("s.id"), "=", prefix),
            // A repository chooses the ids in its files: none of them may pass for an agent's.
            e.and([e(begins("s.native_id"), "=", prefix), e("s.origin", "<>", "repository")]),
          ]),
        )
        .limit(MOST_BY_PREFIX)
        .execute()
      const found = rows.map(toSession)
      // A complete id is never ambiguous.
      const whole = found.filter(({ nativeId }) => nativeId === prefix || withoutScope(nativeId) === prefix)
      return whole.length === 1 ? whole : found.slice(0, 2)
    },
    async logged(platform, nativeId) {
      const scoped = `${nativeId}@`
      const rows = await select()
        .where("s.platform", "=", platform)
        .where(sql<string>`substr(s.native_id, 1, length(${scoped}))`, "=", scoped)
        .execute()
      const isIt = (session: Session) => session.nativeId !== nativeId && withoutScope(session.nativeId) === nativeId
      return rows.map(toSession).filter(isIt).slice(0, 2)
    },
    async list({ projectId, domain, archived, updatedSinceMs, platform, subagents, empty, trusted, limit }) {
      let query = projectId === undefined ? select() : ofProject(projectId)
      if (archived !== undefined) query = query.where("s.archived_at_ms", archived ? "is not" : "is", null)
      if (platform !== undefined) query = query.where("s.platform", "=", platform)
      if (domain !== undefined) query = query.where("s.domain", "=", domain)
      if (empty === false)
        query = query.where((e) =>
          e.or([e("s.turn_count", ">", 0), e("s.thought_count", ">", 0), e("s.platform", "=", REASONING_PLATFORM)]),
        )
      if (trusted) query = query.where("s.origin", "<>", "repository")
      if (subagents !== undefined) query = query.where("s.is_subagent", "=", Number(subagents))
      if (updatedSinceMs !== undefined) query = query.where("s.updated_at_ms", ">=", updatedSinceMs)
      query = query.orderBy("s.updated_at_ms", "desc").orderBy("s.created_at_ms", "desc").orderBy("s.id")
      return many(limit === undefined ? query : query.limit(limit), toSession)
    },
    ids: (filter) => sessionIds(db, dialect, filter),
    async tally() {
      const rows = await db
        .with("places", (with_) =>
          with_
            .selectFrom("sessions")
            .select(["id", "project_id"])
            .union(with_.selectFrom("session_projects").select(["session_id as id", "project_id"])),
        )
        .selectFrom("places as l")
        .innerJoin("sessions as s", "s.id", "l.id")
        .leftJoin("projects as p", "p.id", "l.project_id")
        .select((e) => [
          "p.root_uri as rootUri",
          "s.git_branch as gitBranch",
          "s.platform",
          e.fn.countAll<number>().as("sessions"),
          e.fn.max("s.updated_at_ms").as("lastAtMs"),
        ])
        .where((e) => e.or([e("s.turn_count", ">", 0), e("s.thought_count", ">", 0)]))
        .groupBy(["p.root_uri", "s.git_branch", "s.platform"])
        .execute()
      return rows.map((row) => ({ ...row, sessions: Number(row.sessions), lastAtMs: Number(row.lastAtMs) }))
    },
    pinned(projectId, platform) {
      const open = ofProject(projectId).where("s.platform", "=", platform).where("s.archived_at_ms", "is", null)
      return one(open.where("s.pinned_at_ms", "is not", null).orderBy("s.pinned_at_ms", "desc"), toSession)
    },
    async update(id, change) {
      const set = toColumns(change)
      if (Object.keys(set).length > 0) await update(db, "sessions", { id }, set)
    },
    async byNative(platform, nativeId) {
      const [row] = await sessionByNative(db, dialect, platform, nativeId)
      return row && toSession(row)
    },
    async describe(id, { title, projectId, projectPath, model, gitBranch, agentVersion, startedAtMs, isSubagent }) {
      const facts = { projectId, projectPath, model, gitBranch, agentVersion, createdAtMs: startedAtMs, isSubagent }
      const set = toColumns(facts)
      if (Object.keys(set).length > 0) await sessionUpdated(db, dialect, set, id)
      if (!title) return
      await (title.firstStands ? titledFirst : titledLast)(db, dialect, title.text, title.rank, id, title.rank)
    },
    async grow(id, { turns, prompts, lastAtMs }) {
      await sessionGrown(db, dialect, turns, prompts, lastAtMs, lastAtMs, id)
    },
    ...makeLineage(db, dialect),
    async noteLogger(id, platform) {
      await update(db, "sessions", { id }, { logged_by: platform })
    },
    loggedBy(platform) {
      const logged = db.selectFrom("sessions").select(["id", "project_id"]).where("logged_by", "=", platform)
      return many(logged.where("turn_count", ">", 0).orderBy("updated_at_ms", "desc"), (row) => ({
        id: row.id as SessionId,
        projectId: row.project_id as ProjectId | null,
      }))
    },
    async link(id, projectId) {
      await insertNew(db, "session_projects", { session_id: id, project_id: projectId })
    },
    async linkedRoots(id) {
      const links = db.selectFrom("session_projects as l").innerJoin("projects as p", "p.id", "l.project_id")
      return many(
        links.select("p.root_uri").where("l.session_id", "=", id).orderBy("p.root_uri"),
        (row) => row.root_uri,
      )
    },
    async archiveOlder(beforeMs, nowMs) {
      const rows = await db
        .updateTable("sessions")
        .set({ archived_at_ms: nowMs })
        .where("updated_at_ms", "<", beforeMs)
        .where("archived_at_ms", "is", null)
        .where("pinned_at_ms", "is", null)
        .returning("id")
        .execute()
      return rows.map((row) => row.id as SessionId)
    },
  }
}

type Row = Selectable<Tables["sessions"]> & { root_uri: string | null }

/** By hand: searches and lists decode thousands of these rows. */
function toSession(row: Row): Session {
  return {
    id: row.id as SessionId,
    platform: row.platform,
    nativeId: row.native_id,
    projectId: row.project_id as ProjectId | null,
    rootUri: row.root_uri,
    title: row.title,
    tags: JSON.parse(row.tags) as string[],
    domain: row.domain,
    pinnedAtMs: row.pinned_at_ms,
    archivedAtMs: row.archived_at_ms,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    thoughtCount: row.thought_count,
    branchCount: row.branch_count,
    turnCount: row.turn_count,
    promptCount: row.prompt_count,
    model: row.model,
    gitBranch: row.git_branch,
    agentVersion: row.agent_version,
    projectPath: row.project_path,
    isSubagent: row.is_subagent === 1,
    origin: row.origin as Session["origin"],
  }
}
