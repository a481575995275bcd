import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeArchive } from "../capture/store/archive.ts"
import type { Capture } from "../domain/capture.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeSessions, type SessionsModule } from "./module.ts"

const caller = { surface: "local", key: "me" } as const
let dir: string
let store: Store
let module: SessionsModule
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "forget-")))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  const ownFiles = { lineFolders: [join(dir, "logs")], copies: [] }
  module = makeSessions({ store, clock: { nowMs: () => 1_000 }, homeDir: dir, tempDir: join(dir, "temp"), ownFiles })
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const source = {
  platform: "claude-code",
  key: "k",
  path: "k",
  mode: "lines",
  inode: "",
  sizeBytes: 0,
  mtimeMs: 5,
  offset: 0,
  headHash: "",
  tailHash: "",
  memory: null,
  readAtMs: 0,
  lines: 0,
  skipped: {},
  unknown: 0,
  unreadable: 0,
  trouble: null,
} as const
const turn = (sessionId: string, nativeId: string, text: string, atMs: number): Capture => ({
  type: "turn",
  sessionId,
  nativeId,
  kind: "prompt",
  text,
  atMs,
})
const archive = () =>
  makeArchive({
    store,
    clock: { nowMs: () => 1_000 },
    rules: { redact: (text) => text, excluded: () => false, projectOf: async () => undefined },
  })
const bytes = () =>
  Buffer.concat(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
  )

describe("forgotten data is gone", () => {
  test("a session leaves nothing behind in any file, the write-ahead log included, and reading it again brings nothing back", async () => {
    const captures = Array.from({ length: 300 }, (_, n) =>
      turn("s1", `t${n}`, `zebrasecret number ${n} ${"x".repeat(500)}`, n),
    )
    await archive().keep({ captures: [...captures, turn("s2", "u1", "giraffestays", 1)], source })
    await module.thinking.record(caller, { thought: "zebrasecret in a thought", nextThoughtNeeded: true })
    expect(bytes().includes("zebrasecret")).toBe(true)

    const session = (await store.sessions.byNative("claude-code", "s1"))!
    expect(await module.forget.plan({ sessionId: session.id })).toMatchObject({ sessions: 1, turns: 300, thoughts: 0 })
    expect(await module.forget.forget({ sessionId: session.id })).toMatchObject({
      sessions: 1,
      turns: 300,
      thoughts: 0,
    })
    expect(await module.forget.forget({ containing: "zebrasecret" })).toMatchObject({
      sessions: 1,
      turns: 0,
      thoughts: 1,
    })
    expect(bytes().includes("zebrasecret")).toBe(false)
    expect(bytes().includes("giraffestays")).toBe(true)

    await archive().keep({ captures, source })
    expect(await store.sessions.byNative("claude-code", "s1")).toBeUndefined()
    expect(bytes().includes("zebrasecret")).toBe(false)
  })

  test("what an agent asked to be allowed goes with its session, and by its words", async () => {
    await archive().keep({ captures: [turn("s1", "a", "hello", 1)], source })
    const session = (await store.sessions.byNative("claude-code", "s1"))!
    const ask = (id: string, sessionId: typeof session.id | null) =>
      store.permissions.ask({
        ...{ id, sessionId, home: "here", asker: "web → api", team: "api", tool: "Bash", title: "Bash" },
        ...{ input: { command: `zebrasecret ${id}` }, suggestions: [], state: "waiting", always: null, reason: null },
        ...{ answeredBy: null, askedAtMs: 1, answeredAtMs: null, expiresAtMs: 2 },
        ...{ via: "process", questions: [], answers: {}, takenAtMs: null },
      })
    await ask("q1", session.id)
    await ask("q2", null)
    await store.audit.add({ atMs: 1, who: "me", what: "permission.allowed", data: { id: "q1", title: "zebrasecret" } })
    await module.forget.forget({ sessionId: session.id })
    expect((await store.permissions.waiting()).map(({ id }) => id)).toEqual(["q2"])
    expect(await store.audit.list({ limit: 9 })).toMatchObject([{ who: "me", data: { id: "q1", forgotten: true } }])
    await module.forget.forget({ containing: "zebrasecret" })
    expect(bytes().includes("zebrasecret")).toBe(false)
  })

  test("what only names it goes too: titles, branches, topics, what readers remember, our log and our own files", async () => {
    const memory = { lastPrompt: "zebrasecret again" }
    const described: Capture = {
      type: "session",
      sessionId: "s1",
      title: { text: "zebrasecret plan", from: "generated" },
      gitBranch: "fix/zebrasecret",
    }
    await archive().keep({ captures: [described, turn("s1", "a", "hello", 1)], source: { ...source, memory } })
    const session = (await store.sessions.byNative("claude-code", "s1"))!
    await store.topics.ensure({
      ...{ id: "t1", channel: "telegram", home: "here", chatId: "1", threadId: 1, sessionId: session.id },
      ...{
        name: "zebrasecret plan",
        state: "open",
        verbosity: "normal",
        isMuted: false,
        sharedThreadId: null,
        makingAtMs: null,
      },
      ...{ unconfirmed: 0, progressMessage: null, createdAtMs: 1, usedAtMs: 1 },
    })
    const logFile = join(dir, "shop", ".throughline", "conversations", "session-x.jsonl")
    mkdirSync(dirname(logFile), { recursive: true })
    writeFileSync(logFile, '{"user":"zebrasecret","session_id":"x"}\n{"user":"stays","session_id":"y"}\n')
    const own = { ...source, platform: "conversation-log", key: logFile, path: logFile }
    await archive().keep({ captures: [], source: own })
    mkdirSync(join(dir, "logs"))
    writeFileSync(join(dir, "logs", "a.log"), '{"msg":"zebrasecret"}\n{"msg":"stays"}\n')

    expect(await module.forget.plan({ containing: "zebrasecret" })).toMatchObject({ turns: 0, mentions: 4 })
    expect(await module.forget.forget({ containing: "zebrasecret" })).toMatchObject({ sessions: 0, left: [] })
    expect(bytes().includes("zebrasecret")).toBe(false)
    expect(readFileSync(logFile, "utf8")).toBe('{"user":"stays","session_id":"y"}\n')
    expect(readFileSync(join(dir, "logs", "a.log"), "utf8")).toBe('{"msg":"stays"}\n')
    expect(await store.sessions.byId(session.id)).toMatchObject({ gitBranch: "fix/[forgotten]" })
  })

  test("so does the name of a log that goes with its last line; one that is still there keeps it, and what comes back stays away", async () => {
    const folder = join(dir, "shop", ".throughline", "conversations")
    mkdirSync(folder, { recursive: true })
    const own = (name: string) => {
      const path = join(folder, name)
      return { ...source, platform: "conversation-log", key: path, path, memory: { fileName: name } }
    }
    const gone = own("session-zebrasecret.jsonl")
    const line = '{"user":"zebrasecret","session_id":"x"}\n'
    writeFileSync(gone.path, line)
    const captures = [turn("x", "a", "zebrasecret", 1)]
    await archive().keep({ captures, source: gone })
    // Named by one that was forgotten before its name was taken out.
    await archive().keep({ captures: [], source: own("zebrasecret-long-gone.jsonl") })
    expect(await module.forget.forget({ containing: "zebrasecret" })).toMatchObject({ sessions: 1, left: [] })
    expect(bytes().includes("zebrasecret")).toBe(false)
    const looks = await store.sources.looks()
    expect(looks.map(({ key, path }) => [key, path])).toEqual(
      Array(2).fill(Array(2).fill(expect.stringMatching(/^forgotten:\d+$/))),
    )

    writeFileSync(gone.path, line)
    await archive().keep({ captures, source: gone })
    expect(await store.sessions.byNative("conversation-log", "x")).toBeUndefined()

    const stays = own("zebrasecret-stays.jsonl")
    writeFileSync(stays.path, '{"user":"hello","session_id":"y"}\n')
    await archive().keep({ captures: [], source: stays })
    await module.forget.forget({ containing: "zebrasecret" })
    expect(await store.sources.byKey("conversation-log", stays.key)).toMatchObject({ path: stays.path })
    expect(await store.sources.byKey("conversation-log", gone.key), "gone a second time").toBeUndefined()
  })

  test("so does the id that an agent logged under, when other turns of that session are left", async () => {
    const path = join(dir, "shop", ".throughline", "conversations", "session-my-zebrasecret.jsonl")
    const log = { ...source, platform: "conversation-log", key: path, path }
    const captures = [turn("my-zebrasecret", "a", "zebrasecret", 1), turn("my-zebrasecret", "b", "hello", 2)]
    await archive().keep({ captures, source: log })
    expect(await module.forget.forget({ containing: "zebrasecret" })).toMatchObject({ sessions: 0, turns: 1, left: [] })
    expect(bytes().includes("zebrasecret")).toBe(false)
    const left = (await store.sessions.list({})).find(({ platform }) => platform === "conversation-log")
    expect(left).toMatchObject({ turnCount: 1, nativeId: `forgotten:${left!.id}` })
  })

  test("a log that a repository made a link is left alone", async () => {
    const victim = join(dir, "victim.txt")
    writeFileSync(victim, "zebrasecret of somebody else\n")
    const logFile = join(dir, "shop", ".throughline", "conversations", "session-x.jsonl")
    mkdirSync(dirname(logFile), { recursive: true })
    symlinkSync(victim, logFile)
    await archive().keep({
      captures: [],
      source: { ...source, platform: "conversation-log", key: logFile, path: logFile },
    })
    await module.forget.forget({ containing: "zebrasecret" })
    expect(readFileSync(victim, "utf8")).toBe("zebrasecret of somebody else\n")
  })

  test("a time takes its turns only, and they stay away", async () => {
    const captures = [turn("s", "a", "monday", 10), turn("s", "b", "tuesday", 20), turn("s", "c", "wednesday", 30)]
    await archive().keep({ captures, source })
    expect(await module.forget.forget({ sinceMs: 15, untilMs: 25 })).toMatchObject({
      sessions: 0,
      turns: 1,
      thoughts: 0,
    })
    await archive().keep({ captures, source })
    const session = (await store.sessions.byNative("claude-code", "s"))!
    expect((await store.turns.ofSession(session.id)).map(({ text }) => text)).toEqual(["monday", "wednesday"])
    expect(session).toMatchObject({ turnCount: 2, promptCount: 2 })
    expect(bytes().includes("tuesday")).toBe(false)
  })

  test("the journal says that something is gone and not what, to consumers that were past all that was deleted too", async () => {
    await archive().keep({ captures: [turn("s1", "a", "stays", 1)], source })
    await archive().keep({ captures: [turn("s2", "b", "zebrasecret", 1)], source })
    const last = await store.journal.last()
    const gone = (await store.sessions.byNative("claude-code", "s2"))!
    await module.forget.forget({ sessionId: gone.id })
    expect(await store.journal.after(last, 10)).toMatchObject([
      { kind: "turns.forgotten", sessionId: null, projectId: null, data: {} },
    ])
    expect((await store.journal.after(0, 100)).filter(({ sessionId }) => sessionId === gone.id)).toEqual([])
    const second = await store.journal.last()
    await module.forget.forget({ containing: "stays" })
    expect((await store.journal.after(second, 10)).map(({ kind }) => kind)).toEqual(["turns.forgotten"])
  })
})
