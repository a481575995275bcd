import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type CorpusPlatform, conversation, touch } from "./session.ts"

const open = new Map<string, { store: OpencodeStore; endMs: number }>()

/** One database for all sessions. */
export const opencode: CorpusPlatform = {
  id: "opencode",
  share: 12,
  weight: 1,
  growth: 0.86,
  write(spec) {
    const { homeDir, random, project, startMs } = spec
    const path = join(homeDir, ".local/share/opencode/opencode.db")
    const { store, endMs: before } = open.get(path) ?? { store: new OpencodeStore(path), endMs: 0 }
    const sessionId = `ses_${random.hex(26)}`
    let endMs = startMs
    store.together(() => {
      store.session(sessionId, { directory: project, title: spec.texts.title(), atMs: startMs })
      let [role, messageId, bytes] = ["", "", 0]
      for (const step of conversation(spec, 300)) {
        const { kind, text, atMs, callId, tool } = step
        const wanted = kind === "prompt" ? "user" : "assistant"
        if (role !== wanted || random.chance(0.2)) messageId = store.message(sessionId, wanted, atMs)
        role = wanted
        endMs = atMs
        if (kind === "call") continue
        const state = { status: "completed", input: { command: tool }, output: text, title: tool, metadata: {} }
        if (kind === "result")
          store.part(
            messageId,
            sessionId,
            { type: "tool", callID: callId, tool, state: { ...state, time: { start: atMs, end: atMs } } },
            atMs,
          )
        else if (kind === "compaction") store.part(messageId, sessionId, { type: "compaction", auto: true }, atMs)
        else store.part(messageId, sessionId, { type: kind === "thinking" ? "reasoning" : "text", text }, atMs)
        bytes += text.length
      }
      store.touch(sessionId, endMs)
      spec.bytes = bytes
    })
    open.set(path, { store, endMs: Math.max(endMs, before) })
    return { nativeId: sessionId, bytes: spec.bytes, files: 0, endMs }
  },
  finish(homeDir) {
    const path = join(homeDir, ".local/share/opencode/opencode.db")
    const written = open.get(path)
    if (!written) return
    open.delete(path)
    written.store.close()
    touch(path, written.endMs)
  },
}

/** The tables of opencode and of what is made of it, as far as anybody reads them. */
export class OpencodeStore {
  readonly #db: DatabaseSync
  #count = 0

  constructor(path: string) {
    mkdirSync(join(path, ".."), { recursive: true })
    this.#db = new DatabaseSync(path)
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;
      CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
        version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
      CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
      CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
        time_updated INTEGER, data TEXT);
      CREATE INDEX IF NOT EXISTS message_session_idx ON message (session_id);
      CREATE INDEX IF NOT EXISTS part_message_idx ON part (message_id);
      CREATE INDEX IF NOT EXISTS part_session_idx ON part (session_id);`)
  }

  session(id: string, { directory, title, atMs }: { directory: string; title: string; atMs: number }): void {
    this.#db
      .prepare("INSERT INTO session VALUES (?, 'global', NULL, ?, ?, '1.18.33', NULL, ?, ?)")
      .run(id, directory, title, atMs, atMs)
  }

  message(sessionId: string, role: string, atMs: number): string {
    const id = this.#next("msg")
    const tokens = { input: 900, output: 40, reasoning: 0, cache: { read: 800, write: 0 } }
    const answer = { role, modelID: "m", providerID: "p", cost: 0.01, tokens, time: { created: atMs, completed: atMs } }
    const data = role === "user" ? { role, time: { created: atMs } } : answer
    this.#db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(id, sessionId, atMs, atMs, JSON.stringify(data))
    return id
  }

  part(messageId: string, sessionId: string, data: object, atMs: number): string {
    const id = this.#next("prt")
    this.#db
      .prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)")
      .run(id, messageId, sessionId, atMs, atMs, JSON.stringify(data))
    return id
  }

  change(partId: string, data: object, atMs: number): void {
    this.#db.prepare("UPDATE part SET data = ?, time_updated = ? WHERE id = ?").run(JSON.stringify(data), atMs, partId)
  }

  touch(sessionId: string, atMs: number): void {
    this.#db.prepare("UPDATE session SET time_updated = ? WHERE id = ?").run(atMs, sessionId)
  }

  remove(sessionId: string): void {
    this.#db.prepare("DELETE FROM part WHERE session_id = ?").run(sessionId)
    this.#db.prepare("DELETE FROM message WHERE session_id = ?").run(sessionId)
    this.#db.prepare("DELETE FROM session WHERE id = ?").run(sessionId)
  }

  together(work: () => void): void {
    this.#db.exec("BEGIN")
    work()
    this.#db.exec("COMMIT")
  }

  close(): void {
    this.#db.close()
  }

  /** Ids rise with time. */
  #next(kind: string): string {
    return `${kind}_${String(++this.#count).padStart(20, "0")}`
  }
}
