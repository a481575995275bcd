import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { opencode } from "../../../src/agents/opencode/records.ts"
import { ForeignDbBusy, withForeignDb } from "../../../src/agents/shared/records/foreign-sqlite.ts"
import type { Capture } from "../../../src/domain/capture.ts"
import type { DatabaseReader } from "../../../src/domain/platform.ts"
import { platformContract } from "../platform.ts"

/** The columns that are read, as opencode 1.18 makes them. */
const TABLES = `
  CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
  CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, time_created integer NOT NULL,
    time_updated integer NOT NULL);
  CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
  CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
  CREATE INDEX part_session_idx ON part (session_id);
  CREATE INDEX part_message_id_id_idx ON part (message_id, id);
  CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);`

const T = 1_785_571_200_000
const USER = { role: "user", time: { created: T }, agent: "build", model: { providerID: "x", modelID: "m1" } }
const ASSISTANT = {
  role: "assistant",
  parentID: "msg_01",
  modelID: "m1",
  providerID: "x",
  path: { cwd: "/home/mia/shop", root: "/" },
  cost: 0.25,
  tokens: { input: 10, output: 5, reasoning: 1, cache: { read: 2, write: 0 } },
  time: { created: T + 1000, completed: T + 9000 },
}
const TOOL = {
  type: "tool",
  tool: "bash",
  callID: "c1",
  state: {
    status: "completed",
    input: { command: "npm test" },
    output: "ok\n",
    title: "npm test",
    metadata: {},
    time: { start: T + 3000, end: T + 4000 },
  },
}

class Store {
  readonly #db: Database.Database
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true })
    const isNew = !existsSync(path)
    this.#db = new Database(path)
    this.#db.pragma("journal_mode = WAL")
    if (isNew) this.#db.exec(TABLES)
  }
  session(id: string, more: { title?: string; parent?: string; revert?: object | null; updated?: number } = {}): this {
    this.#db
      .prepare("INSERT OR REPLACE INTO session VALUES (?, 'p1', ?, 'slug', '/home/mia/shop', ?, '1.18.33', ?, ?, ?)")
      .run(
        id,
        more.parent ?? null,
        more.title ?? "New session - 2026-08-01T10:00:00.000Z",
        more.revert ? JSON.stringify(more.revert) : null,
        T,
        more.updated ?? T,
      )
    return this
  }
  message(sessionId: string, id: string, data: object, at: number, updated = at): this {
    this.#db
      .prepare("INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)")
      .run(id, sessionId, at, updated, JSON.stringify(data))
    return this
  }
  part(sessionId: string, messageId: string, id: string, data: object, at: number, updated = at): this {
    this.#db
      .prepare("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)")
      .run(id, messageId, sessionId, at, updated, JSON.stringify(data))
    return this
  }
  close(): void {
    this.#db.close()
  }
}

const text = (value: string, more: object = {}) => ({ type: "text", text: value, ...more })

function conversation(path: string): void {
  new Store(path)
    .session("ses_9", { title: "Fix the watcher", updated: T + 9000 })
    .message("ses_9", "msg_01", USER, T)
    .part("ses_9", "msg_01", "prt_01", text("Fix the watcher"), T + 10)
    .part("ses_9", "msg_01", "prt_02", text("The file a.ts holds …", { synthetic: true }), T + 20)
    .part("ses_9", "msg_01", "prt_03", { type: "file", mime: "text/plain", url: "file:///a.ts" }, T + 30)
    .message("ses_9", "msg_02", ASSISTANT, T + 1000)
    .part("ses_9", "msg_02", "prt_04", { type: "step-start" }, T + 1000)
    .part("ses_9", "msg_02", "prt_05", { type: "reasoning", text: "Look first", time: { start: T + 1500 } }, T + 1500)
    .part("ses_9", "msg_02", "prt_06", text("I will test.", { time: { start: T + 2000 } }), T + 2000)
    .part("ses_9", "msg_02", "prt_07", TOOL, T + 2500)
    .part("ses_9", "msg_02", "prt_08", { type: "step-finish", tokens: {}, cost: 0 }, T + 5000)
    .message("ses_9", "msg_03", { ...ASSISTANT, time: { created: T + 6000 } }, T + 6000)
    .part(
      "ses_9",
      "msg_03",
      "prt_09",
      {
        type: "tool",
        tool: "read",
        callID: "c2",
        state: { status: "error", input: { filePath: "x" }, error: "File not found", time: { start: T, end: T + 1 } },
      },
      T + 6000,
    )
    .part(
      "ses_9",
      "msg_03",
      "prt_10",
      { type: "tool", tool: "edit", callID: "c3", state: { status: "pending" } },
      T + 6500,
    )
    .message("ses_9", "msg_04", USER, T + 7000)
    .part("ses_9", "msg_04", "prt_11", { type: "compaction", auto: true }, T + 7000)
    .message("ses_9", "msg_05", { ...ASSISTANT, summary: true }, T + 8000)
    .part("ses_9", "msg_05", "prt_12", text("Goal: the watcher"), T + 8000)
    .session("ses_5", { parent: "ses_9", updated: T + 5000 })
    .message("ses_5", "msg_21", USER, T + 4000)
    .part("ses_5", "msg_21", "prt_21", { type: "subtask", prompt: "Count the callers", agent: "explore" }, T + 4000)
    .close()
}

const CONVERSATION = {
  ses_9: {
    session: {
      projectPath: "/home/mia/shop",
      title: { text: "Fix the watcher", from: "generated" as const },
      agentVersion: "1.18.33",
      startedAtMs: T,
      model: "m1",
    },
    turns: [
      { nativeId: "prt_01", kind: "prompt" as const, text: "Fix the watcher", atMs: T },
      { nativeId: "prt_05", kind: "reasoning" as const, text: "Look first", atMs: T + 1500, model: "m1" },
      {
        nativeId: "prt_06",
        kind: "reply" as const,
        text: "I will test.",
        atMs: T + 2000,
        usage: { inputTokens: 10, outputTokens: 6, cachedTokens: 2, costUsd: 0.25 },
      },
      {
        nativeId: "prt_07",
        kind: "tool_call" as const,
        text: '{"command":"npm test"}',
        toolName: "bash",
        toolCallId: "c1",
        atMs: T + 3000,
      },
      { nativeId: "prt_07:result", kind: "tool_result" as const, text: "ok\n", toolCallId: "c1", atMs: T + 4000 },
      { nativeId: "prt_09", kind: "tool_call" as const, text: '{"filePath":"x"}', toolName: "read" },
      { nativeId: "prt_09:result", kind: "tool_result" as const, text: "File not found", isError: true },
      { nativeId: "prt_11", kind: "reset" as const, text: "Compacted by itself" },
      { nativeId: "prt_12", kind: "summary" as const, text: "Goal: the watcher" },
    ],
    rewinds: 0,
  },
  ses_5: {
    session: { parent: { sessionId: "ses_9", kind: "subagent" as const } },
    turns: [{ nativeId: "prt_21", kind: "prompt" as const, text: "Count the callers", atMs: T + 4000 }],
  },
}

platformContract(opencode, [
  {
    name: "a database with everything in it",
    files: (homeDir) => {
      conversation(join(homeDir, ".local/share/opencode/opencode.db"))
      new Database(join(homeDir, ".local/share/opencode/other.db")).exec("CREATE TABLE t (x)").close()
    },
    unclaimed: [".local/share/opencode/other.db"],
    expected: CONVERSATION,
    skipped: ["synthetic text", "file", "step-start", "step-finish"],
  },
  {
    name: "a database of another channel, in another data folder",
    env: { XDG_DATA_HOME: "~/data" },
    files: (homeDir) => conversation(join(homeDir, "data/opencode/opencode-nightly.db")),
    expected: CONVERSATION,
  },
  {
    name: "a database that is named, beside others",
    env: { OPENCODE_DB: "~/data/mine.sqlite" },
    files: (homeDir) => {
      conversation(join(homeDir, "data/mine.sqlite"))
      new Database(join(homeDir, "data/opencode.db")).exec("CREATE TABLE t (x)").close()
    },
    unclaimed: ["data/opencode.db"],
    expected: CONVERSATION,
  },
  {
    name: "a session of which the end is taken back",
    files: (homeDir) =>
      new Store(join(homeDir, ".local/share/opencode/opencode.db"))
        .session("ses_1", { revert: { messageID: "msg_02" } })
        .message("ses_1", "msg_01", USER, T)
        .part("ses_1", "msg_01", "prt_01", text("One"), T)
        .message("ses_1", "msg_02", USER, T + 1)
        .part("ses_1", "msg_02", "prt_02", text("Two"), T + 1)
        .close(),
    expected: {
      ses_1: {
        turns: [
          { nativeId: "prt_01", text: "One" },
          { nativeId: "prt_02", text: "Two" },
        ],
        rewinds: 1,
      },
    },
  },
  {
    name: "a database that was just made",
    files: (homeDir) => {
      mkdirSync(join(homeDir, ".local/share/opencode"), { recursive: true })
      new Database(join(homeDir, ".local/share/opencode/opencode.db")).exec("CREATE TABLE session (id text)").close()
    },
    expected: {},
  },
  {
    name: "the tree of files of older versions",
    files: {
      ".local/share/opencode/storage/session/p1/ses_1.json": JSON.stringify({
        id: "ses_1",
        version: "0.5.1",
        projectID: "p1",
        title: "An old one",
        time: { created: T, updated: T + 1 },
        revert: { messageID: "msg_02", partID: "prt_04" },
      }),
      ".local/share/opencode/storage/project/p1.json": JSON.stringify({ id: "p1", worktree: "/home/mia/old" }),
      ".local/share/opencode/storage/message/ses_1/msg_01.json": JSON.stringify({ id: "msg_01", ...USER }),
      ".local/share/opencode/storage/message/ses_1/msg_02.json": JSON.stringify({ id: "msg_02", ...ASSISTANT }),
      ".local/share/opencode/storage/part/msg_01/prt_01.json": JSON.stringify({ id: "prt_01", ...text("Hello") }),
      ".local/share/opencode/storage/part/msg_02/prt_02.json": JSON.stringify({ id: "prt_02", type: "never-heard-of" }),
      ".local/share/opencode/storage/part/msg_02/prt_03.json": JSON.stringify({
        id: "prt_03",
        ...text("Hello to you"),
      }),
      ".local/share/opencode/storage/part/msg_02/prt_04.json": JSON.stringify({ id: "prt_04", ...TOOL }),
    },
    expected: {
      ses_1: {
        session: { projectPath: "/home/mia/old", title: { text: "An old one", from: "generated" } },
        turns: [
          { nativeId: "prt_01", kind: "prompt", text: "Hello", atMs: T },
          { nativeId: "prt_03", kind: "reply", text: "Hello to you", atMs: T + 1000 },
          { nativeId: "prt_04", kind: "tool_call" },
          { nativeId: "prt_04:result", kind: "tool_result" },
        ],
        rewinds: 1,
      },
    },
    skipped: ["never-heard-of"],
  },
])

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "opencode-")))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("a database is read on from a cursor", () => {
  const reader = () => {
    const place = { dir: folder, depth: 0 }
    const claim = opencode.claim({ path: join(folder, "opencode.db"), relative: "opencode.db", place })
    return claim!.reader as DatabaseReader
  }
  const read = async (cursor: unknown) => {
    const found = await reader().read(join(folder, "opencode.db"), cursor)
    // Through JSON, as it is kept.
    return { captures: [...found.captures], cursor: JSON.parse(JSON.stringify(found.cursor)) as unknown }
  }
  const said = (captures: Capture[]) =>
    captures.flatMap((capture) =>
      capture.type === "turn"
        ? [`${capture.nativeId} ${capture.text}`]
        : capture.type === "rewind"
          ? [`rewind ${capture.fromNativeId}`]
          : [],
    )
  const HOUR = 3_600_000

  test("what changed in place comes again, what did not stays away, and a long run is not lost", async () => {
    const path = join(folder, "opencode.db")
    expect(reader().watch(path)).toEqual([`${path}-wal`])
    new Store(path)
      .session("ses_2", { updated: T + 60_000 })
      .message("ses_2", "msg_01", USER, T)
      .part("ses_2", "msg_01", "prt_01", text("One"), T)
      .session("ses_1", { updated: T - 48 * HOUR })
      .message("ses_1", "msg_00", USER, T - 48 * HOUR)
      .part("ses_1", "msg_00", "prt_00", text("Old"), T - 48 * HOUR)
      .close()
    const first = await read(null)
    expect(said(first.captures)).toEqual(["prt_01 One", "prt_00 Old"])

    // An hour later, the session's own row has not moved.
    new Store(path)
      .message("ses_2", "msg_02", { ...ASSISTANT, time: {} }, T + HOUR)
      .part("ses_2", "msg_02", "prt_02", text("Wri"), T + HOUR)
      .close()
    const second = await read(first.cursor)
    expect(said(second.captures)).toEqual(["prt_02 Wri"])

    new Store(path).part("ses_2", "msg_02", "prt_02", text("Written"), T + HOUR, T + 2 * HOUR).close()
    const third = await read(second.cursor)
    expect(said(third.captures)).toEqual(["prt_02 Written"])

    new Store(path).session("ses_2", { title: "A title", updated: T + 3 * HOUR }).close()
    const fourth = await read(third.cursor)
    expect(fourth.captures[0]).toEqual({
      type: "session",
      sessionId: "ses_2",
      projectPath: "/home/mia/shop",
      title: { text: "A title", from: "generated" },
      agentVersion: "1.18.33",
      startedAtMs: T,
    })
    expect(said((await read(fourth.cursor)).captures)).toEqual([])
  })
  test("undoing, redoing and undoing further are followed", async () => {
    const path = join(folder, "opencode.db")
    const store = new Store(path).session("ses_1", { updated: T + 60_000 })
    for (const n of [1, 2, 3])
      store.message("ses_1", `msg_0${n}`, USER, T + n).part("ses_1", `msg_0${n}`, `prt_0${n}`, text(`${n}`), T + n)
    store.close()
    let { cursor } = await read(null)
    const undo = async (messageID: string | null, hours: number) => {
      const revert = messageID === null ? null : { messageID }
      new Store(path).session("ses_1", { updated: T + hours * HOUR, revert }).close()
      const found = await read(cursor)
      cursor = found.cursor
      return said(found.captures)
    }
    expect(await undo("msg_03", 1)).toEqual(["prt_03 3", "rewind prt_03"])
    expect(await undo("msg_02", 2)).toEqual(["prt_02 2", "prt_03 3", "rewind prt_02"])
    expect(await undo("msg_03", 3)).toEqual(["prt_02 2", "prt_03 3", "rewind prt_03"])
    expect(await undo(null, 4)).toEqual(["prt_03 3"])
    expect(await undo(null, 5)).toEqual([])
  })
  test("a time in the future holds up nothing", async () => {
    const path = join(folder, "opencode.db")
    new Store(path).session("ses_1", { updated: T + 500_000 * HOUR }).close()
    const { cursor } = await read(null)
    const now = Date.now()
    new Store(path).message("ses_1", "msg_01", USER, now).part("ses_1", "msg_01", "prt_01", text("Now"), now).close()
    expect(said((await read(cursor)).captures)).toEqual(["prt_01 Now"])
  })
})

describe("another program's database is read without a trace", () => {
  const path = () => join(folder, "agent.db")
  const rows = () => withForeignDb(path(), (db) => db.all("SELECT x FROM t ORDER BY x").map(({ x }) => x))
  const listing = () =>
    readdirSync(folder)
      .sort()
      .map((name) => {
        const hash = createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")
        const { size, mtimeMs, ino, mode } = statSync(join(folder, name))
        return { name, hash, size, mtimeMs, ino, mode }
      })
  const untouched = (expected: unknown[], names: string[]) => {
    const before = listing()
    expect(before.map(({ name }) => name)).toEqual(names)
    expect(rows()).toEqual(expected)
    expect(listing()).toEqual(before)
  }
  const make = (mode: string) => {
    const db = new Database(path())
    db.pragma(`journal_mode = ${mode}`)
    db.exec("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    db.close()
  }

  test("a cleanly closed one in WAL mode", () => {
    make("WAL")
    untouched([1], ["agent.db"])
  })
  test("one with a rollback journal", () => {
    make("DELETE")
    untouched([1], ["agent.db"])
  })
  test("one whose journal is kept", () => {
    make("PERSIST")
    untouched([1], ["agent.db", "agent.db-journal"])
  })

  describe("with a live writer in another process", () => {
    let writer: ChildProcess
    const tell = async (sql: string) => {
      writer.stdin!.write(`${sql}\n`)
      await once(writer.stdout!, "data")
    }
    beforeEach(async () => {
      make("WAL")
      const script = `
        const { DatabaseSync } = require("node:sqlite")
        const db = new DatabaseSync(${JSON.stringify(path())})
        require("node:readline").createInterface({ input: process.stdin }).on("line", (sql) => {
          if (sql === "close") return db.close(), process.stdout.write("ok"), process.exit()
          db.exec(sql)
          process.stdout.write("ok")
        })`
      writer = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] })
      await tell("INSERT INTO t VALUES (2)")
    })
    afterEach(async () => {
      if (writer.exitCode === null && writer.signalCode === null) {
        writer.kill("SIGKILL")
        await once(writer, "exit")
      }
    })
    const ALL = ["agent.db", "agent.db-shm", "agent.db-wal"]

    test("rows that are only in its log are seen, again and again", async () => {
      untouched([1, 2], ALL)
      await tell("INSERT INTO t VALUES (3)")
      untouched([1, 2, 3], ALL)
      await tell("BEGIN; INSERT INTO t VALUES (4)")
      untouched([1, 2, 3], ALL)
      await tell("COMMIT")
      untouched([1, 2, 3, 4], ALL)
      await tell("PRAGMA wal_checkpoint(TRUNCATE)")
      untouched([1, 2, 3, 4], ALL)
    })
    test("reading does not keep it from clearing its log", async () => {
      rows()
      await tell("PRAGMA wal_checkpoint(TRUNCATE)")
      expect(statSync(`${path()}-wal`).size).toBe(0)
    })
    test("what it leaves when it is killed is read", async () => {
      writer.kill("SIGKILL")
      await once(writer, "exit")
      untouched([1, 2], ALL)
    })
    test("a log without its shared memory is read from a private copy", async () => {
      writer.kill("SIGKILL")
      await once(writer, "exit")
      rmSync(`${path()}-shm`)
      const temporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith("throughline-"))
      const before = temporary()
      untouched([1, 2], ["agent.db", "agent.db-wal"])
      untouched([1, 2], ["agent.db", "agent.db-wal"])
      if (process.platform !== "win32") expect(temporary()).toEqual(before)
    })
    test("where the copy would be too big, it waits for the next change and says so", async () => {
      writer.kill("SIGKILL")
      await once(writer, "exit")
      rmSync(`${path()}-shm`)
      truncateSync(`${path()}-wal`, 65 * 1024 * 1024)
      expect(rows).toThrow(ForeignDbBusy)
      expect(rows).toThrow(/next change/)
      expect(readdirSync(folder).sort()).toEqual(["agent.db", "agent.db-wal"])
    })
    test("one that is left in the middle of a change is read as it was before", async () => {
      await tell("PRAGMA wal_checkpoint(TRUNCATE)")
      await tell("close")
      const db = new Database(path())
      db.pragma("journal_mode = DELETE")
      db.pragma("cache_size = 1")
      db.exec(
        "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT INTO t SELECT i + 100 FROM n",
      )
      for (const suffix of ["", "-journal"]) copyFileSync(path() + suffix, join(folder, `torn.db${suffix}`))
      db.exec("ROLLBACK")
      db.close()
      const before = listing()
      expect(withForeignDb(join(folder, "torn.db"), (torn) => torn.all("SELECT count(*) AS n FROM t"))).toEqual([
        { n: 2 },
      ])
      expect(listing()).toEqual(before)
    })
  })

  test("what is wrong with a question is said at once", () => {
    make("WAL")
    expect(() => withForeignDb(path(), (db) => db.all("SELECT * FROM nowhere"))).toThrow(/no such table/)
    expect(() => withForeignDb(join(folder, "missing.db"), (db) => db.all("SELECT 1"))).toThrow(/ENOENT/)
  })
  test("long results come one by one", () => {
    make("WAL")
    expect(withForeignDb(path(), (db) => [...db.iterate("SELECT x FROM t WHERE x = ?", 1)])).toEqual([{ x: 1 }])
  })
  test("it cannot be written", () => {
    make("WAL")
    expect(() => withForeignDb(path(), (db) => db.all("INSERT INTO t VALUES (5)"))).toThrow()
    untouched([1], ["agent.db"])
  })
})
