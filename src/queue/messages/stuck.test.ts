import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { DeliveryState } from "../../domain/delivery.ts"
import type { Messages } from "../../domain/messages.ts"
import { because } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster, Team } from "../../domain/team.ts"
import { DAY_MS } from "../../lib/time.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeMessages } from "./messages.ts"
import { makeStuck, type Stuck } from "./stuck.ts"

const api = { name: "api", projectDir: "/w/api", platform: "claude-code" } as Team
const roster = { list: () => [api], byName: () => api, at: () => [], onChange: () => () => {} } as Roster
const sender = { kind: "agent", name: "web" } as const

let dir: string
let store: Store
let nowMs: number
let messages: Messages
let stuck: Stuck
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "stuck-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = 1_800_000_000_000
  const clock = { nowMs: () => nowMs }
  messages = makeMessages({
    store,
    clock,
    roster,
    interrupt: async () => ({ interrupted: false, reason: because("agent_idle").words }),
    settings: { duplicateWindowSeconds: 600, maxMessageBytes: 200_000, expireDays: 30 },
  })
  stuck = makeStuck({ store, clock, messages })
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

/** A message that came to this. */
async function inState(state: Exclude<DeliveryState, "queued">, text = state as string): Promise<string> {
  const { id } = (await messages.send({ target: "api", text, sender })) as { id: string }
  await store.deliveries.move((await messages.byId(id))!.seq, ["queued"], state, "because", nowMs)
  return id
}
const listed = async () => (await stuck.list()).map(({ key }) => key)

test("what failed, expired or may have arrived waits for a decision, newest first, and for a week", async () => {
  const ids = [await inState("uncertain"), await inState("failed"), await inState("expired")]
  for (const state of ["done", "cancelled", "running"] as const) await inState(state)
  expect(await listed()).toEqual(ids.toReversed())
  nowMs += 8 * DAY_MS
  expect(await listed()).toEqual([])
})

test("said again it is a new message of the same sender, once however often it is asked for, and nothing waits any more", async () => {
  const id = await inState("uncertain", "URGENT mend it")
  const { newId, settled } = await stuck.settle(id, { again: true })
  expect(settled).toBe(true)
  expect(await messages.byId(newId!)).toMatchObject({
    state: "queued",
    payload: { team: "api", text: "URGENT mend it", priority: "urgent", sender },
  })
  expect(await messages.byId(id)).toMatchObject({ state: "cancelled", outcome: `resent as ${newId}` })
  expect(await stuck.settle(id, { again: true })).toEqual({ settled: false, reason: "it is cancelled" })
  expect(await listed()).toEqual([])
  const journal = await store.journal.after(0, 100)
  expect(journal.filter(({ kind }) => kind === "message.queued")).toHaveLength(2)
  expect(journal.at(-1)).toMatchObject({ kind: "message.cancelled", data: { id } })
})

test("left as it is, nothing is said, and what still goes its way is left alone", async () => {
  const id = await inState("failed")
  expect(await stuck.settle(id, { again: false })).toEqual({ settled: true })
  expect(await messages.byId(id)).toMatchObject({ state: "cancelled", outcome: "dismissed" })
  const { id: queued } = (await messages.send({ target: "api", text: "new", sender })) as { id: string }
  expect(await stuck.settle(queued, { again: false })).toEqual({ settled: false, reason: "it is queued" })
  await expect(stuck.settle("m-0000000000000000", { again: true })).rejects.toMatchObject({ code: "message_not_found" })
})
