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

describe("prompts from a poorer source", () => {
  test("are kept while there is nothing better, in whatever order the files are read", async () => {
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

describe("a session", () => {
  test("begins with its first turn where nothing says when it began", async () => {
    const path = ".throughline/conversations/session-abc.jsonl"
    kept.write(path, line({ type: "exchange", timestamp: at(7), user: "a?", ai: "b!", session_id: "abc" }))
    await kept.read()
    expect(await session()).toMatchObject({ createdAtMs: Date.parse(at(7)), updatedAtMs: Date.parse(at(7)) })
  })
})
