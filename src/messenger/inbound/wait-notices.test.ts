import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { addSession } from "../../../test/contracts/store/examples.ts"
import { AGENT_CHANNEL, laneOf } from "../../domain/message.ts"
import { because, type Reason } from "../../domain/reason.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { moveOn, stateEntry } from "../../lib/transitions.ts"
import { waitingEntry } from "../../queue/messages/entries.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { waitDueAtMs } from "../notice-messages.ts"
import { waitNotice } from "../render/waiting.ts"
import { makeReceipts } from "./receipts.ts"

const NOW = 1_700_000_000_000
const DRAFT = "⏳ Somebody is typing at the terminal; your message is delivered when the input line is free."
const IN_NO_TMUX = "Not in tmux, so nothing can be typed; exit the agent at its terminal, then /resume it here."

let dir: string
let store: Store
let session: Session
let nowMs: number
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "tl-wait-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  session = await addSession(store)
  nowMs = NOW
  await store.topics.ensure({
    ...{
      id: "t-1",
      channel: "telegram",
      home: "here",
      chatId: "-100",
      threadId: 7,
      sharedThreadId: null,
      sessionId: session.id,
      name: "shop",
    },
    ...{ state: "open", verbosity: "normal", isMuted: false, makingAtMs: null, unconfirmed: 0, progressMessage: null },
    ...{ createdAtMs: NOW, usedAtMs: NOW },
  })
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const keyOf = (id: number) => `m-${String(id).padStart(16, "0")}`

/** Everything since the last time is heard, as the daemon does it. */
async function hear() {
  const consumer = makeReceipts({ channel: "telegram", clock: { nowMs: () => nowMs } })
  await store.transaction(async (tx) => {
    const entries = await tx.journal.after(await tx.journal.position(consumer.name), 100)
    await consumer.after(entries, tx, AbortSignal.abort())
    if (entries.length > 0) await tx.journal.advance(consumer.name, entries.at(-1)!.seq)
  })
}

async function written(id: number, { isTelegram = true } = {}) {
  const sender = { kind: "owner" as const, name: "Ada" }
  const origin = { channel: "telegram", chatId: "-100", threadId: 7, messageId: id, userId: "1", name: "Ada" }
  const lane = laneOf({ sessionId: session.id }, "normal", sender)
  const payload = {
    sessionId: session.id,
    text: `words ${id}`,
    priority: "normal",
    sender,
    ...(isTelegram && { origin }),
  }
  const delivery = { key: keyOf(id), lane, channel: AGENT_CHANNEL, payload, repeatable: false }
  await store.deliveries.enqueue({ ...delivery, maxAttempts: 1_000 }, nowMs)
  await store.journal.append([stateEntry({ ...delivery, sessionId: null, route: null }, "queued", nowMs)])
  await hear()
}

/** The dispatcher has looked at the first, and it waits for this. */
async function waits(id: number, reason: Reason) {
  const request = { owner: "c", host: "here", leaseMs: 1_000, limit: 10, channels: [AGENT_CHANNEL] }
  const taken = await store.deliveries.lease(request, nowMs)
  expect(taken.map(({ key }) => key)).toEqual([keyOf(id)])
  await store.deliveries.retry(taken[0]!.seq, "c", nowMs, reason.words, { countAttempt: false })
  await store.journal.append([waitingEntry(taken[0]!, nowMs)])
  await hear()
}

async function settled(id: number, state: "delivered" | "failed" | "cancelled", reason: Reason | null = null) {
  const delivery = (await store.deliveries.byKey(keyOf(id)))!
  await store.transaction((tx) => moveOn(tx, delivery, [state], nowMs, reason))
  await hear()
}

const said = async (id: number) => (await waitNotice(store, keyOf(id), (text) => text))?.body.text
const rows = async () =>
  (await store.deliveries.ofChannel("telegram", ["queued"])).flatMap(({ payload }) =>
    payload.kind === "waiting" || payload.kind === "waited" ? [[payload.kind, payload.noticeId]] : [],
  )
const receipts = async () =>
  (await store.deliveries.ofChannel("telegram", ["queued"])).flatMap(({ payload }) =>
    payload.kind === "receipt" ? [[payload.messageId, payload.state, payload.why]] : [],
  )
const dueMs = async (id: number) => (await waitDueAtMs(store, keyOf(id))) - NOW

test("a busy agent begins no notice, however often it is looked at", async () => {
  await written(1)
  await waits(1, because("agent_busy"))
  await waits(1, because("other_first"))
  expect(await rows()).toEqual([])
})

test("a draft is reported when it lasts; a reason that needs a person at once", async () => {
  await written(1)
  await waits(1, because("draft_open"))
  expect([await said(1), await dueMs(1)]).toEqual([DRAFT, 30_000])
  await waits(1, because("not_in_tmux"))
  expect([await said(1), await dueMs(1)]).toEqual([`⏳ ${IN_NO_TMUX}`, 800])
  await waits(1, because("agent_busy"))
  expect(await dueMs(1)).toBeGreaterThan(1e12)
  expect(await rows()).toEqual([
    ["waiting", keyOf(1)],
    ["waited", keyOf(1)],
    ["waited", keyOf(1)],
  ])
})

test("one that arrives before it is said is not told of", async () => {
  await written(1)
  await waits(1, because("not_in_tmux"))
  await settled(1, "delivered")
  expect(await dueMs(1)).toBeLessThanOrEqual(0)
  expect(await waitNotice(store, keyOf(1), (text) => text)).toMatchObject({ isWaiting: false })
})

test("several are one notice; a later one has its own, which would not be seen so far above", async () => {
  await written(1)
  await written(2)
  await waits(1, because("session_ended"))
  await written(3)
  expect(await said(1)).toMatch(/^⏳ 3 messages wait for this session\. The session has ended/)
  nowMs += 11 * 60_000
  await written(4)
  expect(await said(1)).toMatch(/^⏳ 3 messages/)
  expect(await said(4)).toMatch(/^⏳ The session has ended/)
  const before = (await rows()).filter(([kind]) => kind === "waiting")
  expect(before).toEqual([1, 4].map((id) => ["waiting", keyOf(id)]))
  await settled(1, "delivered")
  await settled(2, "failed", because("refused", "it would end the session"))
  expect(await said(1)).toMatch(/^⏳ Of 3 messages: 1 delivered, 1 not delivered, 1 waits for this session\. /)
  await settled(3, "cancelled", because("taken_back"))
  expect(await said(1)).toBe("Of 3 messages: 1 delivered, 1 not delivered, 1 cancelled.")
  nowMs += 60_000
  await settled(4, "delivered")
  expect(await said(4)).toBe("Delivered after 1 min.")
  expect(await store.waitNotices.open("telegram", session.id)).toEqual([])
})

test("a session that ended, or was dying when it was written to, is offered to go on, once for all that wait", async () => {
  const buttons = async () => (await waitNotice(store, keyOf(1), (text) => text))?.buttons
  await written(1)
  await waits(1, because("not_in_tmux"))
  expect(await buttons()).toBeUndefined()
  await written(2)
  await waits(1, because("session_ended"))
  expect(await buttons()).toEqual([[{ label: "Resume", data: `r:${session.id}` }]])
  expect((await rows()).filter(([kind]) => kind === "waiting")).toHaveLength(1)
  await settled(1, "delivered")
  await settled(2, "delivered")
  expect([await said(1), await buttons()]).toEqual(["Delivered: all 2 messages.", undefined])
})

test("behind what was sent from elsewhere it waits for the same", async () => {
  await written(1, { isTelegram: false })
  await waits(1, because("never_heard"))
  expect(await rows()).toEqual([])
  await written(2)
  expect(await rows()).toEqual([["waiting", keyOf(2)]])
  expect(await said(2)).toMatch(/^⏳ No hooks/)
})

test("why one failed is said once: in the notice where it was sent, else in a message of its own", async () => {
  const why = because("refused", "it would end the session")
  await written(1)
  await waits(1, because("session_ended"))
  await store.waitNotices.sent(keyOf(1), 50)
  await settled(1, "failed", why)
  expect(await said(1)).toBe("⚠️ Not delivered: it would end the session.")
  await written(2)
  await waits(2, because("session_ended"))
  await settled(2, "failed", why)
  expect(await receipts()).toEqual([
    [1, "queued", null],
    [1, "failed", null],
    [2, "queued", null],
    [2, "failed", "it would end the session"],
  ])
})

test("hearing it again changes nothing", async () => {
  await written(1)
  await waits(1, because("not_in_tmux"))
  const before = [await rows(), await store.waitNotices.open("telegram", session.id)]
  const consumer = makeReceipts({ channel: "telegram", clock: { nowMs: () => nowMs } })
  const entries = await store.journal.after(0, 100)
  await store.transaction((tx) => consumer.after(entries, tx, AbortSignal.abort()))
  expect([await rows(), await store.waitNotices.open("telegram", session.id)]).toEqual(before)
})
