import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { cursor } from "../../../src/agents/cursor/records.ts"
import type { Capture } from "../../../src/domain/capture.ts"
import type { DatabaseReader, Machine } from "../../../src/domain/platform.ts"
import { claims, platformContract } from "../platform.ts"

const T = 1_785_571_200_000
const USER = ".config/Cursor/User"
const GLOBAL = `${USER}/globalStorage/state.vscdb`
const at = (ms: number) => new Date(T + ms).toISOString()
const headers = (...ids: string[]) => ids.map((bubbleId) => ({ bubbleId, type: 2 }))

const FIX = {
  "composerData:c-1": {
    _v: 13,
    composerId: "c-1",
    name: "Fix login",
    createdAt: T,
    lastUpdatedAt: T + 60_000,
    createdOnBranch: "main",
    modelConfig: { modelName: "m-1" },
    subComposerIds: ["c-2", "c-gone"],
    workspaceIdentifier: { id: "w1", uri: { fsPath: "/home/mia/app" } },
    fullConversationHeadersOnly: headers("b1", "b2", "b3", "b4", "b5", "b6"),
  },
  "bubbleId:c-1:b1": { bubbleId: "b1", type: 1, text: "The login fails", createdAt: at(1000) },
  "bubbleId:c-1:b2": {
    bubbleId: "b2",
    type: 2,
    text: "",
    thinking: { text: "Probably the cookie." },
    createdAt: at(2000),
    modelInfo: { modelName: "m-2" },
  },
  "bubbleId:c-1:b3": {
    bubbleId: "b3",
    type: 2,
    text: "",
    createdAt: at(3000),
    capabilityType: 15,
    toolFormerData: {
      tool: 5,
      name: "read_file",
      toolCallId: "call_1",
      rawArgs: '{"path":"a.ts"}',
      result: '{"lines":3}',
      status: "completed",
    },
  },
  "bubbleId:c-1:b4": {
    bubbleId: "b4",
    type: 2,
    text: "",
    timingInfo: { clientRpcSendTime: T + 4000.25 },
    toolFormerData: {
      name: "run_terminal_cmd",
      params: { command: "rm -r x" },
      userDecision: "rejected",
      status: "cancelled",
    },
  },
  "bubbleId:c-1:b5": {
    bubbleId: "b5",
    type: 2,
    text: "It is the cookie.",
    createdAt: at(5000),
    tokenCount: { inputTokens: 100, outputTokens: 20 },
  },
  // Taken back, and written over: no header leads to it any more.
  "bubbleId:c-1:b0": { bubbleId: "b0", type: 1, text: "never mind" },
  "composerData:c-2": {
    composerId: "c-2",
    createdAt: T + 2000,
    lastUpdatedAt: T + 50_000,
    fullConversationHeadersOnly: headers("s1"),
    workspaceIdentifier: { id: "w1" },
  },
  "bubbleId:c-2:s1": { bubbleId: "s1", type: 1, text: "Find the cookie", createdAt: at(2500) },
  "composerData:c-3": { composerId: "c-3", createdAt: T, fullConversationHeadersOnly: [] },
  "composerData:c-4": "not JSON",
  "messageRequestContext:c-1:b1": { x: 1 },
}
const OLD = {
  "composerData:c-old": {
    _v: 1,
    composerId: "c-old",
    createdAt: T - 1e9,
    conversation: [
      { bubbleId: "o1", type: 1, text: "Rename the module" },
      { bubbleId: "o2", type: 2, text: "Renamed." },
      { bubbleId: "o3", type: 2, text: "" },
      { bubbleId: "o4", type: 7, text: "?" },
    ],
    capabilities: [
      {
        type: 15,
        data: { bubbleDataMap: '{"o3":{"name":"edit_file","rawArgs":"{}","error":"locked","status":"error"}}' },
      },
    ],
  },
}

platformContract(cursor, [
  {
    name: "composers with bubbles of their own, a sub-agent and an old one",
    files: (homeDir) => {
      write(join(homeDir, GLOBAL), { ...FIX, ...OLD })
      workspace(homeDir, "w1", "file:///home/mia/app%20one", [])
      workspace(homeDir, "w2", "file:///home/mia/old", ["c-old"])
      workspace(homeDir, "w3", "vscode-remote://ssh-remote%2Bbox/srv/app", ["c-old"])
      writeFileSync(join(homeDir, `${USER}/globalStorage/storage.json`), "{}")
    },
    unclaimed: [`${USER}/globalStorage/storage.json`, `${USER}/workspaceStorage/w1/state.vscdb`],
    expected: {
      "c-1": {
        session: {
          projectPath: "/home/mia/app",
          title: { text: "Fix login", from: "generated" },
          model: "m-1",
          gitBranch: "main",
          startedAtMs: T,
        },
        turns: [
          { kind: "prompt", text: "The login fails", nativeId: "b1", atMs: T + 1000 },
          { kind: "reasoning", text: "Probably the cookie.", model: "m-2" },
          { kind: "tool_call", toolName: "read_file", toolCallId: "call_1", text: '{"path":"a.ts"}', atMs: T + 3000 },
          { kind: "tool_result", toolName: "read_file", text: '{"lines":3}' },
          { kind: "tool_call", toolName: "run_terminal_cmd", text: '{"command":"rm -r x"}', atMs: T + 4000 },
          { kind: "tool_result", text: "Rejected by the person", isError: true },
          { kind: "reply", text: "It is the cookie.", nativeId: "b5", usage: { inputTokens: 100, outputTokens: 20 } },
        ],
      },
      "c-2": {
        session: {
          projectPath: "/home/mia/app one",
          title: { text: "Find the cookie", from: "prompt" },
          parent: { sessionId: "c-1", kind: "subagent" },
        },
        turns: [{ kind: "prompt", text: "Find the cookie" }],
      },
      "c-old": {
        session: { projectPath: "/home/mia/old", title: { text: "Rename the module", from: "prompt" } },
        turns: [
          { kind: "prompt", text: "Rename the module" },
          { kind: "reply", text: "Renamed." },
          { kind: "tool_call", toolName: "edit_file" },
          { kind: "tool_result", text: "locked", isError: true },
        ],
      },
    },
    skipped: ["missing bubble", "bubble 7"],
  },
  {
    name: "an editor in which nothing was asked yet",
    files: (homeDir) => {
      mkdirSync(join(homeDir, dirname(GLOBAL)), { recursive: true })
      new Database(join(homeDir, GLOBAL)).exec("CREATE TABLE ItemTable (key TEXT, value BLOB)").close()
    },
    expected: {},
  },
])

test("each system has its own folder", () => {
  const dirs = (os: Machine["os"], homeDir: string, env = {}) =>
    cursor.places({ os, homeDir, env }).map(({ dir }) => dir)
  expect(dirs("darwin", "/Users/mia")).toEqual(["/Users/mia/Library/Application Support/Cursor/User/globalStorage"])
  expect(dirs("linux", "/home/mia")).toEqual(["/home/mia/.config/Cursor/User/globalStorage"])
  const windows = dirs("win32", "C:\\Users\\mia", { APPDATA: "C:\\Users\\mia\\AppData\\Roaming" })
  expect(windows).toEqual(["C:\\Users\\mia\\AppData\\Roaming\\Cursor\\User\\globalStorage"])
})

describe("going on", () => {
  let homeDir: string
  let state: unknown
  const composer = (ids: string[], more: object = {}) => ({
    "composerData:c-1": {
      ...FIX["composerData:c-1"],
      fullConversationHeadersOnly: headers(...ids),
      subComposerIds: [],
      ...more,
    },
  })
  const bubble = (id: string, text: string, composerId = "c-1") => ({
    [`bubbleId:${composerId}:${id}`]: { bubbleId: id, type: 2, text },
  })
  beforeEach(() => {
    homeDir = mkdtempSync(join(tmpdir(), "cursor-"))
    state = null
  })
  afterEach(() => rmSync(homeDir, { recursive: true, force: true }))
  const put = (rows: Record<string, unknown>) => write(join(homeDir, GLOBAL), rows)
  const read = async () => {
    const [found] = claims(cursor, { os: "linux", homeDir, env: {} })
    const reader = found!.claim.reader as DatabaseReader
    const next = await reader.read(found!.file.path, JSON.parse(JSON.stringify(state)))
    const captures = [...next.captures].map(brief)
    state = next.cursor
    return captures
  }

  test("only what was written since is read, newest composer first", async () => {
    put({ ...composer(["x1", "x2"]), ...bubble("x1", "one"), ...bubble("x2", "tw") })
    put({
      "composerData:c-9": {
        composerId: "c-9",
        createdAt: T,
        lastUpdatedAt: T + 90_000,
        fullConversationHeadersOnly: headers("y1"),
      },
    })
    put(bubble("y1", "other", "c-9"))
    expect(await read()).toEqual(["session c-9", "other", "session c-1", "one", "tw"])
    expect(await read()).toEqual([])
    put(bubble("x2", "two"))
    expect(await read()).toEqual(["session c-1", "two"])
  })
  test("a bubble that the composer names later is not lost", async () => {
    put({ ...composer(["x1"]), ...bubble("x1", "one") })
    await read()
    put(bubble("x2", "two"))
    expect(await read()).toEqual(["session c-1"])
    put(composer(["x1", "x2"]))
    expect(await read()).toEqual(["session c-1", "two"])
  })
  test("a conversation that was taken back is taken back, and comes again as it is now", async () => {
    put({ ...composer(["x1", "x2"]), ...bubble("x1", "one"), ...bubble("x2", "two") })
    await read()
    put({ ...composer(["x1", "x3"]), ...bubble("x3", "three") })
    expect(await read()).toEqual(["session c-1", "rewind", "one", "three"])
  })
  test("row numbers that are used again hide nothing", async () => {
    put({ ...composer(["x1", "x2"]), ...bubble("x1", "one"), "checkpointId:c-1:k": {} })
    await read()
    const db = new Database(join(homeDir, GLOBAL))
    db.prepare("DELETE FROM cursorDiskKV WHERE key LIKE 'checkpointId:%'").run()
    db.close()
    put(bubble("x2", "two"))
    expect(await read()).toEqual(["session c-1", "one", "two"])
  })
  test("nothing in the editor's folder changes, and secrets beside the conversations are not read", async () => {
    put({ ...composer(["x1"]), ...bubble("x1", "one") })
    const before = folder()
    expect(JSON.stringify(await read())).not.toContain("secret")
    expect(folder()).toEqual(before)
  })
  const folder = () => {
    const dir = join(homeDir, dirname(GLOBAL))
    return readdirSync(dir).map((name) => [name, readFileSync(join(dir, name)).toString("base64")])
  }
})

const brief = (capture: Capture) =>
  capture.type === "turn" ? capture.text : capture.type === "session" ? `session ${capture.sessionId}` : capture.type

function write(path: string, rows: Record<string, unknown>): void {
  mkdirSync(dirname(path), { recursive: true })
  const db = new Database(path)
  db.exec(`CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE IF NOT EXISTS ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'secret')`)
  const insert = db.prepare("INSERT INTO cursorDiskKV VALUES (?, ?)")
  for (const [key, value] of Object.entries(rows))
    insert.run(key, typeof value === "string" ? value : JSON.stringify(value))
  db.close()
}

function workspace(homeDir: string, id: string, folder: string, composers: string[]): void {
  const dir = join(homeDir, USER, "workspaceStorage", id)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, "workspace.json"), JSON.stringify({ folder }))
  const db = new Database(join(dir, "state.vscdb"))
  db.exec("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
  const value = JSON.stringify({ allComposers: composers.map((composerId) => ({ composerId })) })
  db.prepare("INSERT INTO ItemTable VALUES ('composer.composerData', ?)").run(value)
  db.close()
}
