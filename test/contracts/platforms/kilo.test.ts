import { mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import Database from "better-sqlite3"
import { expect, test } from "vitest"
import { kilo } from "../../../src/agents/kilo/records.ts"
import { platformContract } from "../platform.ts"

const T = 1_785_571_200_000

function store(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const db = new Database(path)
  db.pragma("journal_mode = WAL")
  db.exec(`
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, version text, revert text,
      time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
      time_updated integer, data text);
    INSERT INTO session VALUES ('ses_1', NULL, '/home/mia/shop', 'Say hello', '7.0.1', NULL, ${T}, ${T});
    INSERT INTO message VALUES ('msg_1', 'ses_1', ${T}, ${T}, '{"role":"user"}');
    INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', ${T}, ${T}, '{"type":"text","text":"Hello"}');
    INSERT INTO message VALUES ('msg_2', 'ses_1', ${T + 1}, ${T + 1}, '{"role":"assistant","modelID":"k1"}');
    INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', ${T + 1}, ${T + 1}, '{"type":"text","text":"Hello to you"}')`)
  db.close()
}

const expected = {
  ses_1: {
    session: {
      projectPath: "/home/mia/shop",
      title: { text: "Say hello", from: "generated" as const },
      model: "k1",
      agentVersion: "7.0.1",
    },
    turns: [
      { nativeId: "prt_1", kind: "prompt" as const, text: "Hello", atMs: T },
      { nativeId: "prt_2", kind: "reply" as const, text: "Hello to you", atMs: T + 1, model: "k1" },
    ],
  },
}

platformContract(kilo, [
  { name: "its own database", files: (homeDir) => store(join(homeDir, ".local/share/kilo/kilo.db")), expected },
  {
    name: "a database from when it was still named after opencode",
    files: (homeDir) => store(join(homeDir, ".local/share/kilo/opencode.db")),
    expected,
  },
  {
    name: "a database that is named from the data folder, and opencode's own left alone",
    env: { KILO_DB: "team/work.db" },
    files: (homeDir) => {
      store(join(homeDir, ".local/share/kilo/team/work.db"))
      store(join(homeDir, ".local/share/opencode/opencode.db"))
    },
    unclaimed: [".local/share/opencode/opencode.db"],
    expected,
  },
])

test("a session is resumed by its id", () => {
  expect(kilo.resume?.({ nativeId: "ses_1", projectPath: null })).toEqual({ argv: ["kilo", "-s", "ses_1"], cwd: null })
})
