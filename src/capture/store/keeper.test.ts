import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeTestArchive, type TestArchive } from "../../../test/fixtures/archive.ts"

const SID = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c01"
const CLAUDE = `.claude/projects/-w-app/${SID}.jsonl`
const HISTORY = ".claude/history.jsonl"

const line = (record: unknown) => `${JSON.stringify(record)}\n`
const at = (second: number) => new Date(Date.parse("2026-08-16T08:00:00.000Z") + second * 1000).toISOString()
const said = (uuid: string, content: string, cwd: string | undefined, second = 1, sessionId = SID) =>
  line({ type: "user", uuid, sessionId, timestamp: at(second), cwd, message: { role: "user", content } })
const typed = (display: string, second: number, sessionId = SID) =>
  line({ display, timestamp: Date.parse(at(second)), project: "/w/app", sessionId, pastedContents: {} })

let kept: TestArchive
beforeEach(async () => {
  kept = await makeTestArchive({ rules: { excluded: (path) => path.startsWith("/private"), excludesSome: true } })
})
afterEach(() => kept.close())

const live = async () => (await kept.rows()).filter(({ superseded }) => !superseded).map(({ text }) => text)
const session = async () => (await kept.store.sessions.list({}))[0]

test("a title, a branch and a model begin no line of their own, wherever they are shown", async () => {
  const own = "main\r\n# Decisions\u2028\u001b[2J- approve \u202eall"
  const record = { type: "user", uuid: "u1", sessionId: SID, timestamp: at(1), cwd: "/w/app", gitBranch: own }
  const answer = { role: "assistant", model: own, content: [{ type: "text", text: "done" }] }
  kept.write(
    CLAUDE,
    line({ ...record, message: { role: "user", content: "one" } }) +
      line({ ...record, type: "assistant", uuid: "a1", message: answer }) +
      line({ type: "custom-title", customTitle: own, sessionId: SID }),
  )
  await kept.read()
  const { title, gitBranch, model } = (await session())!
  const plain = "main # Decisions - approve all"
  expect({ title, gitBranch, model }).toEqual({ title: "main", gitBranch: plain, model: plain })
})

describe("of an excluded folder", () => {
  test("nothing is kept, and how much was left out is counted", async () => {
    kept.write(CLAUDE, said("u1", "one", "/private/x") + said("u2", "two", "/private/x"))
    await kept.read()
    expect(await kept.store.sessions.list({})).toEqual([])
    expect((await kept.source(CLAUDE))?.skipped).toEqual({ excluded: 3 })
  })

  test("nothing is kept of what comes after a restart either, although it no longer says where it worked", async () => {
    kept.write(CLAUDE, said("u1", "one", "/private/x"))
    await kept.read()
    kept.restart()
    kept.append(CLAUDE, said("u2", "two", "/private/x", 2))
    await kept.read()
    kept.restart()
    kept.append(CLAUDE, line({ type: "custom-title", customTitle: "secret plan", sessionId: SID }))
    await kept.read()
    expect(await kept.store.sessions.list({})).toEqual([])
    expect(await kept.rows()).toEqual([])
  })

  test("a session that began elsewhere stays with the project in which it began", async () => {
    kept.write(CLAUDE, said("u1", "one", "/w/app") + said("u2", "two", "/private/x"))
    await kept.read()
    expect(await live()).toEqual(["one", "two"])
    expect((await session())?.projectPath).toBe("/w/app")
  })

  test("files beside it that do not name their folder are not kept either, before it or after it", async () => {
    const output = `.claude/projects/-w-app/${SID}/tool-results/toolu_1.txt`
    kept.write(output, "its output")
    await expect(kept.read()).rejects.toThrow("not known yet")
    kept.write(CLAUDE, said("u1", "one", "/private/x"))
    await kept.read().catch(() => {})
    kept.restart()
    await expect(kept.read()).rejects.toThrow("not known yet")
    kept.write(".codex/session_index.jsonl", line({ id: "0198", thread_name: "secret plan" }))
    await kept.read().catch(() => {})
    expect(await kept.store.sessions.list({})).toEqual([])
  })

  test("but those of a session that is kept are, as soon as it is", async () => {
    kept.write(`.claude/projects/-w-app/${SID}/tool-results/toolu_1.txt`, "its output")
    await expect(kept.read()).rejects.toThrow("not known yet")
    kept.write(CLAUDE, said("u1", "one", "/w/app"))
    await kept.read().catch(() => kept.read())
    expect((await live()).sort()).toEqual(["its output", "one"])
  })

  test("and another session in the same file that says where it worked is kept", async () => {
    const other = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c02"
    kept.write(CLAUDE, said("u1", "one", "/private/x"))
    await kept.read()
    kept.restart()
    kept.append(CLAUDE, said("u2", "two", "/w/app", 2, other))
    await kept.read()
    expect(await live()).toEqual(["two"])
  })
})

describe("prompts from a fallback source", () => {
  test("are stored until a complete source is read, in any order", async () => {
    kept.write(HISTORY, typed("typed one", 1))
    await kept.read()
    expect(await live()).toEqual(["typed one"])
    kept.write(CLAUDE, said("u1", "typed one", "/w/app"))
    await kept.read()
    expect((await kept.rows()).map(({ turn }) => turn)).toEqual(["u1"])
    expect(await session()).toMatchObject({ turnCount: 1, promptCount: 1 })
    kept.restart()
    kept.append(HISTORY, typed("typed two", 5))
    await kept.read()
    expect((await kept.rows()).map(({ turn }) => turn)).toEqual(["u1"])
  })
})

describe("the journal names every turn to which something happened:", () => {
  const entries = async (after = 0) =>
    (await kept.store.journal.after(after, 1000))
      .filter(({ kind }) => kind.startsWith("turns."))
      .map(({ kind, sessionId, data }) => ({ kind, sessionId, ...data }))
  /** What a consumer takes to be live that knows nothing but the journal. */
  const followed = async () => {
    const live = new Set<number>()
    for (const { kind, data } of await kept.store.journal.after(0, 1000))
      for (const seq of (data.seqs ?? []) as number[]) kind === "turns.kept" ? live.add(seq) : live.delete(seq)
    return [...live].sort((a, b) => a - b)
  }
  const isLive = async () => {
    const sessions = await kept.store.sessions.list({})
    const turns = await Promise.all(sessions.map(({ id }) => kept.store.turns.ofSession(id)))
    return turns
      .flat()
      .map(({ seq }) => seq)
      .sort((a, b) => a - b)
  }

  test("those kept, and among them those that were there before and read differently now", async () => {
    const source = `.gemini/tmp/app/chats/session-2026-08-16T08-00-9a1b.jsonl`
    const message = (id: string, text: string) => line({ id, timestamp: at(1), type: "user", content: [{ text }] })
    kept.write(source, line({ sessionId: "9a1b", startTime: at(0) }) + message("g1", "one") + message("g2", "two"))
    await kept.read()
    const { id } = (await session())!
    const seqs = (await kept.store.turns.ofSession(id)).map(({ seq }) => seq)
    expect(await entries()).toEqual([{ kind: "turns.kept", sessionId: id, seqs }])
    const last = await kept.store.journal.last()
    kept.append(source, message("g2", "two and more") + message("g3", "three"))
    await kept.read()
    const third = (await kept.store.turns.byNative(id, "g3"))!.seq
    expect(await entries(last)).toEqual([
      { kind: "turns.kept", sessionId: id, seqs: [seqs[1], third], changed: [seqs[1]] },
    ])
  })

  test("those rewound, and those of them that are repeated", async () => {
    const source = `.gemini/tmp/app/chats/session-2026-08-16T08-00-9a1b.jsonl`
    const message = (id: string, second: number) =>
      line({ id, timestamp: at(second), type: "user", content: [{ text: `text of ${id}` }] })
    kept.write(source, line({ sessionId: "9a1b", startTime: at(0) }) + message("g1", 1) + message("g2", 2))
    await kept.read()
    const { id } = (await session())!
    const [, g2] = (await kept.store.turns.ofSession(id)).map(({ seq }) => seq)
    let last = await kept.store.journal.last()
    kept.append(source, line({ $rewindTo: "g2" }))
    await kept.read()
    expect(await entries(last)).toEqual([{ kind: "turns.superseded", sessionId: id, seqs: [g2] }])
    expect(await followed()).toEqual(await isLive())
    last = await kept.store.journal.last()
    kept.append(source, message("g2", 2))
    await kept.read()
    expect(await entries(last)).toEqual([{ kind: "turns.kept", sessionId: id, seqs: [g2], changed: [g2] }])
    expect(await followed()).toEqual(await isLive())
  })

  test("those that a rewritten file no longer holds, session by session", async () => {
    const other = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c02"
    const first = said("u1", "one", "/w/app") + said("u2", "two", "/w/app", 2)
    kept.write(CLAUDE, first + said("v1", "three", "/w/app", 3, other) + said("v2", "four", "/w/app", 4, other))
    await kept.read()
    const last = await kept.store.journal.last()
    kept.write(CLAUDE, said("u1", "one", "/w/app") + said("v1", "three", "/w/app", 3, other))
    await kept.read()
    const gone = (await entries(last)).map(({ kind, ...entry }) => [kind, (entry as { seqs?: number[] }).seqs?.length])
    expect(gone).toEqual([
      ["turns.superseded", 1],
      ["turns.superseded", 1],
    ])
    expect(await followed()).toEqual(await isLive())
  })

  test("those of a fallback source that are replaced", async () => {
    kept.write(HISTORY, typed("typed one", 1))
    await kept.read()
    const { id } = (await session())!
    const poor = (await kept.store.turns.ofSession(id)).map(({ seq }) => seq)
    const last = await kept.store.journal.last()
    kept.write(CLAUDE, said("u1", "typed one", "/w/app"))
    await kept.read()
    const full = (await kept.store.turns.ofSession(id)).map(({ seq }) => seq)
    expect(await entries(last)).toEqual([
      { kind: "turns.dropped", sessionId: id, seqs: poor },
      { kind: "turns.kept", sessionId: id, seqs: full },
    ])
    expect(await followed()).toEqual(await isLive())
  })
})

describe("a fork of Claude Code, which says nothing of its original but has a copy of its turns,", () => {
  const ids = ["a", "b", "c"].map((end) => `5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c0${end}`)
  const [original, fork, forkOfFork] = ids as [string, string, string]
  const path = (id: string) => `.claude/projects/-w-app/${id}.jsonl`
  const turns = (sessionId: string, ...seconds: number[]) =>
    seconds.map((second) => said(`u${second}`, `said ${second}`, "/w/app", second, sessionId)).join("")
  /** As 2.1.197 and 2.1.325 begin their files: in print mode, and in a terminal. */
  const printing = (sessionId: string, second: number) =>
    line({ type: "queue-operation", operation: "enqueue", timestamp: at(second), sessionId })
  const typing = (second: number) =>
    line({
      type: "file-history-snapshot",
      messageId: `u${second}`,
      snapshot: { timestamp: at(second) },
      pad: "x".repeat(5000),
    })
  const files = {
    [original]: printing(original, 0) + turns(original, 1, 2, 3),
    [fork]: typing(10) + turns(fork, 1, 2, 10, 11),
    [forkOfFork]: printing(forkOfFork, 20) + turns(forkOfFork, 1, 2, 10, 20),
  }
  const parents = async () => {
    const found: Record<string, string[]> = {}
    for (const id of ids) {
      const session = await kept.store.sessions.byNative("claude-code", id)
      const edges = session ? await kept.store.sessions.edges(session.id) : []
      found[id] = edges.map(({ kind, parentNativeId }) => `${kind} ${parentNativeId}`)
    }
    return found
  }

  test("leads to it, and keeps what it began with", async () => {
    for (const [id, content] of Object.entries(files)) {
      kept.write(path(id), content)
      await kept.read()
      kept.restart()
    }
    expect(await parents()).toEqual({
      [original]: [],
      [fork]: [`fork ${original}`],
      [forkOfFork]: [`fork ${fork}`],
    })
    expect((await kept.rows()).filter(({ session }) => session === fork)).toHaveLength(4)
    expect((await kept.store.journal.after(0, 100)).filter(({ kind }) => kind === "session.edge")).toHaveLength(2)
  })

  test("leads to it also when it was read before it; nothing leads anywhere until then", async () => {
    kept.write(path(fork), files[fork]!)
    await kept.read()
    kept.restart()
    expect(await parents()).toEqual({ [original]: [], [fork]: [], [forkOfFork]: [] })
    kept.write(path(original), files[original]!)
    await kept.read()
    expect(await parents()).toMatchObject({ [original]: [], [fork]: [`fork ${original}`] })
    kept.append(path(original), turns(original, 4))
    kept.append(path(fork), turns(fork, 12))
    await kept.read()
    expect(await parents()).toMatchObject({ [original]: [], [fork]: [`fork ${original}`] })
  })

  test("leads to it where it begins with the compaction that the original comes to later", async () => {
    const compacted = (sessionId: string) =>
      line({ type: "system", subtype: "compact_boundary", uuid: "k", sessionId, timestamp: at(3), cwd: "/w/app" })
    kept.write(path(fork), printing(fork, 10) + compacted(fork) + turns(fork, 4, 10))
    await kept.read()
    kept.write(path(original), printing(original, 0) + turns(original, 1, 2))
    await kept.read()
    expect((await parents())[fork]).toEqual([])
    kept.append(path(original), compacted(original) + turns(original, 4))
    await kept.read()
    expect((await parents())[fork]).toEqual([`fork ${original}`])
  })
})

describe("a session", () => {
  test("begins with its first turn where nothing says when it began", async () => {
    const path = ".throughline/conversations/session-abc.jsonl"
    kept.write(path, line({ type: "exchange", timestamp: at(7), user: "a?", ai: "b!", session_id: "abc" }))
    await kept.read()
    expect(await session()).toMatchObject({ createdAtMs: Date.parse(at(7)), updatedAtMs: Date.parse(at(7)) })
  })
})
