import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { expect, onTestFinished, test } from "vitest"
import { platforms } from "../../../src/agents/list.ts"
import { OVER_LIMIT } from "../../../src/domain/source.ts"
import { samples } from "../../fixtures/platform-samples.ts"
import { claims, readAll } from "../platform.ts"

const PROMPTS = ["the first prompt", "the second prompt", "the third prompt"]
/** 200 MB of text, made by SQLite itself. */
const HUGE = "hex(zeroblob(100000000))"

interface Attack {
  agent: string
  what: string
  sql: string
  /** What is still there; a conversation whose own record is too long is left out as a whole. */
  kept: string[]
}

const others = [PROMPTS[0]!, PROMPTS[2]!]
const attacks: Attack[] = [
  {
    agent: "opencode",
    what: "a part",
    sql: `UPDATE part SET data = '{"type":"text","text":"' || ${HUGE} || '"}' WHERE id = 'prt_000001'`,
    kept: others,
  },
  {
    agent: "opencode",
    what: "a message's own record",
    sql: `UPDATE message SET data = '{"role":"user","x":"' || ${HUGE} || '"}' WHERE id = 'msg_000001'`,
    kept: PROMPTS,
  },
  {
    agent: "opencode@2",
    what: "a message",
    sql: `UPDATE session_message SET data = '{"text":"' || ${HUGE} || '"}' WHERE id = 'msg_000001'`,
    kept: others,
  },
  {
    agent: "cursor",
    what: "a bubble",
    sql: `UPDATE cursorDiskKV SET value = '{"type":1,"text":"' || ${HUGE} || '"}' WHERE key = 'bubbleId:c-1:b1'`,
    kept: others,
  },
  {
    agent: "cursor",
    what: "a composer",
    sql: `UPDATE cursorDiskKV SET value = substr(value, 1, length(value) - 1) || ',"x":"' || ${HUGE} || '"}'
          WHERE key = 'composerData:c-1'`,
    kept: [],
  },
  {
    agent: "cursor-cli",
    what: "a blob",
    sql: `UPDATE blobs SET data = CAST('{"role":"user","content":"' || ${HUGE} || '"}' AS BLOB)
          WHERE CAST(data AS TEXT) LIKE '%second%'`,
    kept: others,
  },
]

test.each(attacks)(
  "$what of 200 MB in $agent's database is not read, and is named",
  async ({ agent, sql, kept }) => {
    const homeDir = mkdtempSync(join(tmpdir(), "cells-"))
    onTestFinished(() => rmSync(homeDir, { recursive: true, force: true }))
    samples[agent]!(homeDir, { prompts: PROMPTS, unknown: 0 })
    const platform = platforms.find(({ id }) => id === agent.split("@")[0])!
    const machine = { os: "linux", homeDir, env: {} } as const
    const db = new Database(claims(platform, machine)[0]!.file.path)
    expect(db.prepare(sql).run().changes).toBe(1)
    db.close()

    const captures = await readAll(platform, machine)
    const turns = captures.filter((capture) => capture.type === "turn")
    expect(turns.map(({ text }) => (text.length > 1_000 ? `${text.length} characters` : text))).toEqual(kept)
    expect(captures.filter((capture) => capture.type === "skipped")).toEqual([
      { type: "skipped", kind: OVER_LIMIT.cell },
    ])
  },
  240_000,
)
