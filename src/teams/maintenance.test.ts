import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Failure } from "../domain/failure.ts"
import { newSessionId, type SessionId } from "../domain/ids.ts"
import type { Permission } from "../domain/permission.ts"
import type { Store } from "../domain/store.ts"
import type { TurnKind } from "../domain/turn.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { type MaintenanceSettings, makeMaintenance, type PairKeeper } from "./maintenance.ts"

const NOW = 1_800_000_000_000
const DAY = 24 * 60 * 60_000
const OFF = {
  ...{ compactAfterTokens: 0, compactAfterMessages: 0, continueAfterTokens: 0, archiveAfterDays: 0 },
  keepPermissionsDays: 0,
  keepDeliveriesMs: 0,
}
let dir: string
let store: Store
let nowMs: number
let done: string[]
type Said = "done" | "busy" | "unable" | Failure
let says: { compact: Said; renew: Said; rest: "done" | "busy" }
let troubles: string[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "maintenance-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = NOW
  done = []
  says = { compact: "done", renew: "done", rest: "done" }
  troubles = []
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

/** An agent's side: what a pool does with a process, and what the process answers. */
const keeper: PairKeeper = {
  async compact({ id }) {
    done.push(`compact ${id}`)
    if (says.compact instanceof Failure) throw says.compact
    return says.compact
  },
  async renew({ id }, mark) {
    done.push(`renew ${id}`)
    if (says.renew instanceof Failure) throw says.renew
    if (says.renew === "done") await mark()
    return says.renew
  },
  async rest({ id }) {
    done.push(`rest ${id}`)
    return says.rest
  },
}
const maintenance = (settings: Partial<MaintenanceSettings>) =>
  makeMaintenance({
    ...{ store, keeper, clock: { nowMs: () => nowMs }, settings: { ...OFF, ...settings } },
    onTrouble: (error, what) => troubles.push(`${what}: ${Failure.from(error).message}`),
  })

async function pair(id: string, lastUsedAtMs = NOW): Promise<SessionId> {
  await store.pairs.ensure({
    ...{ id, fromTeam: "web", toTeam: id, threadId: "main", platform: "claude-code", nativeId: `n ${id}` },
    ...{ isMade: true, madeAtMs: NOW, status: "active", messageCount: 1, createdAtMs: NOW, lastUsedAtMs },
  })
  const about = { platform: "claude-code", nativeId: `n ${id}`, projectId: null, title: "t", tags: [], key: null }
  return (await store.sessions.create({ id: newSessionId(), createdAtMs: NOW, ...about })).session.id
}

let turns = 0
async function said(sessionId: SessionId, kind: TurnKind, inputTokens?: number) {
  turns += 1
  const rest = { model: null, toolName: null, toolCallId: null, isError: false, isFallback: false, sourceId: null }
  const usage = inputTokens === undefined ? null : { inputTokens }
  await store.turns.put([{ sessionId, nativeId: `t${turns}`, kind, text: "x", atMs: NOW + turns, usage, ...rest }])
}
const used = (id: string) => store.pairs.count(id, nowMs)
const status = async (id: string) => (await store.pairs.byId(id))?.status
const journal = async () => (await store.journal.after(0, 100)).map(({ kind, data }) => `${kind} ${data.id}`)

test("a session over the token limit is marked, compacted and active again, each step in the journal", async () => {
  const session = await pair("api")
  const { sweep } = maintenance({ compactAfterTokens: 1_000 })
  await said(session, "prompt")
  await said(session, "reply", 999)
  await sweep()
  expect(done).toEqual([])
  await said(session, "reply", 1_000)
  await sweep()
  expect(done).toEqual(["compact api"])
  expect(await status("api")).toBe("active")
  expect(await journal()).toEqual(["pair.compact_pending api", "pair.compacted api"])
  expect((await store.journal.after(0, 1))[0]!.data).toMatchObject({ tokens: 1_000, native: "n api", to: "api" })
})

test("so is one with too many messages since its last reset", async () => {
  const session = await pair("api")
  const { sweep } = maintenance({ compactAfterMessages: 2 })
  for (const kind of ["prompt", "prompt", "reset", "prompt"] as const) await said(session, kind)
  await sweep()
  expect(done).toEqual([])
  await said(session, "prompt")
  await sweep()
  expect(done).toEqual(["compact api"])
})

test("a pair with a busy agent stays marked until it idles, also across a restart", async () => {
  await said(await pair("api"), "reply", 5_000)
  says.compact = "busy"
  await maintenance({ compactAfterTokens: 1_000 }).sweep()
  expect(await status("api")).toBe("compact_pending")
  says.compact = "done"
  await maintenance({ compactAfterTokens: 1_000 }).sweep()
  expect(await status("api")).toBe("active")
  expect(await journal()).toEqual(["pair.compact_pending api", "pair.compacted api"])
})

test("a marked pair that was compacted elsewhere is unmarked", async () => {
  const session = await pair("api")
  await said(session, "reply", 5_000)
  says.compact = "busy"
  const { sweep } = maintenance({ compactAfterTokens: 1_000 })
  await sweep()
  await said(session, "reset")
  await sweep()
  expect(await status("api")).toBe("active")
  expect(done).toHaveLength(1)
})

test("a step is not repeated before its effect can be measured", async () => {
  await said(await pair("api"), "reply", 5_000)
  const { sweep } = maintenance({ compactAfterTokens: 1_000 })
  for (const _ of [1, 2, 3]) await sweep()
  expect(done).toEqual(["compact api"])
  nowMs += 11 * 60_000
  await sweep()
  expect(done).toHaveLength(1)
  await used("api")
  await sweep()
  expect(done).toHaveLength(2)
})

test("an agent that fails to compact, or cannot, is reported and left alone; other pairs are still maintained", async () => {
  await said(await pair("api"), "reply", 5_000)
  await said(await pair("db", NOW - 1), "reply", 5_000)
  says.compact = new Failure("agent_failed", "it went away")
  const { sweep } = maintenance({ compactAfterTokens: 1_000 })
  await sweep()
  expect(done).toEqual(["compact api", "compact db"])
  expect(await status("api")).toBe("active")
  expect(troubles).toContain("api: its session could not be compacted: it went away")
  expect(await journal()).toContain("pair.compact_failed db")
  says.compact = "unable"
  nowMs += 11 * 60_000
  await used("api")
  await used("db")
  await sweep()
  expect(await journal()).toContain("pair.compact_unable api")
  expect(await status("db")).toBe("active")
})

test("near its limit it is continued in a new session, or compacted if that is impossible", async () => {
  await said(await pair("api"), "reply", 9_000)
  const { sweep } = maintenance({ compactAfterTokens: 1_000, continueAfterTokens: 8_000 })
  says.renew = "busy"
  await sweep()
  says.renew = "done"
  await sweep()
  expect(done).toEqual(["renew api", "renew api"])
  expect(await journal()).toEqual(["pair.continue_pending api"])
  expect(await status("api")).toBe("continue_pending")
  nowMs += 11 * 60_000
  await used("api")
  await sweep()
  expect(done, "it waits for the next question").toHaveLength(2)
  says.renew = "unable"
  await store.pairs.update("api", { status: "active" })
  await sweep()
  expect(done.slice(2)).toEqual(["renew api", "compact api"])
})

test("a failed continuation is reported, and not retried at once", async () => {
  await said(await pair("api"), "reply", 9_000)
  says.renew = new Failure("agent_failed", "it went away")
  const { sweep } = maintenance({ continueAfterTokens: 8_000 })
  await sweep()
  await sweep()
  expect(done).toEqual(["renew api"])
  expect(await journal()).toEqual(["pair.continue_failed api"])
  expect(troubles).toEqual(["api: its session could not be continued in a new one: it went away"])
})

test("an unused pair is archived once its agent idles, and then left alone", async () => {
  await said(await pair("api", NOW - 10 * DAY), "reply", 5_000)
  await pair("db", NOW - 10 * DAY + 1)
  says.rest = "busy"
  const { sweep } = maintenance({ compactAfterTokens: 1_000, archiveAfterDays: 10 })
  await sweep()
  expect(await status("api")).toBe("active")
  says.rest = "done"
  await sweep()
  await sweep()
  expect(await status("api")).toBe("archived")
  expect(await status("db")).toBe("active")
  expect(done).toEqual(["rest api", "rest api"])
  expect(await journal()).toEqual(["pair.archived api"])
})

test("with everything off nothing is done, and a session that was not captured has no load", async () => {
  await said(await pair("api", 0), "reply", 1_000_000)
  await maintenance({}).sweep()
  await store.pairs.update("api", { nativeId: "another" })
  await maintenance({ compactAfterTokens: 1, compactAfterMessages: 1, continueAfterTokens: 1 }).sweep()
  expect(done).toEqual([])
})

test("old decided permissions are dropped, pending ones are not", async () => {
  const rest = {
    home: "h",
    asker: "a",
    team: null,
    sessionId: null,
    tool: "Bash",
    title: "t",
    input: {},
    suggestions: [],
    questions: [],
  }
  const open = {
    state: "waiting",
    always: null,
    reason: null,
    answeredBy: null,
    via: "process",
    answers: {},
    takenAtMs: null,
    answeredAtMs: null,
  } satisfies Partial<Permission>
  for (const id of ["old", "new", "waits"])
    await store.permissions.ask({ id, ...rest, ...open, askedAtMs: NOW - 99 * DAY, expiresAtMs: NOW })
  await store.permissions.decide("old", { state: "denied", by: "me", atMs: NOW - 91 * DAY })
  await store.permissions.decide("new", { state: "allowed", by: "me", atMs: NOW - 89 * DAY })
  const left = async () => (await store.permissions.list({ last: 9 })).map(({ id }) => id).toSorted()
  await maintenance({}).sweep()
  expect(await left()).toEqual(["new", "old", "waits"])
  await maintenance({ keepPermissionsDays: 90 }).sweep()
  expect(await left()).toEqual(["new", "waits"])
})

test("old finished deliveries are dropped, except those that an open question needs", async () => {
  const settled = (count: number, atMs: number, name: string) =>
    store.transaction(async ({ deliveries }) => {
      for (let at = 0; at < count; at++) {
        const key = `${name}${at}`
        await deliveries.enqueue({ key, lane: key, channel: "telegram", payload: {}, repeatable: true }, atMs)
        await deliveries.move((await deliveries.byKey(key))!.seq, ["queued"], "done", null, atMs)
      }
    })
  await settled(1_203, NOW - 31 * DAY, "old")
  await settled(3, NOW - 29 * DAY, "new")
  const count = async () => (await store.deliveries.counts("telegram")).length
  await maintenance({}).sweep()
  expect(await count(), "0 keeps it for ever").toBe(1_206)

  const ask = { key: "ask", lane: "pair:p", channel: "pair", payload: {}, repeatable: false }
  await store.deliveries.enqueue(ask, NOW - 32 * DAY)
  await maintenance({ keepDeliveriesMs: 30 * DAY }).sweep()
  expect(await count()).toBe(1_206)

  await store.deliveries.move((await store.deliveries.byKey("ask"))!.seq, ["queued"], "done", null, NOW)
  await maintenance({ keepDeliveriesMs: 30 * DAY }).sweep()
  expect(await count()).toBe(3)
  expect(await store.deliveries.byKey("ask")).toBeDefined()
})
