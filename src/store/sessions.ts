import type { Selectable } from "kysely"
import type { ProjectId, SessionId } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Sessions } from "../domain/store.ts"
import type { Db } from "./dialect.ts"
import type { Tables } from "./tables.ts"

export function makeSessionTable(db: Db): Sessions {
  const select = () =>
    db
      .selectFrom("sessions as s")
      .leftJoin("projects as p", "p.id", "s.project_id")
      .selectAll("s")
      .select("p.root_uri")
      .select((e) => [
        e
          .selectFrom("thoughts as t")
          .whereRef("t.session_id", "=", "s.id")
          .select((x) => x.fn.countAll<number>().as("n"))
          .as("thought_count"),
        e
          .selectFrom("thoughts as t")
          .whereRef("t.session_id", "=", "s.id")
          .where("t.branch_id", "!=", "")
          .select((x) => x.fn.count<number>("t.branch_id").distinct().as("n"))
          .as("branch_count"),
      ])

  const ofProject = (projectId: ProjectId) =>
    select().where((e) =>
      e.or([
        e("s.project_id", "=", projectId),
        e(
          "s.id",
          "in",
          e.selectFrom("session_projects as l").where("l.project_id", "=", projectId).select("l.session_id"),
        ),
      ]),
    )

  const byId = async (id: SessionId) => {
    const row = await select().where("s.id", "=", id).executeTakeFirst()
    return row && toSession(row)
  }

  return {
    byId,
    async create({ id, platform, nativeId, projectId, title, tags, key, createdAtMs }) {
      const inserted = await db
        .insertInto("sessions")
        .values({
          id,
          platform,
          native_id: nativeId,
          project_id: projectId,
          title,
          tags: JSON.stringify(tags),
          key,
          created_at_ms: createdAtMs,
          updated_at_ms: createdAtMs,
        } as never)
        .onConflict((c) => c.doNothing())
        .returning("id")
        .executeTakeFirst()
      if (inserted) return { session: (await byId(id))!, created: true }
      const row = await select()
        .where((e) =>
          e.or([e("s.key", "=", key), e.and([e("s.platform", "=", platform), e("s.native_id", "=", nativeId)])]),
        )
        .executeTakeFirstOrThrow()
      return { session: toSession(row), created: false }
    },
    async byPrefix(prefix) {
      const rows = await select().where("s.id", ">=", prefix).where("s.id", "<", `${prefix}~`).limit(2).execute()
      return rows.map(toSession)
    },
    async list({ projectId, archived, updatedSinceMs, limit }) {
      let query = projectId === undefined ? select() : ofProject(projectId)
      if (archived !== undefined) query = query.where("s.archived_at_ms", archived ? "is not" : "is", null)
      if (updatedSinceMs !== undefined) query = query.where("s.updated_at_ms", ">=", updatedSinceMs)
      query = query.orderBy("s.updated_at_ms", "desc").orderBy("s.created_at_ms", "desc").orderBy("s.id")
      const rows = await (limit === undefined ? query : query.limit(limit)).execute()
      return rows.map(toSession)
    },
    async pinned(projectId) {
      const row = await ofProject(projectId)
        .where("s.pinned_at_ms", "is not", null)
        .where("s.archived_at_ms", "is", null)
        .orderBy("s.pinned_at_ms", "desc")
        .executeTakeFirst()
      return row && toSession(row)
    },
    async update(id, change) {
      const set: Partial<Selectable<Tables["sessions"]>> = {}
      if (change.title !== undefined) set.title = change.title
      if (change.tags !== undefined) set.tags = JSON.stringify(change.tags)
      if (change.pinnedAtMs !== undefined) set.pinned_at_ms = change.pinnedAtMs
      if (change.archivedAtMs !== undefined) set.archived_at_ms = change.archivedAtMs
      if (change.updatedAtMs !== undefined) set.updated_at_ms = change.updatedAtMs
      if (change.projectId !== undefined) set.project_id = change.projectId
      await db.updateTable("sessions").set(set).where("id", "=", id).execute()
    },
    async link(id, projectId) {
      await db
        .insertInto("session_projects")
        .values({ session_id: id, project_id: projectId })
        .onConflict((c) => c.doNothing())
        .execute()
    },
    async linkedRoots(id) {
      const rows = await db
        .selectFrom("session_projects as l")
        .innerJoin("projects as p", "p.id", "l.project_id")
        .select("p.root_uri")
        .where("l.session_id", "=", id)
        .orderBy("p.root_uri")
        .execute()
      return rows.map((row) => row.root_uri)
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

type Row = Selectable<Tables["sessions"]> & {
  root_uri: string | null
  thought_count: number | null
  branch_count: number | null
}

function toSession(row: Row): Session {
  return {
    id: row.id as SessionId,
    platform: row.platform,
    nativeId: row.native_id,
    projectId: row.project_id as ProjectId | null,
    rootUri: row.root_uri,
    title: row.title,
    tags: JSON.parse(row.tags) as string[],
    pinnedAtMs: row.pinned_at_ms,
    archivedAtMs: row.archived_at_ms,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    thoughtCount: Number(row.thought_count ?? 0),
    branchCount: Number(row.branch_count ?? 0),
  }
}
