import { linkSync, mkdirSync, renameSync, rmSync, statSync, truncateSync, unlinkSync, utimesSync } from "node:fs"
import { dirname, join } from "node:path"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { createZstdCompress, zstdCompressSync } from "node:zlib"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { OpencodeStore } from "../../../bench/corpus/opencode.ts"
import { makeTestArchive, type TestArchive } from "../../../test/fixtures/archive.ts"
import { OVER_LIMIT } from "../../domain/source.ts"
import type { Archive } from "../store/archive.ts"
import { MAX_TURN_CHARS } from "./cut.ts"

const SID = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c01"
const CLAUDE = `.claude/projects/-w-app/${SID}.jsonl`
const ROLLOUT = "rollout-2026-08-16T08-00-00-0198aaaa-0000-7000-8000-000000000001.jsonl"
const CODEX = `.codex/sessions/2026/08/16/${ROLLOUT}`
const GEMINI = ".gemini/tmp/app/chats/session-2026-08-01T10-00-9a1b0000.jsonl"

const at = (second: number) => new Date(Date.parse("2026-08-16T08:00:00.000Z") + second * 1000).toISOString()
const line = (record: unknown) => `${JSON.stringify(record)}\n`

/** Claude Code's records, each with an id, so that what becomes of it can be told. */
const said = (uuid: string, content: string, second = 1) =>
  line({
    type: "user",
    uuid,
    parentUuid: null,
    sessionId: SID,
    timestamp: at(second),
    cwd: "/w/app",
    version: "2.1.325",
    message: { role: "user", content },
  })
const answered = (uuid: string, text: string, second = 2) =>
  line({
    type: "assistant",
    uuid,
    sessionId: SID,
    timestamp: at(second),
    message: { id: `m-${uuid}`, role: "assistant", model: "claude-x", content: [{ type: "text", text }] },
  })
const item = (second: number, payload: object, more: object = {}) =>
  line({ timestamp: at(second), ...more, type: "response_item", payload })
const meta = (more: object = {}, payload: object = {}) =>
  line({
    timestamp: at(0),
    ...more,
    type: "session_meta",
    payload: { id: "0198aaaa-0000-7000-8000-000000000001", timestamp: at(0), cwd: "/w/app", source: "cli", ...payload },
  })
const asked = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })
const replied = (text: string) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text }] })
const gemini = (id: string, type: "user" | "gemini", text: string, more: object = {}) =>
  line({ id, timestamp: at(3), type, content: [{ text }], ...more })
const begun = line({ sessionId: "9a1b0000-s", projectHash: "e3b0", startTime: at(0), lastUpdated: at(0), kind: "main" })

let kept: TestArchive
beforeEach(async () => {
  kept = await makeTestArchive()
})
afterEach(() => kept.close())

const live = async () => (await kept.rows()).filter(({ superseded }) => !superseded).map(({ text }) => text)
const takenBack = async () => (await kept.rows()).filter(({ superseded }) => superseded).map(({ text }) => text)
const counts = async () => {
  const [session] = await kept.store.sessions.list({})
  return { turns: session?.turnCount, prompts: session?.promptCount }
}
const lastEntry = () => kept.store.journal.last()

describe("a file that grows by any bytes is kept as if it had been read once", () => {
  const files: Record<string, string> = {
    [CLAUDE]: [
      '{"type":"summary","summary":"Über 湖","leafUuid":"x"}\r\n',
      said("u1", "ça va? 🚀 \ud800 done"),
      '{"type":"mode","mode":"plan"}\n',
      answered("a1", "naïve façade 設定"),
      '{"broken\n',
      "\u0000\u0000\n",
      said("u2", "and\nagain").replace("\n", "\r\n"),
      line({ type: "custom-title", customTitle: "named", sessionId: SID }),
    ].join(""),
    [CODEX]: [
      meta(),
      item(1, asked("why is CI red")),
      item(2, replied("look at logs 湖")),
      line({ timestamp: at(3), type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } }),
      item(4, asked("why is it green")),
    ].join(""),
    [GEMINI]: [
      begun,
      gemini("q1", "user", "fix the wätcher"),
      gemini("g1", "gemini", "do"),
      gemini("g1", "gemini", "done"),
      line({ $rewindTo: "q1" }),
      gemini("q2", "user", "fix it better"),
      line({ $set: { summary: "Fixed" } }),
    ].join(""),
    ".copilot/session-state/e1/events.jsonl": [
      line({ id: "0", type: "session.start", timestamp: at(0), data: { sessionId: "e1", context: { cwd: "/w/app" } } }),
      line({ id: "1", type: "user.message", timestamp: at(1), data: { content: "add tests 湖" } }),
      line({ id: "2", type: "assistant.message", timestamp: at(2), data: { messageId: "m", content: "added" } }),
    ].join(""),
    ".throughline/conversations/session-abc.jsonl": [
      line({ type: "exchange", timestamp: at(1), user: "a?", ai: "b! ü", session_id: "abc" }),
      line({ type: "context_reset", timestamp: at(2), reason: "limit", session_id: "abc" }),
    ].join(""),
  }

  test.each(Object.entries(files))(
    "%s, byte by byte, forgetting everything in between",
    async (path, content) => {
      const once = await makeTestArchive()
      once.write(path, content)
      await once.read()
      const bytes = Buffer.from(content)
      kept.write(path, "")
      for (let length = 0; length < bytes.length; length++) {
        kept.append(path, bytes.subarray(length, length + 1))
        await kept.read()
        if (length % 7 === 0) kept.restart()
      }
      expect(await kept.rows()).toEqual(await once.rows())
      expect((await kept.rows()).length).toBeGreaterThanOrEqual(2)
      const told = async (on: TestArchive) => {
        const [session] = await on.store.sessions.list({})
        const { title, turnCount, promptCount, updatedAtMs, createdAtMs, projectPath } = session!
        return { title, turnCount, promptCount, updatedAtMs, createdAtMs, path: projectPath?.replace(on.homeDir, "~") }
      }
      expect(await told(kept)).toEqual(await told(once))
      const counted = async (on: TestArchive) => {
        const { lines, skipped, unknown, unreadable, offset } = (await on.source(path))!
        return { lines, skipped, unknown, unreadable, offset }
      }
      expect(await counted(kept)).toEqual(await counted(once))
      await once.close()
    },
    60_000,
  )

  test("all of them together, cut anywhere", async () => {
    const once = await makeTestArchive()
    for (const [path, content] of Object.entries(files)) once.write(path, content)
    await once.read()
    const expected = await once.rows()
    await once.close()
    for (let round = 1; round <= 25; round++) {
      const cut = await makeTestArchive()
      const places = Object.entries(files).map(([path, content]) => ({ path, bytes: Buffer.from(content), at: 0 }))
      while (places.some(({ at, bytes }) => at < bytes.length)) {
        for (const place of places) {
          const to = place.at + ((round * 37 + place.at * 13) % 211) + 1
          cut.append(place.path, place.bytes.subarray(place.at, to))
          place.at = Math.min(to, place.bytes.length)
        }
        await cut.read()
        cut.restart()
      }
      expect(await cut.rows(), `round ${round}`).toEqual(expected)
      await cut.close()
    }
  }, 240_000)
})

describe("an incomplete line", () => {
  test("waits for its end", async () => {
    const whole = said("u2", "the end is missing")
    kept.write(CLAUDE, said("u1", "one") + whole.slice(0, -1))
    await kept.read()
    expect(await live()).toEqual(["one"])
    kept.append(CLAUDE, whole.slice(-1))
    await kept.read()
    expect(await live()).toEqual(["one", "the end is missing"])
    expect(await kept.source(CLAUDE)).toMatchObject({ lines: 2, unreadable: 0 })
  })

  test("that the next writer completed is counted and skipped", async () => {
    kept.write(CLAUDE, `${said("u1", "one")}{"type":"user","mess`)
    await kept.read()
    kept.append(CLAUDE, `\n${said("u2", "two")}`)
    await kept.read()
    expect(await live()).toEqual(["one", "two"])
    expect(await kept.source(CLAUDE)).toMatchObject({ lines: 3, unreadable: 1 })
  })
})

describe("a file that is not only appended to", () => {
  test("cut at its end and written on: what was cut is superseded, and counted no more", async () => {
    kept.write(CLAUDE, said("u1", "one") + said("u2", "two") + said("u3", "three"))
    await kept.read()
    truncateSync(join(kept.homeDir, CLAUDE), (said("u1", "one") + said("u2", "two")).length)
    kept.append(CLAUDE, said("u4", "instead"))
    await kept.read()
    expect(await live()).toEqual(["one", "two", "instead"])
    expect(await takenBack()).toEqual(["three"])
    expect(await counts()).toEqual({ turns: 3, prompts: 3 })
  })

  test("cut and not written on", async () => {
    kept.write(CLAUDE, said("u1", "one") + said("u2", "two"))
    await kept.read()
    kept.write(CLAUDE, said("u1", "one"))
    await kept.read()
    expect([await live(), await takenBack()]).toEqual([["one"], ["two"]])
    kept.append(CLAUDE, said("u2", "two"))
    await kept.read()
    expect([await live(), await takenBack()]).toEqual([["one", "two"], []])
    expect(await counts()).toEqual({ turns: 2, prompts: 2 })
  })

  test("emptied: everything is superseded and nothing is lost", async () => {
    kept.write(CLAUDE, said("u1", "one") + said("u2", "two"))
    await kept.read()
    kept.write(CLAUDE, "")
    await kept.read()
    expect([await live(), await takenBack()]).toEqual([[], ["one", "two"]])
    kept.write(CLAUDE, said("u1", "one"))
    await kept.read()
    expect([await live(), await takenBack()]).toEqual([["one"], ["two"]])
  })

  const around = (middle: string) =>
    said("u1", "x".repeat(6_000)) + said("u2", middle) + said("u3", `${"y".repeat(6_000)}`)

  test("written over in its middle, with the same size and the same ends", async () => {
    kept.write(CLAUDE, around("before"))
    await kept.read()
    kept.write(CLAUDE, around("afterw"))
    await kept.read()
    expect(await live()).toContain("afterw")
    expect(await live()).not.toContain("before")
    expect(await kept.rows()).toHaveLength(3)
  })

  test("replaced by another file, longer and with the same ends", async () => {
    kept.write(CLAUDE, around("before"))
    await kept.read()
    const other = kept.write("other.tmp", around("afterwards"))
    renameSync(other, join(kept.homeDir, CLAUDE))
    await kept.read()
    expect(await live()).toContain("afterwards")
    expect(await kept.rows()).toHaveLength(3)
  })

  test("only touched: nothing is written but how it looks", async () => {
    const path = kept.write(CLAUDE, said("u1", "one") + said("u2", "two"))
    await kept.read()
    const [before, entry] = [await kept.rows(), await lastEntry()]
    utimesSync(path, 1_900_000_000, 1_900_000_000)
    await kept.read()
    expect([await kept.rows(), await lastEntry()]).toEqual([before, entry])
  })

  test("rewritten, and the reading was cut off in the middle: what is gone is superseded all the same", async () => {
    const many = (from: number) =>
      Array.from({ length: 900 }, (_, i) => said(`u${from + i}`, `turn ${from + i}`)).join("")
    kept.write(CLAUDE, many(0))
    await kept.read()
    let batches = 0
    const before = await kept.source(CLAUDE)
    kept.write(CLAUDE, many(100))
    const failing = failingAfter(kept, 1, () => batches++)
    await expect(failing.read()).rejects.toThrow("killed")
    expect(batches).toBe(2)
    kept.restart()
    await kept.read()
    expect(await live()).toHaveLength(900)
    expect(await takenBack()).toHaveLength(100)
    expect((await kept.source(CLAUDE))?.id).toBe(before?.id)
  })

  test.each(["-w-aaa", "-w-zzz"])(
    "moved to %s between two sweeps, and another of its name is there: both are live",
    async (slug) => {
      const path = kept.write(CLAUDE, said("u1", "one") + said("u2", "two"))
      await kept.read()
      const moved = join(kept.homeDir, CLAUDE.replace("-w-app", slug))
      mkdirSync(dirname(moved), { recursive: true })
      renameSync(path, moved)
      kept.write(CLAUDE, said("u3", "three"))
      kept.restart()
      await kept.read()
      expect(await live()).toEqual(["one", "two", "three"])
      kept.append(CLAUDE.replace("-w-app", slug), said("u4", "four"))
      kept.write(CLAUDE, said("u5", "five"))
      await kept.read()
      expect(await live()).toEqual(["one", "two", "four", "five"])
      expect(await takenBack()).toEqual(["three"])
    },
  )

  test("deleted: what is kept stays", async () => {
    const path = kept.write(CLAUDE, said("u1", "one"))
    await kept.read()
    unlinkSync(path)
    await kept.read()
    expect(await live()).toEqual(["one"])
  })
})

/** The same archive, but for the batches after so many, which fail as if the daemon were killed. */
function failingAfter(archive: TestArchive, good: number, onBatch: () => void): Pick<TestArchive, "read"> {
  let left = good
  const real = archive.archive
  archive.archive = {
    ...real,
    keep: (batch) => {
      onBatch()
      return left-- > 0 ? real.keep(batch) : Promise.reject(new Error("killed"))
    },
  } satisfies Archive
  return archive
}

describe("Codex moves and rewrites its files", () => {
  const first = meta() + item(1, asked("why is CI red")) + item(2, replied("a flaky test"))

  test("archived: the same turns, once", async () => {
    const path = kept.write(CODEX, first)
    await kept.read()
    const before = await kept.rows()
    const archived = join(kept.homeDir, ".codex/archived_sessions", ROLLOUT)
    mkdirSync(dirname(archived), { recursive: true })
    renameSync(path, archived)
    await kept.read()
    expect(await kept.rows()).toEqual(before)
    kept.append(`.codex/archived_sessions/${ROLLOUT}`, item(3, asked("thanks")))
    await kept.read()
    expect(await live()).toHaveLength(3)
    expect(await counts()).toEqual({ turns: 3, prompts: 2 })
  })

  test("compressed, decompressed again and continued", async () => {
    const path = kept.write(CODEX, first)
    await kept.read()
    const [before, entry] = [await kept.rows(), await lastEntry()]
    kept.write(`${CODEX}.zst`, zstdCompressSync(Buffer.from(first)))
    rmSync(path)
    await kept.read()
    expect([await kept.rows(), await lastEntry()]).toEqual([before, entry])
    kept.write(CODEX, first)
    rmSync(`${path}.zst`)
    kept.append(CODEX, item(3, asked("thanks")))
    await kept.read()
    expect(await kept.rows()).toHaveLength(before.length + 1)
    expect(await takenBack()).toEqual([])
  })

  test("compressed before it was ever read", async () => {
    kept.write(`${CODEX}.zst`, zstdCompressSync(Buffer.from(first)))
    await kept.read()
    expect(await live()).toEqual(["why is CI red", "a flaky test"])
  })

  test("legacy migrated to pages: no turn is duplicated, lost or rewound", async () => {
    const told = (second: number, payload: object) => line({ timestamp: at(second), type: "event_msg", payload })
    kept.write(
      CODEX,
      [
        meta({}, { history_mode: "legacy" }),
        item(1, asked("why is CI red")),
        told(1, { type: "user_message", message: "why is CI red" }),
        item(2, replied("a flaky test")),
        told(2, { type: "agent_message", message: "a flaky test" }),
      ].join(""),
    )
    await kept.read()
    const before = await kept.rows()
    const migrated = kept.write(
      "migrated.tmp",
      [
        meta({ ordinal: 0 }, { history_mode: "paginated" }),
        item(1, asked("why is CI red"), { ordinal: 1 }),
        item(2, replied("a flaky test"), { ordinal: 2 }),
        item(5, asked("mend it"), { ordinal: 3 }),
      ].join(""),
    )
    renameSync(migrated, join(kept.homeDir, CODEX))
    await kept.read()
    expect((await kept.rows()).filter(({ text }) => text !== "mend it")).toEqual(before)
    expect(await live()).toEqual(["why is CI red", "a flaky test", "mend it"])
  })
})

describe("Codex archives while nobody looks", () => {
  const archived = CODEX.replace("sessions/2026/08/16", "archived_sessions")
  const [first, rest] = [meta() + item(1, asked("why is CI red")), item(2, replied("a flaky test"))]
  const move = () => {
    mkdirSync(dirname(join(kept.homeDir, archived)), { recursive: true })
    renameSync(join(kept.homeDir, CODEX), join(kept.homeDir, archived))
  }

  test("and what was cut off before is superseded, although the file lies elsewhere now", async () => {
    kept.write(CODEX, first + rest)
    await kept.read()
    truncateSync(join(kept.homeDir, CODEX), first.length)
    move()
    kept.restart()
    await kept.read()
    expect(await live()).toEqual(["why is CI red"])
    expect(await takenBack()).toEqual(["a flaky test"])
    expect(await kept.store.sources.looks()).toHaveLength(1)
  })

  test("and a file that was only moved is not read again", async () => {
    kept.write(CODEX, first + rest)
    await kept.read()
    const entry = await lastEntry()
    move()
    await kept.read()
    expect([await lastEntry(), (await kept.source(ROLLOUT))?.path]).toEqual([entry, join(kept.homeDir, archived)])
  })
})

describe("Gemini CLI rewinds and repeats", () => {
  test("an old session that was moved into a log does not revive what was rewound in the log", async () => {
    const old = (...messages: string[]) =>
      JSON.stringify({ ...JSON.parse(begun), messages: messages.map((message) => JSON.parse(message)) })
    const [one, two] = [gemini("q1", "user", "one"), gemini("q2", "user", "two")]
    kept.write(GEMINI.slice(0, -1), old(one, two))
    await kept.read()
    expect(await live()).toEqual(["one", "two"])
    kept.write(GEMINI, begun + one + two + line({ $rewindTo: "q2" }))
    await kept.read()
    kept.restart()
    kept.write(GEMINI.slice(0, -1), old(one, two))
    await kept.read()
    expect([await live(), await takenBack()]).toEqual([["one"], ["two"]])
    kept.write(GEMINI, begun)
    await kept.read()
    expect(await live()).toEqual([])
  })

  test("a message under the same id replaces the earlier one", async () => {
    kept.write(GEMINI, begun + gemini("q1", "user", "go") + gemini("g1", "gemini", "do"))
    await kept.read()
    kept.append(GEMINI, gemini("g1", "gemini", "done"))
    await kept.read()
    expect(await live()).toEqual(["done", "go"])
    expect(await kept.rows()).toHaveLength(2)
    expect(await counts()).toEqual({ turns: 2, prompts: 1 })
  })

  test("a rewind supersedes; later turns are live, and only live turns count", async () => {
    kept.write(GEMINI, begun + gemini("q1", "user", "go") + gemini("g1", "gemini", "no") + gemini("q2", "user", "so?"))
    await kept.read()
    kept.append(GEMINI, line({ $rewindTo: "g1" }) + gemini("g2", "gemini", "yes"))
    await kept.read()
    expect(await live()).toEqual(["yes", "go"])
    expect(await takenBack()).toEqual(["no", "so?"])
    expect(await counts()).toEqual({ turns: 2, prompts: 1 })
  })

  test("a rewound message that is repeated is live again, and counted", async () => {
    kept.write(GEMINI, begun + gemini("q1", "user", "go") + gemini("q2", "user", "on") + line({ $rewindTo: "q2" }))
    await kept.read()
    expect(await counts()).toEqual({ turns: 1, prompts: 1 })
    kept.append(GEMINI, gemini("q2", "user", "on"))
    await kept.read()
    expect(await takenBack()).toEqual([])
    expect(await counts()).toEqual({ turns: 2, prompts: 2 })
  })

  test("read again from its start, it is the same", async () => {
    const content = [
      begun,
      gemini("q1", "user", "go"),
      gemini("q2", "user", "on"),
      line({ $rewindTo: "q2" }),
      gemini("q3", "user", "instead"),
    ].join("")
    const path = kept.write(GEMINI, content)
    await kept.read()
    const [before, beforeCounts] = [await kept.rows(), await counts()]
    utimesSync(path, 1_900_000_000, 1_900_000_000)
    await kept.read()
    expect(await kept.rows()).toEqual(before)
    expect(await counts()).toEqual(beforeCounts)
    expect(beforeCounts).toEqual({ turns: 2, prompts: 2 })
  })
})

describe("opencode's rows change in place", () => {
  const DB = ".local/share/opencode/opencode.db"
  let db: OpencodeStore
  let now: number
  let message: string
  beforeEach(async () => {
    db = new OpencodeStore(join(kept.homeDir, DB))
    now = Date.now()
    db.session("ses_1", { directory: "/w/app", title: "Tests", atMs: now })
    message = db.message("ses_1", "assistant", now)
  })
  afterEach(() => db.close())

  test("a part that grows while it is streamed is one turn", async () => {
    const part = db.part(message, "ses_1", { type: "text", text: "it fai" }, now)
    await kept.read()
    expect(await live()).toEqual(["it fai"])
    db.change(part, { type: "text", text: "it fails" }, now + 10)
    db.touch("ses_1", now + 10)
    await kept.read()
    expect(await live()).toEqual(["it fails"])
    expect(await kept.rows()).toHaveLength(1)
    expect(await counts()).toEqual({ turns: 1, prompts: 0 })
  })

  test("a session that is deleted stays kept", async () => {
    db.part(message, "ses_1", { type: "text", text: "keep me" }, now)
    await kept.read()
    db.remove("ses_1")
    await kept.read()
    expect(await live()).toEqual(["keep me"])
  })

  test("a reading cut off between two batches is done again, and counts nothing twice", async () => {
    for (let i = 0; i < 900; i++) {
      db.part(message, "ses_1", { type: "text", text: `part ${i}` }, now)
      db.part(message, "ses_1", { type: "step-start" }, now)
    }
    const failing = failingAfter(kept, 1, () => {})
    await expect(failing.read()).rejects.toThrow("killed")
    kept.restart()
    await kept.read()
    expect(await live()).toHaveLength(900)
    expect((await kept.source(DB))?.skipped).toEqual({ "step-start": 900 })
  })
})

describe("a file that is rewritten each time", () => {
  const FOLDER = ".cline/data/sessions/s1"
  const write = (...messages: [id: string, role: string, text: string][]) => {
    kept.write(`${FOLDER}/s1.json`, JSON.stringify({ version: 1, session_id: "s1", cwd: "/w/app", started_at: at(0) }))
    const content = messages.map(([id, role, text]) => ({ id, role, ts: 1, content: [{ type: "text", text }] }))
    kept.write(`${FOLDER}/s1.messages.json`, JSON.stringify({ version: 1, messages: content }))
  }

  test("a message that disappears is superseded, and live again when it returns", async () => {
    write(["a", "user", "one"], ["b", "assistant", "two"], ["c", "user", "three"])
    await kept.read()
    expect(await counts()).toEqual({ turns: 3, prompts: 2 })
    write(["a", "user", "one"], ["b", "assistant", "two, changed"])
    await kept.read()
    expect(await live()).toEqual(["one", "two, changed"])
    expect(await takenBack()).toEqual(["three"])
    expect(await counts()).toEqual({ turns: 2, prompts: 1 })
    write(["a", "user", "one"], ["b", "assistant", "two"], ["c", "user", "three"])
    await kept.read()
    expect([await live(), await takenBack()]).toEqual([["one", "two", "three"], []])
    expect(await counts()).toEqual({ turns: 3, prompts: 2 })
  })

  test("half written, it is read next time, and nothing is superseded", async () => {
    write(["a", "user", "one"])
    await kept.read()
    kept.write(`${FOLDER}/s1.messages.json`, '{"version":1,"mess')
    await expect(kept.read()).rejects.toThrow()
    expect([await live(), await takenBack()]).toEqual([["one"], []])
  })
})

describe("what no agent should write", () => {
  test("garbage, zeros, deep nesting and strange values are counted, and what surrounds them is kept", async () => {
    const deep = `{"type":"user","uuid":"d","sessionId":"${SID}","message":{"role":"user","content":${"[".repeat(100_000)}${"]".repeat(100_000)}}}\n`
    const hostile = [
      Buffer.from([0xff, 0xfe, 0x80, 0x0a]),
      Buffer.alloc(70_000, 0),
      Buffer.from("\n\n\r\n"),
      Buffer.from(deep),
      Buffer.from('"a string"\n7\nnull\n[]\n{}\n{"type":7}\n'),
      Buffer.from(line({ type: "never-heard-of", sessionId: SID })),
      Buffer.from(line({ type: "user", sessionId: SID, uuid: "\u0000", message: { content: "a\u0000b" } })),
    ]
    kept.write(CLAUDE, said("u1", "before"))
    for (const piece of hostile) kept.append(CLAUDE, piece)
    kept.append(CLAUDE, said("u2", "after"))
    await kept.read()
    const texts = await live()
    expect(texts).toContain("before")
    expect(texts).toContain("after")
    const source = (await kept.source(CLAUDE))!
    expect(source.unreadable).toBeGreaterThanOrEqual(8)
    expect(source.skipped["unknown kind: never-heard-of"]).toBe(1)
    expect(source.unknown).toBe(1)
    expect(source.offset).toBe(statSync(join(kept.homeDir, CLAUDE)).size)
    for (const { turn, text } of await kept.rows()) expect(turn + text).not.toContain("\u0000")
  })

  test("a turn of 100 MB is cut in the middle, says so, and is counted", async () => {
    const text = `begin ${"0123456789".repeat(10_000_000)} end`
    kept.write(CLAUDE, said("u1", "before") + said("u2", text) + said("u3", "after"))
    await kept.read()
    const [before, cut, after] = (await kept.rows()).map((row) => row.text)
    expect([before, after]).toEqual(["before", "after"])
    expect(cut!.length).toBeLessThanOrEqual(MAX_TURN_CHARS)
    expect([cut!.startsWith("begin 0123"), cut!.endsWith("789 end")]).toEqual([true, true])
    const leftOut = /\[Throughline left out ([\d,]+) characters here: a turn is stored up to 16 MB\./.exec(cut!)
    const count = Number(leftOut?.[1]?.replaceAll(",", ""))
    const around = cut!.length - cut!.split("\n\n")[1]!.length - 4
    expect(around + count).toBe(text.length)
    expect((await kept.source(CLAUDE))?.skipped).toEqual({ [OVER_LIMIT.turn]: 1 })
  }, 240_000)

  test("a turn of 15 MB is kept whole", async () => {
    kept.write(CLAUDE, said("u1", "x".repeat(15_000_000)))
    await kept.read()
    expect((await kept.rows()).map((row) => row.text.length)).toEqual([15_000_000])
    expect((await kept.source(CLAUDE))?.skipped).toEqual({})
  }, 240_000)

  test("an id or a name of 10 MB is cut short", async () => {
    const record = { type: "user", uuid: "u".repeat(10_000_000), sessionId: SID, gitBranch: "b".repeat(10_000_000) }
    kept.write(CLAUDE, line({ ...record, cwd: "/w/app", message: { content: "said" } }))
    await kept.read()
    const [row] = await kept.rows()
    expect([row?.text, row!.turn.length < 20_000]).toEqual(["said", true])
  }, 240_000)

  test("a line of 100 MB that is no record is counted", async () => {
    kept.write(CLAUDE, `${said("u1", "before")}${"x".repeat(100_000_000)}\n${said("u2", "after")}`)
    await kept.read()
    expect(await live()).toEqual(["before", "after"])
    expect((await kept.source(CLAUDE))?.unreadable).toBe(1)
  }, 240_000)

  test("a line over 128 MB is counted once, though it comes in parts and its reading is cut off", async () => {
    const part = "x".repeat(140_000_000)
    kept.write(CLAUDE, said("u1", "before") + part)
    await kept.read()
    kept.restart()
    kept.append(CLAUDE, part)
    await expect(failingAfter(kept, 2, () => {}).read()).rejects.toThrow("killed")
    kept.restart()
    await kept.read()
    kept.append(CLAUDE, `xxx\n${said("u2", "after")}`)
    await kept.read()
    expect(await live()).toEqual(["before", "after"])
    expect(await kept.source(CLAUDE)).toMatchObject({ skipped: { [OVER_LIMIT.line]: 1 }, unreadable: 0, lines: 2 })
  }, 240_000)

  test("a compressed file that is cut is counted once, however often it is looked at", async () => {
    const path = `${CODEX}.zst`
    const endless = [Buffer.from(meta() + item(1, asked("why"))), ...Array(11).fill(Buffer.alloc(100_000_000))]
    kept.write(path, await buffer(Readable.from(endless).pipe(createZstdCompress())))
    await kept.read()
    kept.restart()
    kept.append(path, "more\n")
    await kept.read()
    expect(await live()).toEqual(["why"])
    const once = { [OVER_LIMIT.line]: 1, [OVER_LIMIT.decompressed]: 1 }
    expect((await kept.source(path))?.skipped).toMatchObject(once)
  }, 240_000)

  test("a file that is there under two names is kept once", async () => {
    const path = kept.write(CLAUDE, said("u1", "one"))
    const other = join(kept.homeDir, `.claude/projects/-w-other/${SID}.jsonl`)
    mkdirSync(dirname(other), { recursive: true })
    linkSync(path, other)
    await kept.read()
    expect(await kept.rows()).toHaveLength(1)
    expect(await counts()).toEqual({ turns: 1, prompts: 1 })
  })
})
