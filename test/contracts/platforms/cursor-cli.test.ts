import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, expect, test } from "vitest"
import { cursorCli } from "../../../src/agents/cursor-cli/records.ts"
import type { Capture } from "../../../src/domain/capture.ts"
import type { DatabaseReader } from "../../../src/domain/platform.ts"
import { claims, platformContract } from "../platform.ts"

const T = 1_785_571_200_000
const PROJECT = "/home/mia/shop"
const FOLDER = createHash("md5").update(PROJECT).digest("hex")
const ID = "ac437fdf-3e7e-4a54-98a4-7bb04fd3efc6"
const STORE = `.cursor/chats/${FOLDER}/${ID}/store.db`

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] })
const SYSTEM = { role: "system", content: "You are an agent." }
const INFO = user(`<user_info>\nOS Version: linux\nWorkspace Path: ${PROJECT}\n</user_info>`)
const ASK = user("<timestamp>today</timestamp>\n<user_query>\nWhy is the cart empty?\n</user_query>")
const CALL = {
  id: "1",
  role: "assistant",
  content: [
    { type: "reasoning", text: "Look at the reducer." },
    { type: "text", text: "I will read the reducer." },
    { type: "tool-call", toolCallId: "call_1", toolName: "Read", args: { path: "cart.ts" } },
  ],
}
const RESULT = {
  role: "tool",
  content: [{ type: "tool-result", toolCallId: "call_1", toolName: "Read", result: "export const cart = []" }],
}
const ANSWER = {
  id: "2",
  role: "assistant",
  content: [
    { type: "text", text: "It is never filled." },
    { type: "redacted-reasoning", data: "x" },
  ],
}
const YES = user("<user_query>yes</user_query>")

platformContract(cursorCli, [
  {
    name: "a conversation, walked from its latest root",
    files: (homeDir) =>
      store(join(homeDir, STORE), (put) => {
        put(user("<user_query>an abandoned branch</user_query>"))
        const early = put(node([put(SYSTEM), put(INFO), put(ASK)], { early: true }))
        const late = [put(CALL), put(RESULT), put(ANSWER), put(YES), put(YES)]
        return { name: "Empty cart", createdAt: T, lastUsedModel: "m-1", latestRootBlobId: put(node([early, ...late])) }
      }),
    unclaimed: [`.cursor/chats/${FOLDER}/${ID}/store.db-wal`],
    expected: {
      [ID]: {
        session: {
          projectPath: PROJECT,
          title: { text: "Empty cart", from: "generated" },
          model: "m-1",
          startedAtMs: T,
        },
        turns: [
          { kind: "prompt", text: "Why is the cart empty?" },
          { kind: "reasoning", text: "Look at the reducer." },
          { kind: "reply", text: "I will read the reducer." },
          { kind: "tool_call", toolName: "Read", toolCallId: "call_1", text: '{"path":"cart.ts"}' },
          { kind: "tool_result", toolName: "Read", toolCallId: "call_1", text: "export const cart = []" },
          { kind: "reply", text: "It is never filled." },
          { kind: "prompt", text: "yes" },
          { kind: "prompt", text: "yes" },
        ],
      },
    },
    skipped: ["system", "context", "redacted-reasoning"],
  },
  {
    name: "a store in which nothing was said, and one that leads nowhere",
    files: (homeDir) => {
      store(join(homeDir, STORE), () => ({ name: "New Agent", createdAt: T }))
      store(join(homeDir, `.cursor/chats/${FOLDER}/other/store.db`), (put) => ({
        latestRootBlobId: put(Buffer.from([0x0a, 0x20, 1, 2, 3])),
      }))
    },
    expected: {},
  },
])

let homeDir: string | undefined
afterEach(() => homeDir && rmSync(homeDir, { recursive: true, force: true }))

test("only what is new comes again, and all of it after the conversation was taken back", async () => {
  homeDir = mkdtempSync(join(tmpdir(), "cursor-cli-"))
  const path = join(homeDir, STORE)
  const write = (messages: object[]) => store(path, (put) => ({ latestRootBlobId: put(node(messages.map(put))) }))
  let cursor: unknown = null
  const read = async () => {
    const [found] = claims(cursorCli, { os: "linux", homeDir: homeDir!, env: {} })
    const next = await (found!.claim.reader as DatabaseReader).read(path, JSON.parse(JSON.stringify(cursor)))
    cursor = next.cursor
    return [...next.captures].map(brief)
  }
  write([ASK])
  expect(await read()).toEqual(["session", "Why is the cart empty?"])
  expect(await read()).toEqual([])
  write([ASK, ANSWER])
  expect(await read()).toEqual(["session", "It is never filled.", "skipped"])
  write([ASK, YES])
  expect(await read()).toEqual(["session", "rewind", "Why is the cart empty?", "yes"])
})

const brief = (capture: Capture) => (capture.type === "turn" ? capture.text : capture.type)

/** An index node: field 1 holds the hashes, and other fields things that are of no matter here. */
function node(ids: string[], { early = false } = {}): Buffer {
  const references = ids.map((id) => Buffer.concat([Buffer.from([0x0a, 32]), Buffer.from(id, "hex")]))
  return Buffer.concat([...references, Buffer.from([0x10, 0x96, 0x01, 0x1a, 3, 1, 2, early ? 3 : 4, 0x25, 1, 2, 3, 4])])
}

function store(path: string, fill: (put: (blob: object | Buffer) => string) => object): void {
  mkdirSync(dirname(path), { recursive: true })
  const db = new Database(path)
  db.exec(
    "CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)",
  )
  const meta = fill((blob) => {
    const data = Buffer.isBuffer(blob) ? blob : Buffer.from(JSON.stringify(blob))
    const id = createHash("sha256").update(data).digest("hex")
    db.prepare("INSERT OR IGNORE INTO blobs VALUES (?, ?)").run(id, data)
    return id
  })
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('0', ?)").run(Buffer.from(JSON.stringify(meta)).toString("hex"))
  db.close()
}
