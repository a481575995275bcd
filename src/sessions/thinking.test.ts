import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import type { Caller } from "../domain/caller.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeSessions, type SessionsModule } from "./module.ts"
import type { ThoughtInput } from "./thinking.ts"

let top: string
let store: Store
let module: SessionsModule
let agent: Caller
beforeEach(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-thinking-")))
  mkdirSync(join(top, "app"))
  store = await openStore(sqlite({ path: join(top, "throughline.db") }))
  module = makeSessions({ store, clock: { nowMs: () => 1 }, homeDir: join(top, "home"), tempDir: join(top, "temp") })
  agent = { surface: "mcp", key: "agent", cwd: join(top, "app") }
})
afterEach(async () => {
  await store.close()
  rmSync(top, { recursive: true, force: true })
})

const think = (input: Partial<ThoughtInput> = {}, caller = agent) =>
  module.thinking.record(caller, { thought: "a step", nextThoughtNeeded: true, ...input })
const numberOf = async (input: Partial<ThoughtInput> = {}) => (await think(input)).thought.number
const thinkTimes = async (count: number) => {
  for (let time = 0; time < count; time++) await think()
}

describe("numbers", () => {
  test("are assigned in order when none is requested", async () => {
    expect([await numberOf(), await numberOf(), await numberOf()]).toEqual([1, 2, 3])
  })

  test("may leave a gap, are counted on from there, and may fill the gap later", async () => {
    expect(await numberOf({ thoughtNumber: 5 })).toBe(5)
    expect(await numberOf()).toBe(6)
    expect((await think({ thoughtNumber: 3 })).thought).toMatchObject({ number: 3, renumberedFrom: null })
    expect(await numberOf()).toBe(7)
  })

  test(proves("thought.never-overwritten"), async () => {
    await think({ thought: "the first", thoughtNumber: 1 })
    await think({ thought: "the second", thoughtNumber: 2 })
    const { thought, thoughtCount, session } = await think({ thought: "another first", thoughtNumber: 1 })
    expect(thought).toMatchObject({ number: 3, renumberedFrom: 1 })
    expect(thoughtCount).toBe(3)
    const kept = await store.thoughts.all(session.id)
    expect(kept.map(({ number, text }) => [number, text])).toEqual([
      [1, "the first"],
      [2, "the second"],
      [3, "another first"],
    ])
  })

  test(proves("thought.colliding-writers"), async () => {
    const { id } = await module.recovery.startNew(agent, {})
    const writers = Array.from({ length: 20 }, (_, index) => ({ ...agent, key: `writer ${index}` }))
    const written = await Promise.all(
      writers.map((writer) => think({ sessionId: id, thoughtNumber: 1, thought: `by ${writer.key}` }, writer)),
    )
    expect(written.map(({ thought }) => thought.number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
    const kept = await store.thoughts.all(id)
    expect(new Set(kept.map((thought) => thought.text)).size).toBe(20)
    expect(kept.filter((thought) => thought.renumberedFrom === 1)).toHaveLength(19)
  })

  test("the total is never below the number", async () => {
    expect((await think({ thoughtNumber: 7, totalThoughts: 5 })).thought.totalThoughts).toBe(7)
    expect((await think({ totalThoughts: 20 })).thought.totalThoughts).toBe(20)
    expect((await think()).thought.totalThoughts).toBe(9)
  })
})

describe("branches", () => {
  beforeEach(() => thinkTimes(5))
  const onBranch = (input: Partial<ThoughtInput> = {}) => think({ branchId: "b", branchFromThought: 3, ...input })

  test("begin after the thought they leave and count on by themselves", async () => {
    expect((await onBranch()).thought).toMatchObject({ number: 4, branchId: "b", branchFromThought: 3 })
    expect((await onBranch()).thought.number).toBe(5)
    expect(await numberOf()).toBe(6)
  })

  test("two of them may hold the same numbers", async () => {
    await onBranch({ thoughtNumber: 4 })
    expect((await think({ branchId: "c", branchFromThought: 3, thoughtNumber: 4 })).thought).toMatchObject({
      number: 4,
      renumberedFrom: null,
    })
  })

  test("a number taken on the branch is renumbered there", async () => {
    await onBranch({ thoughtNumber: 4 })
    await onBranch({ thoughtNumber: 9 })
    expect((await onBranch({ thoughtNumber: 4 })).thought).toMatchObject({ number: 10, renumberedFrom: 4 })
  })

  test("leave a thought of the main line that exists", async () => {
    await expect(think({ branchId: "b", branchFromThought: 6 })).rejects.toMatchObject({
      code: "thought_not_found",
      message: "branchFromThought 6 is not a thought of this session",
    })
  })

  test("keep leaving the thought that they left first", async () => {
    await onBranch()
    await expect(onBranch({ branchFromThought: 2 })).rejects.toMatchObject({
      code: "bad_input",
      message: 'branch "b" leaves thought 3, not 2: give that number, or another branchId',
      data: { parameter: "branchFromThought" },
    })
  })
})

describe("revisions", () => {
  beforeEach(() => thinkTimes(3))

  test("are thoughts of their own; what they revise stays", async () => {
    const { thought, session } = await think({ thought: "better", isRevision: true, revisesThought: 2 })
    expect(thought).toMatchObject({ number: 4, isRevision: true, revisesThought: 2 })
    expect((await store.thoughts.at(session.id, null, 2))?.text).toBe("a step")
  })

  test("are marked as such when only what they revise is given", async () => {
    expect((await think({ revisesThought: 1 })).thought.isRevision).toBe(true)
  })

  test("on a branch may revise a thought of the branch or of the main line", async () => {
    const branch = { branchId: "b", branchFromThought: 3 }
    await think({ ...branch, thoughtNumber: 8 })
    expect((await think({ ...branch, revisesThought: 8 })).thought.revisesThought).toBe(8)
    expect((await think({ ...branch, revisesThought: 1 })).thought.revisesThought).toBe(1)
    await expect(think({ revisesThought: 8 })).rejects.toMatchObject({ code: "thought_not_found" })
  })
})

describe("an incomplete input is refused with the missing parameter", () => {
  test.each([
    [{ branchId: "b" }, "branchFromThought", 'branchId "b" needs branchFromThought'],
    [{ branchFromThought: 2 }, "branchId", "branchFromThought 2 needs branchId"],
    [{ isRevision: true }, "revisesThought", "isRevision needs revisesThought"],
  ])("%j lacks %s", async (input, parameter, message) => {
    await expect(think(input)).rejects.toMatchObject({
      code: "bad_input",
      message: expect.stringContaining(message),
      data: { parameter },
    })
    expect(await store.sessions.list({})).toEqual([])
  })
})

describe("the session of a thought", () => {
  test("is started with the first one, named by its first sentence, and used by the next ones", async () => {
    const first = await think({ thought: "Look at src/app.ts v1.2 first. Then at the tests." })
    expect(first).toMatchObject({ startedSession: true, session: { title: "Look at src/app.ts v1.2 first" } })
    expect(await think()).toMatchObject({ startedSession: false, session: { id: first.session.id } })
  })

  test.each([
    ["one line\nand another", "one line"],
    [`${"long ".repeat(30)}`, `${"long ".repeat(15)}long…`],
    ["Why? Because.", "Why"],
    [" \n ", "Session of 1970-01-01 00:00"],
  ])("%j names it %j", async (thought, title) => {
    expect((await think({ thought })).session.title).toBe(title)
  })

  test("is the one named, which is then the caller's current one", async () => {
    const { id } = await module.recovery.startNew({ ...agent, key: "other" }, { title: "named" })
    expect((await think({ sessionId: id })).session.id).toBe(id)
    expect((await think()).session.id).toBe(id)
  })

  test("must be named by a caller that cannot be distinguished", async () => {
    const { key: _, ...keyless } = agent
    await expect(think({}, keyless)).rejects.toMatchObject({ code: "session_needed" })
    const { id } = await module.recovery.startNew(keyless, {})
    expect((await think({ sessionId: id }, keyless)).session.id).toBe(id)
    await expect(think({}, keyless)).rejects.toMatchObject({ code: "session_needed" })
  })

  test("that does not exist is refused by its id", async () => {
    await expect(think({ sessionId: "nowhere" })).rejects.toMatchObject({
      code: "session_not_found",
      message: "Session nowhere not found",
    })
  })

  test("an archived one comes back with the thought", async () => {
    const { session } = await think()
    await module.edits.archive(session.id, true)
    await think()
    expect((await store.sessions.byId(session.id))?.archivedAtMs).toBeNull()
  })

  test.each([
    ["a branch of nothing", { branchId: "b", branchFromThought: 10 }],
    ["a revision of nothing", { revisesThought: 10 }],
  ])("is not made for %s: an empty one would hide the one that was meant", async (_, input) => {
    await module.recovery.startNew({ ...agent, key: "before the restart" }, { title: "meant" })
    await expect(think(input)).rejects.toMatchObject({ code: "thought_not_found" })
    expect((await store.sessions.list({})).map((session) => session.title)).toEqual(["meant"])
  })
})

describe("a call made twice under one key", () => {
  test(proves("thought.once-per-key"), async () => {
    const keyed = { ...agent, idempotencyKey: "call 1" }
    const [first, again] = [await think({}, keyed), await think({}, keyed)]
    expect(again.thought).toEqual(first.thought)
    expect(again).toMatchObject({ session: { id: first.session.id }, thoughtCount: 1 })
    expect(await store.sessions.list({})).toHaveLength(1)
  })

  test("is done once also when both come at the same moment", async () => {
    const { id: sessionId } = await module.recovery.startNew(agent, {})
    const keyed = { ...agent, idempotencyKey: "call 1" }
    const [first, again] = await Promise.all([think({ sessionId }, keyed), think({ sessionId }, keyed)])
    expect(again.thought).toEqual(first.thought)
    expect(await store.thoughts.all(sessionId)).toHaveLength(1)
  })

  test("answers with the session that the thought is in, although the caller moved on", async () => {
    const keyed = { ...agent, idempotencyKey: "call 1" }
    const first = await think({}, keyed)
    await module.recovery.startNew(agent, { title: "moved on" })
    expect((await think({}, keyed)).session.id).toBe(first.session.id)
  })
})

test("each thought is one journal entry that names it", async () => {
  const { thought, session } = await think()
  const entries = await store.journal.after(0, 10)
  expect(entries.map((entry) => entry.kind)).toEqual(["session.started", "thought.recorded"])
  expect(entries[1]).toMatchObject({
    sessionId: session.id,
    projectId: (await store.sessions.byId(session.id))?.projectId,
    data: { seq: thought.seq, number: 1, branchId: null },
  })
})

test("a secret in a thought, in a branch's name, a title or a tag is not stored", async () => {
  const redact = (text: string) => text.replaceAll("hunter2", "[redacted:password]")
  const careful = makeSessions({ store, clock: { nowMs: () => 1 }, homeDir: top, tempDir: top, redact })
  const me = { surface: "local", key: "careful" } as const
  const { thought, session } = await careful.thinking.record(me, { thought: "it is hunter2", nextThoughtNeeded: true })
  expect(thought.text).toBe("it is [redacted:password]")
  expect(session.title).toBe("it is [redacted:password]")
  const renamed = await careful.edits.rename(session.id, { title: "hunter2", tags: ["hunter2"] })
  expect(renamed).toMatchObject({ title: "[redacted:password]", tags: ["[redacted:password]"] })
  const named = await careful.recovery.startNew(me, { title: "hunter2", tags: ["hunter2"] })
  expect(named).toMatchObject({ title: "[redacted:password]", tags: ["[redacted:password]"] })
})
