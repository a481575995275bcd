import { expect, test } from "vitest"
import type { Pair } from "../../../src/domain/pair.ts"
import type { Permission } from "../../../src/domain/permission.ts"
import type { Store } from "../../../src/domain/store.ts"
import { addSession, NOW, range } from "./examples.ts"

const newPair = (id: string, values: Partial<Pair> = {}): Pair => ({
  id,
  fromTeam: "web",
  toTeam: "api",
  threadId: "main",
  platform: "claude-code",
  nativeId: `native of ${id}`,
  isMade: false,
  madeAtMs: null,
  status: "active",
  messageCount: 0,
  createdAtMs: NOW,
  lastUsedAtMs: NOW,
  ...values,
})

const newPermission = (id: string, values: Partial<Permission> = {}): Permission => ({
  id,
  home: "/home/me/.throughline",
  asker: "web → api",
  team: "api",
  sessionId: null,
  tool: "Bash",
  title: "rm -r build",
  input: { command: "rm -r build" },
  suggestions: [{ label: "always rm" }],
  state: "waiting",
  always: null,
  reason: null,
  answeredBy: null,
  via: "process",
  questions: [],
  answers: {},
  takenAtMs: null,
  askedAtMs: NOW,
  answeredAtMs: null,
  expiresAtMs: NOW + 1000,
  ...values,
})

export function teamsContract(store: () => Store): void {
  test("of a pair there is one, however many make it at once", async () => {
    const made = await Promise.all(range(8).map((n) => store().pairs.ensure(newPair(`p${n}`))))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await store().pairs.list()).toHaveLength(1)
  })

  test("pairs are told apart by who asks, whom, and in which thread", async () => {
    await store().pairs.ensure(newPair("a"))
    await store().pairs.ensure(newPair("b", { fromTeam: null }))
    await store().pairs.ensure(newPair("c", { threadId: "other" }))
    await store().pairs.ensure(newPair("d", { fromTeam: "api", toTeam: "web" }))
    expect(await store().pairs.list()).toHaveLength(4)
    expect((await store().pairs.list({ team: "web" })).map(({ id }) => id).sort()).toEqual(["a", "c", "d"])
    expect(await store().pairs.byId("b")).toEqual(newPair("b", { fromTeam: null }))
    expect(await store().pairs.byId("x")).toBeUndefined()
    expect((await store().pairs.ofNative("native of c"))?.id).toBe("c")
  })

  test("a session that a pair has, or had, is taken", async () => {
    await store().pairs.ensure(newPair("a", { nativeId: "now" }))
    await store().pairs.addSession({ pairId: "a", nativeId: "before", sinceMs: NOW, why: "first" })
    expect((await store().pairs.taken(["now", "before", "never"])).sort()).toEqual(["before", "now"])
    expect(await store().pairs.taken([])).toEqual([])
  })

  test("a pair counts its messages and remembers the sessions that it had", async () => {
    await store().pairs.ensure(newPair("a"))
    await store().pairs.count("a", NOW + 5)
    await store().pairs.update("a", { isMade: true, madeAtMs: NOW + 4, status: "compact_pending", nativeId: "n2" })
    await store().pairs.addSession({ pairId: "a", nativeId: "n2", sinceMs: NOW + 1, why: "reset" })
    await store().pairs.addSession({ pairId: "a", nativeId: "n1", sinceMs: NOW, why: "first" })
    await store().pairs.addSession({ pairId: "a", nativeId: "n1", sinceMs: NOW + 9, why: "again" })
    expect(await store().pairs.byId("a")).toEqual(
      newPair("a", {
        isMade: true,
        madeAtMs: NOW + 4,
        status: "compact_pending",
        nativeId: "n2",
        messageCount: 1,
        lastUsedAtMs: NOW + 5,
      }),
    )
    expect((await store().pairs.sessions("a")).map(({ nativeId, why }) => [nativeId, why])).toEqual([
      ["n1", "first"],
      ["n2", "reset"],
    ])
  })

  test("a message has one answer, the first", async () => {
    const answer = {
      messageId: "m-1",
      pairId: "a",
      nativeId: "n",
      text: "forty-two",
      isContextNew: true,
      durationMs: 5_000_000_000,
      inputTokens: 3,
      outputTokens: 4,
      costUsd: 0.25,
      atMs: NOW,
    }
    await store().pairs.answer(answer)
    await store().pairs.answer({ ...answer, text: "another" })
    expect(await store().pairs.answerTo("m-1")).toEqual(answer)
    expect(await store().pairs.answerTo("m-2")).toBeUndefined()
    await store().pairs.answer({ ...answer, messageId: "m-2", pairId: "b", atMs: NOW + 1, costUsd: null })
    expect(await store().pairs.answers({ pairId: "b" })).toHaveLength(1)
    expect(await store().pairs.answers({ sinceMs: NOW })).toHaveLength(2)
    expect(await store().pairs.forgetAnswers({ containing: "fifty" })).toBe(0)
    expect(await store().pairs.forgetAnswers({ nativeIds: [] })).toBe(0)
    expect(await store().pairs.forgetAnswers({ sinceMs: NOW + 2 })).toBe(0)
    await store().pairs.answer({ ...answer, messageId: "m-3", text: "it is fifty", nativeId: "n3" })
    expect(await store().pairs.forgetAnswers({ containing: "fifty" })).toBe(1)
    await store().pairs.answer({ ...answer, messageId: "m-4", nativeId: "n4" })
    expect(await store().pairs.forgetAnswers({ nativeIds: ["n4"] })).toBe(1)
    expect(await store().pairs.dropAnswers(NOW + 1)).toBe(1)
    expect(await store().pairs.answerTo("m-1")).toBeUndefined()
  })

  test("a permission is decided once, by the first who answers", async () => {
    await store().permissions.ask(newPermission("q1"))
    await store().permissions.ask(newPermission("q2", { askedAtMs: NOW + 1 }))
    expect((await store().permissions.waiting()).map(({ id }) => id)).toEqual(["q1", "q2"])
    const allow = { state: "allowed", always: 0, by: "terminal", atMs: NOW + 2 } as const
    expect(await store().permissions.decide("q1", allow)).toBe(true)
    expect(await store().permissions.decide("q1", { state: "denied", by: "phone", atMs: NOW + 3 })).toBe(false)
    expect(await store().permissions.byId("q1")).toEqual(
      newPermission("q1", { state: "allowed", always: 0, answeredBy: "terminal", answeredAtMs: NOW + 2 }),
    )
    expect((await store().permissions.waiting()).map(({ id }) => id)).toEqual(["q2"])
    const words = { title: "deploy", input: { command: "deploy --key ***" }, suggestions: [{ label: "always deploy" }] }
    const kept = { ...words, answers: { which: ["***"] } }
    expect(await store().permissions.decide("q2", { state: "denied", by: "phone", atMs: NOW + 3, kept })).toBe(true)
    expect(await store().permissions.byId("q2")).toMatchObject({ ...kept, state: "denied" })
    expect((await store().permissions.list({ last: 1 })).map(({ id }) => id)).toEqual(["q2"])
  })

  test("what was decided for a hook is taken once, or withdrawn once, and never both", async () => {
    const home = "/home/me/.throughline"
    for (const id of ["h1", "h2"]) {
      await store().permissions.ask(newPermission(id, { via: "hook" }))
      expect(await store().permissions.take(id, NOW), "nothing is decided yet").toBe(false)
      expect(await store().permissions.note(id, { which: ["one"] })).toBe(true)
      await store().permissions.decide(id, { state: "allowed", always: 0, by: "phone", atMs: NOW })
      expect(await store().permissions.note(id, {})).toBe(false)
    }
    await store().permissions.ask(newPermission("h3"))
    await store().permissions.decide("h3", { state: "allowed", by: "phone", atMs: NOW })
    expect((await store().permissions.untaken(home)).map(({ id }) => id).toSorted()).toEqual(["h1", "h2"])
    expect(await store().permissions.untaken("elsewhere")).toEqual([])
    expect(await store().permissions.take("h1", NOW + 1)).toBe(true)
    expect(await store().permissions.take("h1", NOW + 2)).toBe(false)
    expect(await store().permissions.withdraw("h1", "late", NOW + 2)).toBe(false)
    expect(await store().permissions.byId("h1")).toMatchObject({ state: "allowed", takenAtMs: NOW + 1, always: 0 })
    expect(await store().permissions.withdraw("h2", "late", NOW + 2)).toBe(true)
    expect(await store().permissions.take("h2", NOW + 3)).toBe(false)
    const withdrawn = { state: "stale", reason: "late", always: null, takenAtMs: null, answers: { which: ["one"] } }
    expect(await store().permissions.byId("h2")).toMatchObject(withdrawn)
  })

  test("permissions that were decided before a moment are dropped, those that wait are not", async () => {
    for (const id of ["q1", "q2", "q3"]) await store().permissions.ask(newPermission(id))
    await store().permissions.decide("q1", { state: "denied", by: "me", atMs: NOW + 1 })
    await store().permissions.decide("q2", { state: "stale", by: "me", atMs: NOW + 2 })
    expect(await store().permissions.dropDecided(NOW + 2)).toBe(1)
    expect((await store().permissions.list({ last: 9 })).map(({ id }) => id).sort()).toEqual(["q2", "q3"])
  })

  test("what is forgotten of permissions is gone, and the audit keeps who decided without the words", async () => {
    const { id: sessionId } = await addSession(store())
    const text = 'say "zebra" \\ twice'
    const add = async (id: string, values: Partial<Permission>, data: object = {}) => {
      await store().permissions.ask(newPermission(id, values))
      await store().audit.add({ atMs: NOW, who: "me", what: "permission.allowed", data: { id, ...data } })
    }
    await add("q1", { input: { deep: [text] } }, { title: "in the row only" })
    await add("q2", { reason: text }, { reason: text })
    await add("q3", { sessionId }, { title: "of a session" })
    await add("q4", {}, { title: `an audit alone: ${text}` })
    await add("q5", {}, { title: "stays" })
    const left = async () => (await store().permissions.list({ last: 9 })).map(({ id }) => id).sort()
    const audited = async () =>
      Object.fromEntries((await store().audit.list({ limit: 9 })).map(({ data }) => [data.id, data]))
    expect(await store().permissions.forget({ containing: text, untilMs: NOW })).toBe(0)
    expect(await store().permissions.forget({ containing: text })).toBe(2)
    expect(await left()).toEqual(["q3", "q4", "q5"])
    expect(await store().permissions.forget({ sessionIds: [sessionId] })).toBe(1)
    expect(await store().permissions.forget({ sessionIds: [] })).toBe(0)
    const gone = (id: string) => ({ id, forgotten: true })
    expect(await audited()).toEqual({
      q1: gone("q1"),
      q2: gone("q2"),
      q3: gone("q3"),
      q4: gone("q4"),
      q5: { id: "q5", title: "stays" },
    })
    expect(await store().permissions.forget({ sinceMs: NOW })).toBe(2)
    expect(await left()).toEqual([])
  })

  test("what strangers cause is counted: one entry each, and one for all when they are many", async () => {
    const stranger = (who: string, n: number) =>
      store().audit.tally(
        { atMs: NOW + n, who, what: "channel.refused", data: { why: "not on the list" } },
        { windowMs: 1_000, most: 3 },
      )
    for (let n = 0; n < 200; n++) await stranger("eve", n)
    for (let n = 0; n < 50; n++) await stranger(`mob-${n}`, 200 + n)
    const rows = (await store().audit.list({ limit: 100 })).filter(({ what }) => what === "channel.refused")
    expect(rows.map(({ who, data }) => [who, data.count])).toEqual([
      ["others", 48],
      ["mob-1", 1],
      ["mob-0", 1],
      ["eve", 200],
    ])
    expect(rows[3]!.data).toMatchObject({ why: "not on the list", firstAtMs: NOW, lastAtMs: NOW + 199 })
    await stranger("eve", 5_000)
    expect((await store().audit.list({ limit: 1 }))[0]).toMatchObject({ who: "eve", data: { count: 1 } })
  })

  test("an entry that is handed over twice is one entry; another one at the same time is another", async () => {
    const entry = (id: string) => ({ atMs: NOW, who: "the owner", what: "setup", data: { agents: ["codex"], id } })
    for (const id of ["a", "b", "a"]) await store().transaction((tx) => tx.audit.addOnce(entry(id)))
    const kept = (await store().audit.list({ limit: 9 })).filter(({ what }) => what === "setup")
    expect(kept.map(({ data }) => data.id)).toEqual(["b", "a"])
  })

  test("the audit is read newest first, page by page", async () => {
    for (const n of range(3))
      await store().audit.add({ atMs: NOW + n, who: "me", what: "permission.allowed", data: { n } })
    const page = await store().audit.list({ limit: 2 })
    expect(page.map(({ data }) => data.n)).toEqual([2, 1])
    const rest = await store().audit.list({ limit: 2, beforeSeq: page[1]!.seq })
    expect(rest).toMatchObject([{ who: "me", what: "permission.allowed", atMs: NOW, data: { n: 0 } }])
  })

  test("what is added late stands in the audit where its time is, also at the edge of a page", async () => {
    for (const n of [1, 3, 5, 2, 4, 4]) await store().audit.add({ atMs: NOW + n, who: "me", what: "late", data: { n } })
    const seen: unknown[] = []
    for (let beforeSeq: number | undefined; ; ) {
      const page = await store().audit.list({ limit: 2, ...(beforeSeq !== undefined && { beforeSeq }) })
      if (page.length === 0) break
      seen.push(...page.filter(({ what }) => what === "late").map(({ data }) => data.n))
      beforeSeq = page.at(-1)!.seq
    }
    expect(seen).toEqual([5, 4, 4, 3, 2, 1])
  })
}
