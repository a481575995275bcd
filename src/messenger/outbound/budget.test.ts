import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions } from "../../../test/fixtures/outbox.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { openBudget } from "./budget.ts"

const SOON = { timeout: 60_000, interval: 20 }
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe("the budget of a chat", () => {
  let dir: string
  let store: Store
  const can = { groupSendsPerMinute: 20, privateSendsPerMinute: 60, editsPerMinute: 30, sendGapMs: 1_000 }
  let nowMs = 1_800_000_000_000
  const open = (chatId = "-1") =>
    openBudget(
      {
        store,
        clock: { nowMs: () => nowMs },
        can: can as never,
        botId: "7",
        isGroup: (id) => id.startsWith("-"),
      },
      chatId,
    )
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "budget-"))
    store = await openStore(sqlite({ path: join(dir, "t.db") }))
  })
  afterEach(async () => {
    await store.close()
    rmSync(dir, { recursive: true })
  })

  /** Sends as fast as it is let, and says when each went. */
  async function rush(count: number, keep: number, chatId?: string): Promise<number[]> {
    const sent: number[] = []
    for (const _ of range(1, count)) {
      // A process of its own for each: nothing is known but what was kept.
      const budget = await open(chatId)
      nowMs = Math.max(nowMs, budget.readyAtMs("send", keep))
      await budget.spend(store, "send")
      sent.push(nowMs)
    }
    return sent
  }
  const most = (times: number[], windowMs: number) =>
    Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length))

  test("is one a second and so many a minute, over every restart", async () => {
    const group = await rush(100, 0)
    expect([most(group, 1_000), most(group, 60_000)]).toEqual([1, 20])
    const alone = await rush(200, 0, "5")
    expect([most(alone, 1_000), most(alone, 60_000)]).toEqual([1, 60])
  })

  test("keeps the last ones for what is more urgent", async () => {
    await rush(17, 3)
    const budget = await open()
    expect([budget.left("send", 3), budget.left("send", 0)]).toEqual([0, 3])
    expect(budget.readyAtMs("send", 0)).toBeLessThanOrEqual(nowMs + 1_000)
    expect(budget.readyAtMs("send", 3)).toBeGreaterThan(nowMs + 40_000)
  })

  test("counts edits apart from sends, and what blocks one blocks all", async () => {
    await rush(20, 0)
    const budget = await open()
    expect(budget.readyAtMs("edit", 0)).toBeLessThanOrEqual(nowMs)
    await budget.block("send", nowMs + 42_000)
    for (const kind of ["send", "edit", "react", "topic"] as const)
      expect((await open()).readyAtMs(kind, 0)).toBeGreaterThanOrEqual(nowMs + 42_000)
    expect((await open("-2")).readyAtMs("edit", 0)).toBeLessThanOrEqual(nowMs)
  })
})

describe("when the messenger says wait", () => {
  let s: OutboxStage
  const stage = async (options?: StageOptions) => {
    s = await outboxStage(options)
  }
  afterEach(() => s.close())
  const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)

  test.each(["sendMessage", "editMessageText", "createForumTopic"])(
    "by %s, nothing goes to that chat before, over a restart; other chats are not touched",
    async (method) => {
      await stage()
      const other = s.telegram.group("Home", { people: [s.ada] })
      const topic = await s.topic(await s.session("a"))
      const elsewhere = await s.topic(await s.session("b"), { chatId: String(other.id) })
      s.telegram.fault({ method, chatId: s.group.id, times: 1, trouble: { kind: "flood", retryS: 30 } })
      s.start()
      await s.line(topic, 1)
      if (method === "editMessageText") await allSaid()
      await s.line(topic, 2)
      await s.approval(topic, "q-1")
      await expect.poll(() => s.telegram.calls.filter(({ code }) => code === 429).length, SOON).toBe(1)
      const before = s.telegram.calls.length
      await s.stop()
      s.start()
      await s.turn(elsewhere, 3)
      await expect.poll(() => s.telegram.read(other).map(({ text }) => text), SOON).toContain("said #3")
      await new Promise((resolve) => setTimeout(resolve, 300))
      const meanwhile = s.telegram.calls.slice(before)
      expect(meanwhile.filter(({ params }) => Number(params.chat_id) === s.group.id)).toEqual([])
      s.pass(29_000)
      await new Promise((resolve) => setTimeout(resolve, 150))
      expect(s.telegram.ignoredWaits).toEqual([])
      s.pass(1_000)
      await allSaid()
      expect(s.telegram.ignoredWaits).toEqual([])
    },
  )

  test("the approval request is the first thing that comes after it", async () => {
    await stage({ can: { sendGapMs: 100 } })
    const topic = await s.topic(await s.session("a"))
    await s.turn(topic, 1)
    s.start()
    await allSaid()
    s.telegram.faults.next("sendMessage", { kind: "flood", retryS: 20 })
    for (const seq of range(2, 5)) await s.turn(topic, seq)
    await expect.poll(() => s.telegram.calls.filter(({ code }) => code === 429).length, SOON).toBe(1)
    await s.approval(topic, "q-1")
    s.pass(20_000)
    await allSaid()
    expect(s.texts((await s.store.topics.byId(topic.id))!.threadId).slice(0, 2)).toEqual(["said #1", "asks q-1"])
  })
})
