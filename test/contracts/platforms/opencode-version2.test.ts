import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import Database from "better-sqlite3"
import { expect, onTestFinished, test } from "vitest"
import { opencode } from "../../../src/agents/opencode/records.ts"
import { opencodeDatabase } from "../../../src/agents/shared/opencode/database.ts"
import type { Capture } from "../../../src/domain/capture.ts"
import { platformContract } from "../platform.ts"

const T = 1_785_571_200_000
const DB = ".local/share/opencode/opencode.db"
const MODEL = { id: "m1", providerID: "p" }

/** With the columns that are read, and some of the others that opencode 2.0 has. */
class Store {
  readonly db: Database.Database
  #seq = 0
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true })
    this.db = new Database(path)
    this.db.pragma("journal_mode = WAL")
    this.db.exec(`
      CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text, parent_id text, fork_session_id text, slug text,
        directory text NOT NULL, title text, version text NOT NULL, cost real, revert text, model text,
        time_created integer NOT NULL, time_updated integer NOT NULL, time_idle integer);
      CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL,
        seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);`)
  }
  session(id: string, more: { parent?: string; title?: string; at?: number; updated?: number; revert?: object } = {}) {
    const { parent = null, title = null, at = T, updated = at, revert } = more
    this.db
      .prepare(
        `INSERT OR REPLACE INTO session_v2 (id, parent_id, directory, title, version, revert, time_created, time_updated)
         VALUES (?, ?, '/home/mia/shop', ?, '2.0.15', ?, ?, ?)`,
      )
      .run(id, parent, title, revert ? JSON.stringify(revert) : null, at, updated)
    return this
  }
  message(sessionId: string, id: string, type: string, data: object, at = T, updated = at) {
    this.db
      .prepare("INSERT OR REPLACE INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(id, sessionId, type, this.#seq++, at, updated, JSON.stringify({ time: { created: at }, ...data }))
    return this
  }
  /** As version 1 has them, with one message of one part each. */
  old(sessionId: string, said: [id: string, role: string, text: string, at: number][]) {
    this.db.exec(`
      CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, parent_id text, directory text, title text, version text,
        revert text, time_created integer, time_updated integer);
      CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text, time_created integer,
        time_updated integer, data text);
      CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
        time_updated integer, data text);`)
    const last = said.at(-1)![3]
    this.db
      .prepare("INSERT OR REPLACE INTO session VALUES (?, NULL, '/home/mia/shop', 'Old', '1.18.33', NULL, ?, ?)")
      .run(sessionId, T, last)
    for (const [id, role, text, at] of said) {
      this.db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(id, sessionId, at, at, JSON.stringify({ role }))
      this.db
        .prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)")
        .run(id.replace("msg", "prt"), id, sessionId, at, at, JSON.stringify({ type: "text", text }))
    }
    return this
  }
  close() {
    this.db.close()
  }
}

const tool = (id: string, name: string, state: object, time: object = { created: T + 2000 }) => ({
  type: "tool",
  ...{ id, name, state, time },
})

function conversation(path: string): void {
  new Store(path)
    .session("ses_9", { title: "Fix the watcher", updated: T + 9000 })
    .message("ses_9", "msg_01", "user", { text: "Fix the watcher", files: [] })
    .message("ses_9", "msg_02", "synthetic", { text: "The file a.ts holds …" })
    .message("ses_9", "msg_03", "model-switched", { model: MODEL })
    .message("ses_9", "msg_04", "assistant", {
      agent: "build",
      model: MODEL,
      content: [
        { type: "reasoning", text: "Look first", time: { created: T + 1500 } },
        { type: "text", text: "I will test." },
        tool(
          "c1",
          "shell",
          { status: "completed", input: { command: "npm test" }, content: [{ type: "text", text: "ok\n" }] },
          { created: T + 2500, ran: T + 3000, completed: T + 4000 },
        ),
        tool("c2", "read", { status: "error", input: { path: "x" }, error: { type: "t", message: "File not found" } }),
        tool("c3", "edit", { status: "streaming", input: "{" }),
      ],
      tokens: { input: 10, output: 5, reasoning: 1, cache: { read: 2, write: 0 } },
      cost: 0.25,
      time: { created: T + 1000, completed: T + 5000 },
    })
    .message("ses_9", "msg_05", "shell", {
      shellID: "sh1",
      command: "git status",
      status: "exited",
      exit: 0,
      output: { output: "clean" },
      time: { created: T + 6000, completed: T + 6100 },
    })
    .message("ses_9", "msg_06", "compaction", { status: "running", reason: "auto", summary: "Go", recent: "" })
    .message("ses_9", "msg_07", "compaction", { status: "completed", reason: "auto", summary: "Goal: the watcher" })
    .message("ses_9", "msg_08", "hologram", {})
    .session("ses_5", { parent: "ses_9", at: T + 4000, updated: T + 4000 })
    .message("ses_5", "msg_21", "user", { text: "Count the callers" }, T + 4000)
    .close()
}

platformContract(opencode, [
  {
    name: "a database of version 2 with everything in it",
    files: (homeDir) => conversation(join(homeDir, DB)),
    skipped: ["synthetic", "model-switched", "unfinished compaction", "hologram"],
    expected: {
      ses_9: {
        session: {
          projectPath: "/home/mia/shop",
          title: { text: "Fix the watcher", from: "generated" },
          agentVersion: "2.0.15",
          startedAtMs: T,
          model: "m1",
        },
        turns: [
          { nativeId: "msg_01", kind: "prompt", text: "Fix the watcher", atMs: T },
          { nativeId: "msg_04:0", kind: "reasoning", text: "Look first", atMs: T + 1500, model: "m1" },
          {
            nativeId: "msg_04:1",
            kind: "reply",
            text: "I will test.",
            usage: { inputTokens: 10, outputTokens: 6, cachedTokens: 2, costUsd: 0.25 },
          },
          {
            nativeId: "msg_04:c1",
            kind: "tool_call",
            text: '{"command":"npm test"}',
            toolName: "shell",
            toolCallId: "c1",
            atMs: T + 3000,
          },
          { nativeId: "msg_04:c1:result", kind: "tool_result", text: "ok\n", toolCallId: "c1", atMs: T + 4000 },
          { nativeId: "msg_04:c2", kind: "tool_call", text: '{"path":"x"}', toolName: "read" },
          { nativeId: "msg_04:c2:result", kind: "tool_result", text: "File not found", isError: true },
          { nativeId: "msg_05", kind: "tool_call", text: '{"command":"git status"}', toolName: "shell" },
          { nativeId: "msg_05:result", kind: "tool_result", text: "clean" },
          { nativeId: "msg_07", kind: "reset", text: "Compacted by itself" },
          { nativeId: "msg_07:summary", kind: "summary", text: "Goal: the watcher" },
        ],
      },
      ses_5: {
        session: { parent: { sessionId: "ses_9", kind: "subagent" } },
        turns: [{ nativeId: "msg_21", kind: "prompt", text: "Count the callers", atMs: T + 4000 }],
      },
    },
  },
  {
    name: "both versions in one database, with what version 2 copied, what it added, and what version 1 went on with",
    files: (homeDir) =>
      new Store(join(homeDir, DB))
        .old("ses_9", [
          ["msg_01", "user", "Paint the boat", T],
          ["msg_02", "assistant", "Blue?", T + 1],
        ])
        .old("ses_7", [["msg_31", "user", "Only in version 1", T + 9]])
        .session("ses_9", { title: "The boat", updated: T + 5000 })
        .message("ses_9", "msg_01", "user", { text: "Paint the boat" })
        .message("ses_9", "msg_02", "assistant", { model: MODEL, content: [{ type: "text", text: "Blue?" }] }, T + 1)
        .message("ses_9", "msg_03", "user", { text: "Yes, blue" }, T + 5000)
        .session("ses_8", { updated: T + 6000 })
        .message("ses_8", "msg_41", "user", { text: "Only in version 2" }, T + 6000)
        .close(),
    expected: {
      ses_9: {
        session: { title: { text: "The boat", from: "generated" }, agentVersion: "2.0.15" },
        turns: [
          { nativeId: "prt_01", kind: "prompt", text: "Paint the boat" },
          { nativeId: "prt_02", kind: "reply", text: "Blue?" },
          { nativeId: "msg_03", kind: "prompt", text: "Yes, blue" },
        ],
      },
      ses_8: { turns: [{ nativeId: "msg_41", text: "Only in version 2" }] },
      ses_7: { turns: [{ nativeId: "prt_31", text: "Only in version 1" }] },
    },
  },
])

function temporary(): string {
  const dir = mkdtempSync(join(tmpdir(), "opencode-"))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return join(dir, "opencode.db")
}
const said = (captures: Iterable<Capture>) =>
  [...captures].flatMap((capture) => (capture.type === "turn" ? [`${capture.nativeId} ${capture.text}`] : []))

test("only what changed is read again, also a message that is still being written", async () => {
  const path = temporary()
  const store = new Store(path).session("ses_9").message("ses_9", "msg_01", "user", { text: "Paint" }, T - 60_000)
  const assistant = (text: string) => ({ model: MODEL, content: [{ type: "text", text }] })
  store.message("ses_9", "msg_02", "assistant", assistant("Bl"), T)
  const first = await opencodeDatabase.read(path, null)
  expect(said(first.captures)).toEqual(["msg_01 Paint", "msg_02:0 Bl"])
  const second = await opencodeDatabase.read(path, first.cursor)
  store.session("ses_9", { updated: T + 60_000 })
  store.message("ses_9", "msg_02", "assistant", assistant("Blue"), T, T + 60_000)
  const third = await opencodeDatabase.read(path, JSON.parse(JSON.stringify(second.cursor)))
  expect(said(third.captures)).toEqual(["msg_02:0 Blue"])
  store.close()
})

test("what was read before an upgrade is not kept twice when version 2 has dropped the old tables", async () => {
  const path = temporary()
  const store = new Store(path).old("ses_9", [["msg_01", "user", "Paint the boat", T]])
  const first = await opencodeDatabase.read(path, null)
  expect(said(first.captures)).toEqual(["prt_01 Paint the boat"])
  store.session("ses_9", { updated: T + 90_000 }).message("ses_9", "msg_01", "user", { text: "Paint the boat" }, T)
  store.message("ses_9", "msg_02", "user", { text: "And the oars" }, T + 90_000)
  store.db.exec("DROP TABLE session; DROP TABLE message; DROP TABLE part")
  const second = await opencodeDatabase.read(path, first.cursor)
  expect(said(second.captures)).toEqual(["msg_02 And the oars"])
  store.close()
})

test("a fork leads to the session that it was made of, and what it copied counts there alone", async () => {
  const path = temporary()
  const answer = (text: string, input: number) => ({
    ...{ agent: "build", model: MODEL, content: [{ type: "text", text }], cost: 1 },
    tokens: { input, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
  })
  const done = (at: number) => ({ time: { created: at, completed: at + 1 } })
  const store = new Store(path)
    .session("ses_9")
    .message("ses_9", "msg_01", "user", { text: "Paint" })
    .message("ses_9", "msg_02", "assistant", { ...answer("Blue?", 10), ...done(T + 1) }, T + 1)
    .session("ses_5", { at: T + 5000 })
    .message("ses_5", "msg_51", "user", { text: "Paint" })
    .message("ses_5", "msg_52", "assistant", { ...answer("Blue?", 10), ...done(T + 1) }, T + 1)
    .message("ses_5", "msg_53", "assistant", { ...answer("Or red", 20), ...done(T + 6000) }, T + 6000)
  store.db.prepare("UPDATE session_v2 SET fork_session_id = 'ses_9' WHERE id = 'ses_5'").run()
  const captures = [...(await opencodeDatabase.read(path, null)).captures]
  const session = captures.find((capture) => capture.type === "session" && capture.sessionId === "ses_5")
  expect(session).toMatchObject({ parent: { sessionId: "ses_9", kind: "fork" } })
  const turns = captures.flatMap((capture) => (capture.type === "turn" ? [capture] : []))
  expect(turns.filter(({ sessionId }) => sessionId === "ses_5").map(({ text }) => text)).toEqual([
    ...["Paint", "Blue?", "Or red"],
  ])
  expect(turns.flatMap(({ usage }) => usage?.inputTokens ?? []).toSorted()).toEqual([10, 20])
  store.close()
})

test("what is undone in version 2 is taken back", async () => {
  const path = temporary()
  const store = new Store(path)
    .session("ses_9", { revert: { messageID: "msg_02" } })
    .message("ses_9", "msg_01", "user", { text: "Paint" })
    .message("ses_9", "msg_02", "user", { text: "No, wait" }, T + 1)
  const { captures } = await opencodeDatabase.read(path, null)
  expect([...captures].at(-1)).toEqual({ type: "rewind", sessionId: "ses_9", fromNativeId: "msg_02" })
  store.close()
})

test("a database without any table that is known says so, and one that is only being made does not", async () => {
  const path = temporary()
  const db = new Database(path)
  db.exec("CREATE TABLE migration (id)")
  expect(said((await opencodeDatabase.read(path, null)).captures)).toEqual([])
  db.exec("CREATE TABLE conversation (id); CREATE TABLE utterance (id); CREATE TABLE account (id)")
  await expect(opencodeDatabase.read(path, null)).rejects.toThrow(
    /no table in it is known: it has account, conversation/,
  )
  db.close()
})
