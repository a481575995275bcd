import { describe, expect, test } from "vitest"
import { newSessionId, type SessionId, scopedId } from "../../../src/domain/ids.ts"
import type { NewSession, SessionFilter } from "../../../src/domain/session.ts"
import type { Store } from "../../../src/domain/store.ts"
import { addProject, addSession, NOW, newSession, newThought, range } from "./examples.ts"

export function sessionsContract(store: () => Store): void {
  const titles = async (filter: SessionFilter = {}) => (await store().sessions.list(filter)).map((each) => each.title)

  test("sessions that an agent logged by hand are found by that agent, while something is left in them", async () => {
    const project = await addProject(store(), "a")
    const one = await addSession(store(), { projectId: project, platform: "conversation-log" })
    const other = await addSession(store(), { platform: "conversation-log" })
    for (const { id } of [one, other]) await store().sessions.noteLogger(id, "cursor")
    expect(await store().sessions.loggedBy("cursor")).toEqual([])
    await store().sessions.grow(one.id, { turns: 2, prompts: 1, lastAtMs: NOW })
    expect(await store().sessions.loggedBy("cursor")).toEqual([{ id: one.id, projectId: project }])
    expect(await store().sessions.loggedBy("cline")).toEqual([])
  })

  test("ids are picked by project, with the linked ones, by platform and by branch", async () => {
    const [a, b] = [await addProject(store(), "a"), await addProject(store(), "b")]
    const one = await addSession(store(), { projectId: a })
    const two = await addSession(store(), { projectId: b, platform: "codex" })
    const linked = await addSession(store(), { projectId: b })
    await store().sessions.link(linked.id, a)
    await store().sessions.describe(two.id, { gitBranch: "main" })
    const ids = async (filter: Parameters<Store["sessions"]["ids"]>[0]) => (await store().sessions.ids(filter)).sort()
    expect(await ids({})).toEqual([one.id, two.id, linked.id].sort())
    expect(await ids({ projectId: a })).toEqual([one.id, linked.id].sort())
    expect(await ids({ projectId: b, platform: "codex" })).toEqual([two.id])
    expect(await ids({ gitBranch: "main" })).toEqual([two.id])
    expect(await ids({ gitBranch: "other" })).toEqual([])
    const all = [one.id, two.id, linked.id]
    expect(await ids({ projectId: a, among: [two.id, linked.id] })).toEqual([linked.id])
    expect(await ids({ projectId: b, platform: "codex", gitBranch: "main", among: all })).toEqual([two.id])
    expect(await ids({ platform: "codex", among: [one.id, linked.id] })).toEqual([])
    expect(await ids({ platform: "codex", among: [two.id] })).toEqual([two.id])
    expect(await ids({ among: [] })).toEqual([])
    const field = await addSession(store(), { projectId: a, domain: "payments" })
    expect(await ids({ domain: "payments" })).toEqual([field.id])
    expect(await ids({ domain: "payments", projectId: b })).toEqual([])
    expect(await ids({ domain: "payments", among: [one.id, field.id] })).toEqual([field.id])
    expect((await store().sessions.list({ domain: "payments" })).map(({ id }) => id)).toEqual([field.id])
    await store().sessions.update(field.id, { domain: "billing" })
    expect((await store().sessions.byId(field.id))?.domain).toBe("billing")
    expect(await ids({ domain: "payments" })).toEqual([])
    const more: SessionId[] = []
    for (const _ of range(20)) more.push((await addSession(store(), { platform: "gemini-cli" })).id)
    expect(await ids({ platform: "gemini-cli", among: [...all, ...more] })).toEqual(more.sort())
  })

  test("how many there are is told by project, branch and agent, without those in which nothing was said", async () => {
    const [a, b] = [await addProject(store(), "a"), await addProject(store(), "b")]
    const said = async (values: Partial<NewSession>, gitBranch: string | null, lastAtMs: number) => {
      const { id } = await addSession(store(), values)
      if (gitBranch !== null) await store().sessions.describe(id, { gitBranch })
      await store().sessions.grow(id, { turns: 2, prompts: 1, lastAtMs })
      return id
    }
    await addSession(store(), { projectId: a })
    await said({ projectId: a, platform: "codex" }, "main", NOW + 1)
    await said({ projectId: a, platform: "codex" }, "main", NOW + 9)
    await said({ projectId: a, platform: "codex" }, "other", NOW + 2)
    await said({ platform: "codex" }, null, NOW + 3)
    const linked = await said({ projectId: b }, "main", NOW + 4)
    await store().sessions.link(linked, a)
    await store().sessions.link(linked, b)
    const rows = (await store().sessions.tally()).map(({ rootUri, gitBranch, platform, sessions, lastAtMs }) =>
      [rootUri ?? "-", gitBranch ?? "-", platform, sessions, lastAtMs - NOW].join(" "),
    )
    expect(rows.sort()).toEqual([
      "- - codex 1 3",
      "file:///a main codex 2 9",
      "file:///a main throughline 1 4",
      "file:///a other codex 1 2",
      "file:///b main throughline 1 4",
    ])
  })

  describe("create", () => {
    test("a new session comes back whole, with the root of its project", async () => {
      const projectId = await addProject(store(), "a")
      const given = newSession({
        nativeId: "n1",
        projectId,
        title: "Plan",
        tags: ["x", 'y "z"'],
        domain: "payments",
        key: "k1",
      })
      const { session, created } = await store().sessions.create(given)
      expect(created).toBe(true)
      expect(session).toEqual({
        id: given.id,
        platform: "throughline",
        nativeId: "n1",
        projectId,
        rootUri: "file:///a",
        title: "Plan",
        tags: ["x", 'y "z"'],
        domain: "payments",
        pinnedAtMs: null,
        archivedAtMs: null,
        createdAtMs: NOW,
        updatedAtMs: NOW,
        thoughtCount: 0,
        branchCount: 0,
        turnCount: 0,
        promptCount: 0,
        model: null,
        gitBranch: null,
        agentVersion: null,
        projectPath: null,
        isSubagent: false,
        origin: "agent",
      })
      expect(await store().sessions.byId(given.id)).toEqual(session)
      expect(await store().sessions.byId(newSessionId())).toBeUndefined()
      expect(await store().sessions.byIds([newSessionId(), given.id])).toEqual([session])
      expect(await store().sessions.byIds([])).toEqual([])
    })

    test("a second session under the same key is the first one", async () => {
      const first = await addSession(store(), { key: "k1", title: "first" })
      const second = await store().sessions.create(newSession({ key: "k1", title: "second" }))
      expect(second).toEqual({ session: first, created: false })
      expect(await titles()).toEqual(["first"])
    })

    test("a second session with the same platform and native id is the first one", async () => {
      const first = await addSession(store(), { platform: "claude", nativeId: "n1" })
      const second = await store().sessions.create(newSession({ platform: "claude", nativeId: "n1", key: "other" }))
      expect(second).toEqual({ session: first, created: false })
      expect((await store().sessions.create(newSession({ platform: "codex", nativeId: "n1" }))).created).toBe(true)
    })

    test("where the key and the native id name two sessions, the key decides", async () => {
      await addSession(store(), { platform: "claude", nativeId: "n1" })
      const byKey = await addSession(store(), { key: "k1" })
      await addSession(store(), { platform: "codex", nativeId: "n2" })
      for (const [platform, nativeId] of [
        ["claude", "n1"],
        ["codex", "n2"],
      ] as const) {
        const { session } = await store().sessions.create(newSession({ platform, nativeId, key: "k1" }))
        expect(session.id).toBe(byKey.id)
      }
    })

    test("many creations under one key at the same time make one session", async () => {
      const results = await Promise.all(range(12).map(() => store().sessions.create(newSession({ key: "k1" }))))
      expect(results.filter((result) => result.created)).toHaveLength(1)
      expect(new Set(results.map((result) => result.session.id)).size).toBe(1)
    })
  })

  describe("list", () => {
    test("the one updated last comes first", async () => {
      const oldest = await addSession(store(), { title: "oldest", createdAtMs: NOW })
      await addSession(store(), { title: "middle", createdAtMs: NOW + 1 })
      await addSession(store(), { title: "newest", createdAtMs: NOW + 2 })
      expect(await titles()).toEqual(["newest", "middle", "oldest"])
      await store().sessions.update(oldest.id, { updatedAtMs: NOW + 3 })
      expect(await titles()).toEqual(["oldest", "newest", "middle"])
      expect(await titles({ limit: 2 })).toEqual(["oldest", "newest"])
      expect(await titles({ updatedSinceMs: NOW + 2 })).toEqual(["oldest", "newest"])
    })

    test("a project has its own sessions and those linked to it, each once", async () => {
      const [a, b] = [await addProject(store(), "a"), await addProject(store(), "b")]
      const own = await addSession(store(), { title: "own", projectId: a, createdAtMs: NOW + 2 })
      const linked = await addSession(store(), { title: "linked", projectId: b, createdAtMs: NOW + 1 })
      await addSession(store(), { title: "foreign", projectId: b })
      await addSession(store(), { title: "homeless" })
      for (const session of [linked, linked, own]) await store().sessions.link(session.id, a)
      expect(await titles({ projectId: a })).toEqual(["own", "linked"])
      expect(await titles({ projectId: b })).toEqual(["linked", "foreign"])
      expect(await store().sessions.linkedRoots(linked.id)).toEqual(["file:///a"])
    })

    test("archived sessions can be asked for, left out or mixed in", async () => {
      const projectId = await addProject(store(), "a")
      const gone = await addSession(store(), { title: "gone", projectId })
      await addSession(store(), { title: "here", projectId, createdAtMs: NOW + 1 })
      await store().sessions.update(gone.id, { archivedAtMs: NOW + 9 })
      expect(await titles({ projectId, archived: false })).toEqual(["here"])
      expect(await titles({ projectId, archived: true })).toEqual(["gone"])
      expect(await titles({ projectId })).toEqual(["here", "gone"])
    })
  })

  describe("pinned", () => {
    test("the one pinned last in the project is the pinned one", async () => {
      const [a, b] = [await addProject(store(), "a"), await addProject(store(), "b")]
      const first = await addSession(store(), { projectId: a })
      const second = await addSession(store(), { projectId: a })
      await addSession(store(), { projectId: a, createdAtMs: NOW + 99 })
      expect(await store().sessions.pinned(a, "throughline")).toBeUndefined()
      await store().sessions.update(second.id, { pinnedAtMs: NOW + 1 })
      await store().sessions.update(first.id, { pinnedAtMs: NOW + 2 })
      expect((await store().sessions.pinned(a, "throughline"))?.id).toBe(first.id)
      expect(await store().sessions.pinned(b, "throughline")).toBeUndefined()
    })

    test("an archived or unpinned session is not the pinned one", async () => {
      const projectId = await addProject(store(), "a")
      const kept = await addSession(store(), { projectId })
      const archived = await addSession(store(), { projectId })
      await store().sessions.update(kept.id, { pinnedAtMs: NOW + 1 })
      await store().sessions.update(archived.id, { pinnedAtMs: NOW + 2, archivedAtMs: NOW + 3 })
      expect((await store().sessions.pinned(projectId, "throughline"))?.id).toBe(kept.id)
      await store().sessions.update(kept.id, { pinnedAtMs: null })
      expect(await store().sessions.pinned(projectId, "throughline")).toBeUndefined()
    })
  })

  test("a prefix finds its session, and never more than two", async () => {
    const ids = ["abc1-0", "abc2-0", "abcf-0", "abd0-0", "ab00-0"] as SessionId[]
    for (const id of ids) await addSession(store(), { id })
    const found = async (prefix: string) => (await store().sessions.byPrefix(prefix)).map((session) => session.id)
    for (const id of ids) {
      expect(await found(id.slice(0, 4))).toEqual([id])
      expect(await found(id)).toEqual([id])
    }
    const several = await found("abc")
    expect(several).toHaveLength(2)
    for (const id of several) expect(id).toMatch(/^abc/)
    for (const none of ["abc3", "abc1-0-", "%", "ab_", "~"]) expect(await found(none)).toEqual([])
  })

  test("the agent's own id, or the beginning of it, finds its session; a whole one goes before beginnings", async () => {
    const one = await addSession(store(), { nativeId: "ses_f00d" })
    const longer = await addSession(store(), { nativeId: "ses_f00d42" })
    const found = async (prefix: string) => (await store().sessions.byPrefix(prefix)).map((session) => session.id)
    expect(await found("ses_f00d")).toEqual([one.id])
    expect(await found("ses_f00d4")).toEqual([longer.id])
    expect(await found("ses_")).toHaveLength(2)
  })

  test("what was logged is found by its id without the project's part, also where a repository brought it", async () => {
    const [a, b] = ["file:///w/a", "file:///w/b"].map((root) => scopedId("abc", root, "repository"))
    const log = (nativeId: string) => addSession(store(), { nativeId, platform: "log", origin: "repository" })
    const one = await log(a!)
    for (const other of [scopedId("abcd", "file:///w/a", "repository"), scopedId("ABC", "file:///w/a", "repository")])
      await log(other)
    const found = async (id: string) => (await store().sessions.logged("log", id)).map((session) => session.id)
    expect(await found("abc")).toEqual([one.id])
    expect(await found("ab")).toEqual([])
    expect(await found("a%")).toEqual([])
    expect(await found(a!)).toEqual([])
    expect(await store().sessions.logged("other", "abc")).toEqual([])
    const two = await log(b!)
    expect((await found("abc")).sort()).toEqual([one.id, two.id].sort())
  })

  test("an id that agents logged under is whole without the project's part, and goes before longer ones", async () => {
    const ids = ["chat-1", "chat-12"].map((id) => scopedId(id, "file:///w/a", "agent"))
    const [short] = [await addSession(store(), { nativeId: ids[0]! }), await addSession(store(), { nativeId: ids[1]! })]
    expect((await store().sessions.byPrefix("chat-1")).map(({ id }) => id)).toEqual([short.id])
    expect(await store().sessions.byPrefix("chat-")).toHaveLength(2)
  })

  test("an update changes what it names and nothing else", async () => {
    const projectId = await addProject(store(), "a")
    const before = await addSession(store(), { title: "old", tags: ["t"] })
    const bystander = await addSession(store())
    await store().sessions.update(before.id, { title: "new", updatedAtMs: NOW + 1 })
    await store().sessions.update(before.id, { tags: [], projectId })
    const changed = { title: "new", updatedAtMs: NOW + 1, tags: [], projectId, rootUri: "file:///a" }
    expect(await store().sessions.byId(before.id)).toEqual({ ...before, ...changed })
    expect(await store().sessions.byId(bystander.id)).toEqual(bystander)
  })

  test("an update that names nothing changes nothing", async () => {
    const session = await addSession(store())
    await store().sessions.update(session.id, {})
    expect(await store().sessions.byId(session.id)).toEqual(session)
  })

  test("only sessions untouched for long and not pinned are archived", async () => {
    const old = await addSession(store(), { title: "old", createdAtMs: NOW - 10 })
    const pinned = await addSession(store(), { createdAtMs: NOW - 10 })
    const archived = await addSession(store(), { createdAtMs: NOW - 10 })
    const young = await addSession(store(), { createdAtMs: NOW })
    await store().sessions.update(pinned.id, { pinnedAtMs: NOW - 10 })
    await store().sessions.update(archived.id, { archivedAtMs: NOW - 5 })
    expect(await store().sessions.archiveOlder(NOW, NOW + 1)).toEqual([old.id])
    const archivedAt = async (id: SessionId) => (await store().sessions.byId(id))?.archivedAtMs
    expect(await archivedAt(old.id)).toBe(NOW + 1)
    expect(await archivedAt(pinned.id)).toBeNull()
    expect(await archivedAt(archived.id)).toBe(NOW - 5)
    expect(await archivedAt(young.id)).toBeNull()
    expect(await store().sessions.archiveOlder(NOW, NOW + 2)).toEqual([])
  })

  test("a session counts its thoughts and its branches", async () => {
    const session = await addSession(store())
    const other = await addSession(store())
    for (const number of [1, 2]) await store().thoughts.add(newThought(session.id, number))
    for (const number of [1, 2]) await store().thoughts.add(newThought(session.id, number, { branchId: "b" }))
    await store().thoughts.add(newThought(session.id, 1, { branchId: "c" }))
    await store().thoughts.add(newThought(other.id, 1))
    const counts = (await store().sessions.list({})).map((each) => [each.id, each.thoughtCount, each.branchCount])
    expect(counts).toHaveLength(2)
    expect(counts).toContainEqual([session.id, 5, 2])
    expect(counts).toContainEqual([other.id, 1, 0])
  })
}
