import { describe, expect, test } from "vitest"
import type { SessionId } from "../../../src/domain/ids.ts"
import type { NewTurn, Store } from "../../../src/domain/store.ts"
import { addProject, addSession, NOW, newThought } from "./examples.ts"

/** The archive: turns, the sources they come from, what platforms say of their sessions, and forgetting. */
export function capturedContract(store: () => Store): void {
  const newTurn = (sessionId: SessionId, nativeId: string, values: Partial<NewTurn> = {}): NewTurn => ({
    sessionId,
    nativeId,
    kind: "prompt",
    text: `text of ${nativeId}`,
    atMs: NOW,
    model: null,
    toolName: null,
    toolCallId: null,
    isError: false,
    isFallback: false,
    usage: null,
    sourceId: null,
    ...values,
  })
  const put = async (sessionId: SessionId, ...turns: [nativeId: string, values?: Partial<NewTurn>][]) =>
    (await store().turns.put(turns.map(([nativeId, values]) => newTurn(sessionId, nativeId, values)))).map(
      ({ seq }) => seq,
    )
  const live = async (sessionId: SessionId) =>
    (await store().turns.ofSession(sessionId)).map(({ nativeId }) => nativeId)
  const captured = (nativeId: string) => addSession(store(), { platform: "claude-code", nativeId })

  test("who has a turn is known, first the one that had it first; a copy waits for its original and has no edge until then", async () => {
    const [one, two, other] = [
      await captured("s1"),
      await captured("s2"),
      await addSession(store(), { platform: "codex" }),
    ]
    await put(two.id, ["t"])
    await put(other.id, ["t"])
    await put(one.id, ["t"], ["u"])
    expect(await store().turns.holders("claude-code", "t")).toEqual([
      { id: two.id, nativeId: "s2" },
      { id: one.id, nativeId: "s1" },
    ])
    expect(await store().turns.holders("claude-code", "never")).toEqual([])
    const copy = { platform: "claude-code", nativeTurnId: "t", atMs: NOW }
    await store().sessions.addOrphan(one.id, copy)
    await store().sessions.addOrphan(one.id, copy)
    expect(await store().sessions.orphans("claude-code")).toEqual([{ id: one.id, nativeTurnId: "t" }])
    expect(await store().sessions.orphans("codex")).toEqual([])
    expect(await store().sessions.edges(one.id)).toEqual([])
    await store().sessions.dropOrphan(one.id, "claude-code")
    expect(await store().sessions.orphans("claude-code")).toEqual([])
  })

  describe("what a platform says of its session", () => {
    test("is found by its native id, and only what is said changes", async () => {
      const projectId = await addProject(store(), "a")
      const before = await captured("s1")
      await store().sessions.describe(before.id, {})
      expect(await store().sessions.byNative("claude-code", "s1")).toEqual(before)
      const about = { projectPath: "/a", model: "m", gitBranch: "main", agentVersion: "2.1", isSubagent: true }
      await store().sessions.describe(before.id, { ...about, projectId, startedAtMs: NOW - 9 })
      await store().sessions.describe(before.id, { model: "n" })
      const after = { ...before, ...about, projectId, rootUri: "file:///a", createdAtMs: NOW - 9, model: "n" }
      expect(await store().sessions.byNative("claude-code", "s1")).toEqual(after)
      expect(await store().sessions.byNative("codex", "s1")).toBeUndefined()
    })

    test("a title gives way to one of the same or a higher rank, a first prompt only to a higher", async () => {
      const { id } = await captured("s1")
      const titled = async (text: string, rank: number, firstStands = false) => {
        await store().sessions.describe(id, { title: { text, rank, firstStands } })
        return (await store().sessions.byId(id))?.title
      }
      expect(await titled("prompt", 1, true)).toBe("prompt")
      expect(await titled("second prompt", 1, true)).toBe("prompt")
      expect(await titled("made", 3)).toBe("made")
      expect(await titled("summary", 2)).toBe("made")
      expect(await titled("made again", 3)).toBe("made again")
    })

    test("it grows, and its time goes on only", async () => {
      const { id } = await captured("s1")
      await store().sessions.grow(id, { turns: 2, prompts: 1, lastAtMs: NOW + 5 })
      await store().sessions.grow(id, { turns: 1, prompts: 0, lastAtMs: NOW + 1 })
      expect(await store().sessions.byId(id)).toMatchObject({ turnCount: 3, promptCount: 1, updatedAtMs: NOW + 5 })
    })

    test("an edge is there once", async () => {
      const { id } = await captured("s1")
      const fork = { kind: "fork", parentPlatform: "claude-code", parentNativeId: "s0", atMs: NOW + 1 } as const
      const resume = { ...fork, kind: "resume", atMs: NOW } as const
      expect(await store().sessions.addEdge(id, fork)).toBe(true)
      expect(await store().sessions.addEdge(id, { ...fork, atMs: NOW + 2 })).toBe(false)
      expect(await store().sessions.addEdge(id, resume)).toBe(true)
      const { parentPlatform, parentNativeId } = fork
      expect(await store().sessions.children(parentPlatform, parentNativeId)).toContainEqual({
        id,
        kind: fork.kind,
        atMs: fork.atMs,
      })
      expect(await store().sessions.children(parentPlatform, "somebody else")).toEqual([])
      expect(await store().sessions.edges(id)).toEqual([resume, fork])
      expect(await store().sessions.edges((await captured("s2")).id)).toEqual([])
    })
  })

  describe("forgetting", () => {
    test("a session goes with all that is in it, and is known as forgotten", async () => {
      const [gone, stays] = [await captured("s1"), await captured("s2")]
      for (const { id } of [gone, stays]) {
        await put(id, ["a"])
        await store().thoughts.add(newThought(id, 1, { text: "lake" }))
        await store().journal.append([{ kind: "test", sessionId: id, atMs: NOW, data: {} }])
      }
      await store().forgetting.session(gone.id, NOW)
      await store().forgetting.session(gone.id, NOW)
      expect(await store().sessions.byId(gone.id)).toBeUndefined()
      expect(await store().turns.ofSession(gone.id, { superseded: true })).toEqual([])
      expect(await store().thoughts.all(gone.id)).toEqual([])
      expect(await store().thoughts.all(stays.id)).toHaveLength(1)
      expect((await store().journal.after(0, 99)).map(({ sessionId }) => sessionId)).not.toContain(gone.id)
      expect(await live(stays.id)).toEqual(["a"])
      expect((await store().forgetting.of("claude-code", "s1")).whole).toBe(true)
      expect((await store().forgetting.of("claude-code", "s2")).whole).toBe(false)
      expect((await store().forgetting.of("codex", "s1")).whole).toBe(false)
    })

    test("single turns go, and are known as forgotten", async () => {
      const { id } = await captured("s1")
      const seqs = await put(id, ["a"], ["b"], ["c"])
      await store().forgetting.turns(seqs.slice(0, 2), NOW)
      await store().forgetting.turns([], NOW)
      expect(await live(id)).toEqual(["c"])
      const forgotten = await store().forgetting.of("claude-code", "s1")
      expect([forgotten.whole, ...["a", "b", "c"].map(forgotten.turn)]).toEqual([false, true, true, false])
      expect((await store().forgetting.of("claude-code", "s2")).turn("a")).toBe(false)
    })

    test("thoughts go and do not count", async () => {
      const { id } = await captured("s1")
      const kept = []
      for (const number of [1, 2, 3])
        kept.push((await store().thoughts.add(newThought(id, number, { text: "lake" }))).thought)
      await store().forgetting.thoughts([kept[0]!.seq, kept[1]!.seq])
      expect((await store().thoughts.all(id)).map(({ number }) => number)).toEqual([3])
      expect(await store().thoughts.seqs(id)).toEqual([kept[2]!.seq])
      expect((await store().sessions.byId(id))?.thoughtCount).toBe(1)
    })

    test("what is to go is found by its words, its time and its project", async () => {
      const projectId = await addProject(store(), "a")
      const [inside, outside] = [await addSession(store(), { projectId }), await captured("s2")]
      const [a] = await put(
        inside.id,
        ["a", { text: "100% of my_key" }],
        ["b", { text: "100 of my key", atMs: NOW + 5 }],
      )
      const [c] = await put(outside.id, ["c", { text: "is 100% of my_key here", kind: "reply" }])
      const { thought } = await store().thoughts.add(
        newThought(outside.id, 1, { text: "100% of my_key", createdAtMs: NOW + 5 }),
      )
      const found = async (request: Parameters<Store["forgetting"]["matching"]>[0]) => {
        const { turns, thoughts } = await store().forgetting.matching(request)
        return [turns.map(({ seq }) => seq).toSorted((x, y) => x - y), thoughts.map(({ seq }) => seq)]
      }
      const containing = "100% of my_key"
      expect(await found({ containing })).toEqual([[a, c], [thought.seq]])
      expect(await found({ containing, projectId })).toEqual([[a], []])
      expect(await found({ containing, untilMs: NOW + 5 })).toEqual([[a, c], []])
      expect(await found({ sinceMs: NOW + 5, projectId })).toEqual([[a! + 1], []])
      expect(await found({ sinceMs: NOW + 5, untilMs: NOW + 6 })).toEqual([[a! + 1], [thought.seq]])
    })

    test("titles are made of what is left", async () => {
      const [plain, named, empty] = [await captured("s1"), await captured("s2"), await captured("s3")]
      const title = (text: string, rank: number) => ({ title: { text, rank, firstStands: false } })
      await store().sessions.describe(plain.id, title("my secret", 1))
      await store().sessions.describe(named.id, title("A secret plan", 4))
      await store().sessions.describe(empty.id, title("secret", 1))
      await put(plain.id, ["r", { kind: "reply", atMs: NOW - 1 }], ["p", { text: " What next?\nAnd then?" }])
      await put(named.id, ["p", { text: "Hello" }])
      const titles = async () =>
        Promise.all([plain, named, empty].map(async ({ id }) => (await store().sessions.byId(id))?.title))
      const ids = [plain.id, named.id, empty.id]
      await store().forgetting.retitle(ids, undefined)
      expect(await titles()).toEqual(["What next?", "A secret plan", "Untitled"])
      await store().forgetting.retitle(ids, "secret")
      expect(await titles()).toEqual(["What next?", "Hello", "Untitled"])
      expect(await store().forgetting.emptied(ids)).toEqual([empty.id])
    })
  })
}
