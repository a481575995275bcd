import { join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, expect, test, vi } from "vitest"
import { type AskingHome, makeAskingHome } from "../fixtures/asking.ts"

const SOON = { timeout: 60_000, interval: 100 }
const SLOW_MS = 240_000
let b: AskingHome
afterEach(() => b.dispose())

const journal = () => {
  const db = new Database(join(b.home.dir, "throughline.db"), { readonly: true })
  try {
    const rows = db.prepare("select kind, data from journal where kind like 'pair.%' order by seq").all()
    return rows as { kind: string; data: string }[]
  } finally {
    db.close()
  }
}
const happens = (kind: string) =>
  vi.waitFor(() => {
    const found = journal().find((entry) => entry.kind === kind)
    expect(found, JSON.stringify(journal())).toBeDefined()
    return JSON.parse(found!.data) as Record<string, unknown>
  }, SOON)
/** Its conversation is in the archive, and the daemon looks after pairs when it starts. */
const startedAnew = async () => {
  await vi.waitFor(async () => {
    const { sessions } = await b.home.json<{ sessions: { promptCount: number }[] }>("sessions")
    expect(sessions[0]?.promptCount).toBe(2)
  }, SOON)
  await b.home.run("stop")
  await b.home.run("start")
}
const asked = async (env: Record<string, string>) => {
  b = await makeAskingHome({ api: {} }, { env })
  await b.ask("api", "<<SAY plum>>")
  return b.ask("api", "<<SAY fig>>")
}

test("a pair with many messages is compacted by its own agent, and continues in the same session", {
  timeout: SLOW_MS,
}, async () => {
  const { sessionId } = await asked({ THROUGHLINE_MAINTENANCE_COMPACT_AFTER_MESSAGES: "2" })
  await startedAnew()
  expect(await happens("pair.compacted")).toMatchObject({ to: "api", native: sessionId, prompts: 2 })
  expect((await b.status()).pairs).toMatchObject([{ status: "active" }])
  expect(await b.ask("api", "<<SAY kiwi>>")).toMatchObject({ status: "done", sessionId })
})

test("near its limit a pair continues in a new session that gets the old one's knowledge", {
  timeout: SLOW_MS,
}, async () => {
  const { sessionId } = await asked({ THROUGHLINE_MAINTENANCE_CONTINUE_AFTER_TOKENS: "1" })
  await startedAnew()
  expect(await happens("pair.continue_pending")).toMatchObject({ native: sessionId, tokens: expect.any(Number) })
  expect((await b.status()).pairs).toMatchObject([{ status: "continue_pending", sessionId }])
  const calls = b.modelCalls()
  const after = await b.ask("api", "<<SAY kiwi>>")
  expect(after).toMatchObject({ status: "done", answer: "kiwi", contextIsNew: true })
  expect(after.sessionId).not.toBe(sessionId)
  expect(b.modelCalls(), "one question, one call").toBe(calls + 1)
  expect(await happens("pair.continued")).toMatchObject({ native: sessionId, next: after.sessionId })
  const told = b.prompts().find((text) => text.includes("[This session continues an earlier one"))
  expect(told).toMatch(/(plum|fig)[\s\S]*\[Message m-\w+ from the owner to api, via Throughline\]\n<<SAY kiwi>>/)
  const lineage = new Database(join(b.home.dir, "throughline.db"), { readonly: true })
  expect(lineage.prepare("select native_id, why from pair_sessions order by since_ms").all()).toEqual([
    { native_id: sessionId, why: "first" },
    { native_id: after.sessionId, why: "continued" },
  ])
  lineage.close()
  const more = await b.ask("api", "<<RECALL pit>>")
  expect(more).toMatchObject({ sessionId: after.sessionId, answer: expect.stringMatching(/ kiwi pit$/) })
  expect((await b.status()).pairs).toMatchObject([{ status: "active" }])
})

test("an unused pair is archived, and a question restores it", { timeout: SLOW_MS }, async () => {
  const { sessionId } = await asked({ THROUGHLINE_MAINTENANCE_ARCHIVE_AFTER_DAYS: "0.00001" })
  await startedAnew()
  await happens("pair.archived")
  expect((await b.status()).pairs).toMatchObject([{ status: "archived" }])
  expect(await b.ask("api", "<<SAY kiwi>>")).toMatchObject({ status: "done", sessionId })
  expect((await b.status()).pairs).toMatchObject([{ status: "active" }])
})
