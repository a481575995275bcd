import { expect, test } from "vitest"
import { newSessionId, type SessionId } from "../../../src/domain/ids.ts"
import type { NewSource } from "../../../src/domain/source.ts"
import type { NewTurn, Store, TurnQuery } from "../../../src/domain/store.ts"
import { addSession, NOW, range } from "./examples.ts"

export function turnsContract(store: () => Store): void {
  const natives = async (sessionId: SessionId, superseded = false) =>
    (await store().turns.ofSession(sessionId, { superseded })).map((turn) => turn.nativeId)

  test("a turn comes back whole", async () => {
    const { id } = await addSession(store())
    const turn = newTurn(id, "t1", {
      kind: "tool_call",
      text: 'q"uote é 湖 🚀\n',
      model: "m",
      toolName: "bash",
      toolCallId: "c1",
      isError: true,
      usage: { inputTokens: 1, costUsd: 0.5 },
    })
    const [put] = await store().turns.put([turn])
    expect(put).toEqual({ seq: expect.any(Number), sessionId: id, kind: "tool_call", atMs: NOW, inserted: true })
    const { sourceId: _, ...kept } = { ...turn, seq: put!.seq, supersededAtMs: null }
    expect(await store().turns.byNative(id, "t1")).toEqual(kept)
    expect(await store().turns.bySeqs([put!.seq])).toEqual([kept])
    expect(await store().turns.texts([999_999, put!.seq])).toEqual(new Map([[put!.seq, { text: turn.text }]]))
    expect(await store().turns.texts([])).toEqual(new Map())
    expect(await store().turns.byNative(id, "t2")).toBeUndefined()
  })

  test("what an agent says about an exchange comes back with it, and stays when it is not told again", async () => {
    const { id } = await addSession(store())
    const metadata = { topic: "speed", tags: ["a", 'b"c'], score: 1 }
    const [put] = await store().turns.put([newTurn(id, "a", { metadata })])
    const told = async () => (await store().turns.ofSession(id)).map((turn) => turn.metadata)
    expect(await told()).toEqual([metadata])
    expect(await store().turns.texts([put!.seq])).toEqual(new Map([[put!.seq, { text: "text of a", metadata }]]))
    expect(await store().turns.put([newTurn(id, "a")])).toEqual([])
    expect(await told()).toEqual([metadata])
    expect(await store().turns.put([newTurn(id, "a", { metadata: { topic: "size" } })])).toMatchObject([
      { seq: put!.seq, inserted: false },
    ])
    expect(await told()).toEqual([{ topic: "size" }])
  })

  test("a turn is found to be forgotten by what was said about it", async () => {
    const { id } = await addSession(store())
    const [put] = await store().turns.put([newTurn(id, "a", { metadata: { tags: ['night"fall'] } }), newTurn(id, "b")])
    const found = await store().forgetting.matching({ containing: 'night"fall' })
    expect(found.turns.map(({ seq }) => seq)).toEqual([put!.seq])
    expect(await store().forgetting.mentions('night"fall')).toBe(0)
  })

  test("what is as it was is left alone; what reads differently is changed under its number", async () => {
    const { id } = await addSession(store())
    const turns = [newTurn(id, "a"), newTurn(id, "b"), newTurn(id, "c"), newTurn(id, "d")]
    const first = await store().turns.put(turns)
    expect(first.map(({ inserted }) => inserted)).toEqual([true, true, true, true])
    expect(await store().turns.put(turns)).toEqual([])
    const again = await store().turns.put([
      turns[0]!,
      { ...turns[1]!, text: "grown" },
      { ...turns[2]!, kind: "reply" },
      { ...turns[3]!, usage: { outputTokens: 7 } },
      newTurn(id, "e"),
    ])
    expect(again.map(({ seq, inserted }) => [seq, inserted])).toEqual([
      [first[1]!.seq, false],
      [first[2]!.seq, false],
      [first[3]!.seq, false],
      [expect.any(Number), true],
    ])
    const kept = await store().turns.ofSession(id)
    expect(kept.map(({ nativeId, kind, text, usage }) => [nativeId, kind, text, usage])).toEqual([
      ["a", "prompt", "text of a", null],
      ["b", "prompt", "grown", null],
      ["c", "reply", "text of c", null],
      ["d", "prompt", "text of d", { outputTokens: 7 }],
      ["e", "prompt", "text of e", null],
    ])
  })

  test("of the same turn twice in one put the last reading stands", async () => {
    const { id } = await addSession(store())
    const put = await store().turns.put([
      newTurn(id, "a", { text: "begun" }),
      newTurn(id, "b"),
      newTurn(id, "a", { text: "begun and ended" }),
    ])
    expect(put).toHaveLength(2)
    expect((await store().turns.byNative(id, "a"))?.text).toBe("begun and ended")
  })

  test("the same id in another session is another turn, and nothing is put for no turns", async () => {
    const [one, two] = [await addSession(store()), await addSession(store())]
    expect(await store().turns.put([])).toEqual([])
    const put = await store().turns.put([newTurn(one.id, "a"), newTurn(two.id, "a", { text: "other" })])
    expect(new Set(put.map(({ seq }) => seq)).size).toBe(2)
    expect((await store().turns.ofSession(two.id)).map(({ text }) => text)).toEqual(["other"])
  })

  test("an outline says where exchanges begin, and an exchange ends before the next prompt", async () => {
    const { id } = await addSession(store())
    const put = await store().turns.put([
      newTurn(id, "late", { kind: "prompt", atMs: NOW + 9 }),
      newTurn(id, "before", { kind: "reply", atMs: NOW }),
      newTurn(id, "one", { kind: "prompt", atMs: NOW + 1 }),
      newTurn(id, "tool", { kind: "tool_call", atMs: NOW + 1 }),
      newTurn(id, "gone", { kind: "prompt", atMs: NOW + 2 }),
      newTurn(id, "answer", { kind: "reply", atMs: NOW + 9 }),
    ])
    const seqOf = (index: number) => put[index]!.seq
    await store().turns.supersede([seqOf(4)], NOW)
    expect(await store().turns.outline(id)).toEqual([
      { seq: seqOf(1), atMs: NOW },
      { seq: seqOf(2), atMs: NOW + 1 },
      { seq: seqOf(0), atMs: NOW + 9 },
    ])
    const exchange = async (seq: number) => (await store().turns.ofExchange(id, seq)).map(({ nativeId }) => nativeId)
    expect(await exchange(seqOf(1))).toEqual(["before"])
    expect(await exchange(seqOf(2))).toEqual(["one", "tool"])
    expect(await exchange(seqOf(0))).toEqual(["late", "answer"])
    expect(await exchange(seqOf(5) + 1000)).toEqual([])
    expect(await store().turns.outline((await addSession(store())).id)).toEqual([])
  })

  test("a conversation is in the order of its times, then of its keeping; a limit gives the last ones", async () => {
    const { id } = await addSession(store())
    await store().turns.put([
      newTurn(id, "later", { atMs: NOW + 2 }),
      newTurn(id, "first", { atMs: NOW }),
      newTurn(id, "second", { atMs: NOW }),
    ])
    expect(await natives(id)).toEqual(["first", "second", "later"])
    expect((await store().turns.ofSession(id, { limit: 2 })).map(({ nativeId }) => nativeId)).toEqual([
      "second",
      "later",
    ])
  })

  test("a part of a conversation: some kinds, up to a moment, the first or the last of them, and not their whole texts", async () => {
    const { id } = await addSession(store())
    const kinds = ["prompt", "tool_call", "reply", "prompt", "summary", "reply"] as const
    await store().turns.put(
      kinds.map((kind, index) => newTurn(id, `t${index}`, { kind, atMs: NOW + index, text: `湖é🚀 of ${index}` })),
    )
    const part = async (request: TurnQuery) =>
      (await store().turns.ofSession(id, request)).map(({ nativeId }) => nativeId)
    expect(await part({ kinds: ["prompt", "reply"] })).toEqual(["t0", "t2", "t3", "t5"])
    expect(await part({ kinds: ["prompt", "reply"], limit: 2 })).toEqual(["t3", "t5"])
    expect(await part({ kinds: ["prompt", "reply"], limit: 2, fromStart: true })).toEqual(["t0", "t2"])
    expect(await part({ untilMs: NOW + 3, limit: 2 })).toEqual(["t2", "t3"])
    expect(await part({ kinds: ["reset"] })).toEqual([])
    const [cut] = await store().turns.ofSession(id, { limit: 1, maxChars: 6 })
    expect(cut).toMatchObject({ nativeId: "t5", kind: "reply", text: "湖é🚀 of", atMs: NOW + 5 })
    expect((await store().turns.ofSession(id, { limit: 1, maxChars: 600 }))[0]?.text).toBe("湖é🚀 of 5")
  })

  test("more turns than one statement has parameters for", async () => {
    const { id } = await addSession(store())
    const put = await store().transaction((tx) => tx.turns.put(range(6_000).map((index) => newTurn(id, `t${index}`))))
    expect(put).toHaveLength(6_000)
    const seqs = put.map(({ seq }) => seq)
    expect(await store().turns.bySeqs(seqs)).toHaveLength(6_000)
    expect((await store().turns.texts(seqs)).size).toBe(6_000)
    await store().turns.supersede(seqs, NOW)
    expect(await natives(id)).toEqual([])
    expect(await natives(id, true)).toHaveLength(6_000)
  })

  test("text of any kind and length", async () => {
    const { id } = await addSession(store())
    const long = "väter 湖 ".repeat(200_000)
    await store().turns.put([newTurn(id, "long", { text: long }), newTurn(id, "empty", { text: "" })])
    expect((await store().turns.byNative(id, "long"))?.text).toBe(long)
    expect((await store().turns.byNative(id, "empty"))?.text).toBe("")
  })

  test("what was taken back stays, is not listed, and comes back when it is put again", async () => {
    const { id } = await addSession(store())
    const put = await store().turns.put(["a", "b", "c"].map((name) => newTurn(id, name)))
    await store().turns.supersede([put[1]!.seq], NOW + 5)
    expect(await natives(id)).toEqual(["a", "c"])
    expect((await store().turns.byNative(id, "b"))?.supersededAtMs).toBe(NOW + 5)
    expect(await store().turns.put([newTurn(id, "b")])).toMatchObject([{ seq: put[1]!.seq, inserted: false }])
    expect(await natives(id)).toEqual(["a", "b", "c"])
  })

  test("a session is taken back from one turn on, from an unknown one not at all, from none whole", async () => {
    const [{ id }, other] = [await addSession(store()), await addSession(store())]
    const put = await store().turns.put(["a", "b", "c"].map((name) => newTurn(id, name)))
    const [a, b, c] = put.map(({ seq }) => seq)
    await store().turns.put([newTurn(other.id, "b")])
    expect(await store().turns.supersedeFrom(id, { nativeId: "unknown" }, NOW)).toEqual([])
    expect(await natives(id)).toEqual(["a", "b", "c"])
    expect(new Set(await store().turns.supersedeFrom(id, { nativeId: "b" }, NOW + 1))).toEqual(new Set([b, c]))
    expect(await natives(id)).toEqual(["a"])
    expect(await store().turns.supersedeFrom(id, { nativeId: null }, NOW + 2)).toEqual([a])
    const marks = (await store().turns.ofSession(id, { superseded: true })).map((turn) => turn.supersededAtMs)
    expect(marks).toEqual([NOW + 2, NOW + 1, NOW + 1])
    expect(await natives(other.id)).toEqual(["b"])
  })

  test("taking back goes by the conversation's order, whenever its turns were kept, and stops where it is told to", async () => {
    const { id } = await addSession(store())
    await store().turns.put([
      newTurn(id, "third", { atMs: NOW + 3 }),
      newTurn(id, "second", { atMs: NOW + 2 }),
      newTurn(id, "also second", { atMs: NOW + 2 }),
      newTurn(id, "first, kept late", { atMs: NOW + 1 }),
      newTurn(id, "fourth", { atMs: NOW + 4 }),
    ])
    await store().turns.supersedeFrom(id, { nativeId: "also second", beforeMs: NOW + 4 }, NOW)
    expect(await natives(id)).toEqual(["first, kept late", "second", "fourth"])
    await store().turns.supersedeFrom(id, { nativeId: "second", after: true }, NOW)
    expect(await natives(id)).toEqual(["first, kept late", "second"])
    await store().turns.supersedeFrom(id, { nativeId: null, beforeMs: NOW + 2 }, NOW)
    expect(await natives(id)).toEqual(["second"])
  })

  test("time, model and failure that are told later replace what was there; a lent time and no model do not", async () => {
    const { id } = await addSession(store())
    const begun = newTurn(id, "a", { kind: "reply", isTimeLent: true })
    const [put] = await store().turns.put([begun])
    const told = { ...begun, atMs: NOW + 7, isTimeLent: false, model: "m", isError: true }
    expect(await store().turns.put([told])).toMatchObject([{ seq: put!.seq, atMs: NOW + 7, inserted: false }])
    expect(await store().turns.put([told])).toEqual([])
    expect(await store().turns.put([{ ...begun, isError: true }])).toEqual([])
    expect(await store().turns.byNative(id, "a")).toMatchObject({ atMs: NOW + 7, model: "m", isError: true })
    await store().turns.put([{ ...told, isTimeLent: true, atMs: NOW, model: "n" }])
    expect(await store().turns.byNative(id, "a")).toMatchObject({ atMs: NOW + 7, model: "n" })
    const mixed = ["b", "c", "d"].map((name) => newTurn(id, name, { isTimeLent: name === "c" }))
    await store().turns.put(mixed)
    expect(await natives(id)).toEqual(["b", "c", "d", "a"])
  })

  test("the turns of a source are those that it held last", async () => {
    const { id } = await addSession(store())
    const [one, two] = [await store().sources.save(newSource("one")), await store().sources.save(newSource("two"))]
    const put = await store().turns.put(["a", "b", "c"].map((name) => newTurn(id, name, { sourceId: one })))
    await store().turns.put([newTurn(id, "c", { sourceId: two, text: "changed" })])
    await store().turns.supersede([put[1]!.seq], NOW)
    await store().turns.put([newTurn(id, "d", { sourceId: one })])
    // As it was, but in another file now.
    expect(await store().turns.put([newTurn(id, "d", { sourceId: two })])).toEqual([])
    const of = async (source: number) => (await store().turns.liveOfSource(source)).map(({ nativeId }) => nativeId)
    expect([await of(one), (await of(two)).sort()]).toEqual([["a"], ["c", "d"]])
  })

  test("counting anew counts what is live", async () => {
    const { id } = await addSession(store())
    const put = await store().turns.put([
      newTurn(id, "a"),
      newTurn(id, "b", { kind: "reply", atMs: NOW + 5 }),
      newTurn(id, "c", { atMs: NOW + 9 }),
    ])
    const counts = async () => {
      const { turnCount, promptCount, updatedAtMs } = (await store().sessions.byId(id))!
      return [turnCount, promptCount, updatedAtMs]
    }
    await store().turns.recount([id])
    expect(await counts()).toEqual([3, 2, NOW + 9])
    await store().turns.supersede([put[2]!.seq], NOW)
    await store().turns.recount([id])
    expect(await counts()).toEqual([2, 1, NOW + 5])
    await store().turns.supersedeFrom(id, { nativeId: null }, NOW)
    await store().turns.recount([id])
    expect((await counts()).slice(0, 2)).toEqual([0, 0])
  })

  test("turns from a poorer source are told apart and can be dropped", async () => {
    const { id } = await addSession(store())
    const [poor] = await store().turns.put([newTurn(id, "poor", { isFallback: true })])
    expect(await store().turns.hasReal(id)).toBe(false)
    await store().turns.put([newTurn(id, "full")])
    expect(await store().turns.hasReal(id)).toBe(true)
    expect(await store().turns.dropFallbacks(id)).toEqual([poor!.seq])
    expect(await store().turns.dropFallbacks(id)).toEqual([])
    expect(await natives(id, true)).toEqual(["full"])
  })
}

export function sourcesContract(store: () => Store): void {
  test("a source is saved under its key, again and again, and comes back whole", async () => {
    const source = newSource("one", { memory: { deep: [1, { a: null }] }, skipped: { mode: 3 }, trouble: 'q"' })
    const id = await store().sources.save(source)
    expect(await store().sources.byKey("claude-code", "one")).toEqual({ ...source, id })
    const moved = { ...source, path: "/elsewhere", offset: 2 ** 40, memory: null, trouble: null }
    expect(await store().sources.save(moved)).toBe(id)
    expect(await store().sources.byKey("claude-code", "one")).toEqual({ ...moved, id })
    expect(await store().sources.byKey("codex", "one")).toBeUndefined()
    const { platform, key, path, inode, sizeBytes, mtimeMs } = moved
    expect(await store().sources.looks()).toEqual([{ platform, key, path, inode, sizeBytes, mtimeMs }])
  })

  test("the name of a file that is gone is taken out, again and again, and two stay two", async () => {
    const name = (key: string, path = key) => ({ platform: "claude-code", key, path })
    const save = (key: string, path: string) => store().sources.save(newSource(key, { path }))
    const ids = [await save("/a/lake.jsonl", "/a/lake.jsonl"), await save("/a/lake-2", "/b"), await save("/c", "/c")]
    await store().forgetting.names("lake", [name("/a/lake.jsonl"), name("/a/lake-2", "/b"), name("/c")])
    const looks = async () => (await store().sources.looks()).map(({ key, path }) => `${key} ${path}`).sort()
    const [one, two] = ids.map((id) => `forgotten:${id}`)
    expect(await looks()).toEqual(["/c /c", `${one} ${one}`, `${two} /b`].sort())
    const again = `forgotten:${await save("/a/lake.jsonl", "/a/lake.jsonl")}`
    await store().forgetting.names("lake", [name("/a/lake.jsonl")])
    expect(await looks()).toEqual(["/c /c", `${one} ${one}`, `${two} /b`, `${again} ${again}`].sort())
  })

  test("an id that an agent chose is taken out, except while a file has that name, and two stay two", async () => {
    const log = async (platform: string, nativeId: string) => {
      const created = { id: newSessionId(), platform, nativeId, projectId: null, title: "t" }
      return (await store().sessions.create({ ...created, tags: [], key: null, createdAtMs: NOW })).session.id
    }
    const natives = ["lake@0123456789ab", "lake@ba9876543210", "the-lake", "sea"]
    const ids = [...(await Promise.all(natives.map((id) => log("conversation-log", id)))), await log("codex", "lake")]
    await store().forgetting.loggedIds("lake", "conversation-log", ["the-lake"])
    const left = await store().sessions.byIds(ids)
    const nativeOf = (id: string) => left.find((session) => session.id === id)!.nativeId
    expect(ids.map(nativeOf)).toEqual([`forgotten:${ids[0]}`, `forgotten:${ids[1]}`, "the-lake", "sea", "lake"])
  })

  test("summaries add up what was found, kept and left out, agent by agent", async () => {
    const one = { skipped: { mode: 3, tag: 1 }, unknown: 1, sizeBytes: 10, lines: 8, mtimeMs: NOW }
    await store().sources.save(newSource("one", one))
    // Changed a month ago: its records say nothing of what the agent writes today.
    await store().sources.save(newSource("old", { lines: 90, unknown: 5, mtimeMs: NOW - 30 * 24 * 3_600_000 }))
    const trouble = { lines: 0, skipped: { mode: 1 }, unreadable: 2, sizeBytes: 5, readAtMs: NOW + 7, trouble: "torn" }
    await store().sources.save(newSource("two", trouble))
    await addSession(store(), { platform: "codex" })
    expect(await store().sources.summaries()).toEqual([
      {
        platform: "claude-code",
        sources: 3,
        sessions: 0,
        turns: 0,
        sizeBytes: 15 + 2 ** 33,
        lastReadAtMs: NOW + 7,
        skipped: { mode: 4, tag: 1 },
        unknown: 6,
        recent: { unknown: 1, records: 8 },
        unreadable: 2,
        troubles: [{ path: "/two", trouble: "torn" }],
      },
      {
        platform: "codex",
        sources: 0,
        sessions: 1,
        turns: 0,
        sizeBytes: 0,
        lastReadAtMs: null,
        skipped: {},
        unknown: 0,
        recent: { unknown: 0, records: 0 },
        unreadable: 0,
        troubles: [],
      },
    ])
  })
}

export function newTurn(sessionId: SessionId, nativeId: string, values: Partial<NewTurn> = {}): NewTurn {
  return {
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
  }
}

export function newSource(key: string, values: Partial<NewSource> = {}): NewSource {
  return {
    platform: "claude-code",
    key,
    path: `/${key}`,
    mode: "lines",
    inode: "1:2",
    sizeBytes: 2 ** 33,
    mtimeMs: NOW,
    offset: 12,
    headHash: "h",
    tailHash: "t",
    memory: {},
    readAtMs: NOW,
    lines: 1,
    skipped: {},
    unknown: 0,
    unreadable: 0,
    trouble: null,
    ...values,
  }
}
