import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Delivery, NewDelivery } from "../domain/delivery.ts"
import { newSessionId, type SessionId } from "../domain/ids.ts"
import { AGENT_CHANNEL } from "../domain/message.ts"
import { PAIR_CHANNEL } from "../domain/pair.ts"
import { because } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { checkText, conclude, enqueue, expire, move, moveOn, settleLeased, stateEntry, upTo } from "./transitions.ts"

const NOW = 1_800_000_000_000
const QUESTION = { pairId: "p1", text: "?", sender: "web", fromTeam: "web", toTeam: "api", threadId: "main", chain: [] }

let dir: string
let store: Store
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "transitions-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

const question = (key: string): NewDelivery => ({
  ...{ key, lane: key, channel: PAIR_CHANNEL, payload: QUESTION, repeatable: false },
})
async function leased(key = "m-1"): Promise<Delivery> {
  await enqueue(store, question(key), NOW)
  const request = { owner: "me", host: "here", leaseMs: 1_000, limit: 1, channels: [PAIR_CHANNEL] }
  return (await store.deliveries.lease(request, NOW))[0]!
}
const row = async (key = "m-1") => (await store.deliveries.byKey(key))!
const told = async () => (await store.journal.after(0, 100)).map(({ kind, data }) => [kind, data.reason ?? null])

describe("a journal entry", () => {
  test("of a message names its session, or its team, and the way that it went", () => {
    const session = newSessionId()
    const delivery = { key: "m-1", channel: AGENT_CHANNEL, payload: { team: "api" } }
    const sent = { ...delivery, sessionId: session, route: "pane" as const }
    expect(stateEntry(delivery, "queued", NOW)).toEqual({
      ...{ kind: "message.queued", sessionId: null, atMs: NOW, data: { id: "m-1", team: "api", state: "queued" } },
    })
    expect(stateEntry(sent, "failed", NOW, because("not_taken"))).toMatchObject({
      sessionId: session,
      data: { id: "m-1", team: "api", state: "failed", rung: "pane", reason: "the agent did not accept it" },
    })
    const direct = { ...delivery, payload: { sessionId: "s-1" as SessionId } }
    expect(stateEntry(direct, "queued", NOW)).toMatchObject({ sessionId: "s-1", data: { sessionId: "s-1" } })
  })

  test("of a question names its pair and both teams; a notice has no pair", () => {
    const ask = { key: "m-1", channel: PAIR_CHANNEL, payload: QUESTION }
    const data = { id: "m-1", pair: "p1", from: "web", to: "api", state: "queued" }
    expect(stateEntry(ask, "queued", NOW)).toMatchObject({ sessionId: null, data })
    const { pairId: _, ...notice } = QUESTION
    expect(stateEntry({ ...ask, payload: notice }, "queued", NOW).data).not.toHaveProperty("pair")
  })
})

describe("a delivery", () => {
  test("is queued once under its key, and the journal says so once", async () => {
    expect([await enqueue(store, question("m-1"), NOW), await enqueue(store, question("m-1"), NOW)]).toEqual([
      ...[true, false],
    ])
    expect(await told()).toEqual([["message.queued", null]])
  })

  test("is settled by the holder of its lease only", async () => {
    const delivery = await leased()
    expect(await settleLeased(store, { ...delivery, leaseOwner: "you" }, "done", NOW)).toBe(false)
    expect(await settleLeased(store, { ...delivery, leaseOwner: null }, "done", NOW)).toBe(false)
    expect(await settleLeased(store, delivery, "failed", NOW, because("no_reply"))).toBe(true)
    expect(await settleLeased(store, delivery, "done", NOW)).toBe(false)
    expect(await row()).toMatchObject({ state: "failed", outcome: because("no_reply").words })
    expect(await told()).toEqual([
      ["message.queued", null],
      ["message.failed", because("no_reply").words],
    ])
  })

  test("is concluded while it is leased and after it was handed over, and never twice", async () => {
    const delivery = await leased()
    expect(await conclude(store, delivery, "delivered", NOW, null, "process 7")).toBe(true)
    expect(await row()).toMatchObject({ state: "delivered", outcome: "process 7" })
    expect(await conclude(store, { ...delivery, leaseOwner: null }, "done", NOW)).toBe(true)
    expect(await conclude(store, delivery, "failed", NOW)).toBe(false)
    expect(await row()).toMatchObject({ state: "done", outcome: null })
    expect((await told()).map(([kind]) => kind)).toEqual(["message.queued", "message.delivered", "message.done"])
  })

  test("moves from the states that are named, and is left alone while somebody has it", async () => {
    const delivery = await leased()
    expect(await move(store, delivery, ["queued"], "cancelled", NOW)).toBe(false)
    expect(await move(store, delivery, ["running"], "done", NOW)).toBe(false)
    expect(await move(store, delivery, ["queued"], "cancelled", NOW + 1_000, null, "dismissed")).toBe(true)
    expect(await row()).toMatchObject({ state: "cancelled", outcome: "dismissed" })
    expect(await told()).toHaveLength(2)
  })

  test("moves on step by step, until somebody else has moved it", async () => {
    const delivery = await leased()
    await settleLeased(store, delivery, "delivered", NOW)
    await moveOn(store, { ...delivery, state: "delivered" }, upTo("running", "delivered"), NOW)
    expect((await row()).state).toBe("running")
    await moveOn(store, { ...delivery, state: "seen" }, ["running", "done"], NOW)
    expect((await row()).state).toBe("running")
    const kinds = (await told()).map(([kind]) => kind)
    expect(kinds).toEqual(["message.queued", "message.delivered", "message.seen", "message.running"])
  })

  test("expires when its time is over", async () => {
    await enqueue(store, { ...question("m-1"), expiresAtMs: NOW + 1 }, NOW)
    await expire(store, PAIR_CHANNEL, NOW)
    expect((await row()).state).toBe("queued")
    await expire(store, PAIR_CHANNEL, NOW + 1)
    expect((await row()).state).toBe("expired")
    expect(await told()).toEqual([
      ["message.queued", null],
      ["message.expired", because("expired").words],
    ])
  })
})

test("the states between two are passed in order; none when it is past the last", () => {
  expect(upTo("done", "delivered")).toEqual(["seen", "running", "done"])
  expect(upTo("running", "seen")).toEqual(["running"])
  expect(upTo("running", "done")).toEqual([])
})

test("an empty text and one of too many bytes are refused", () => {
  expect(() => checkText(" \n", "text", 10)).toThrow("text is empty")
  expect(() => checkText("äöü", "text", 5)).toThrow("text has 6 bytes; queue.maxMessageBytes allows 5")
  expect(() => checkText("äöü", "text", 6)).not.toThrow()
})
