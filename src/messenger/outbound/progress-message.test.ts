import { afterEach, describe, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions } from "../../../test/fixtures/outbox.ts"
import { progressBody } from "./progress-message.ts"

const SOON = { timeout: 60_000, interval: 20 }
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const ran = (from: number, to: number) => range(from, to).map((seq) => `⚙ ran #${seq}`)

describe("the body of a progress message", () => {
  const line = async (seq: number) => `line ${seq}`

  test("has all lines as long as they fit, then the last ones and how many came before", async () => {
    expect(await progressBody({ seqs: [1, 2] }, line, 100)).toEqual({
      body: { text: "line 1\nline 2", marks: [] },
      cut: 0,
    })
    for (const units of [60, 100, 500, 4096]) {
      const shown = await progressBody({ seqs: range(1, 5_000) }, line, units)
      expect(shown!.body.text.length).toBeLessThanOrEqual(units)
      const [head, ...rest] = shown!.body.text.split("\n")
      expect(head).toBe(`… ${shown!.cut} earlier`)
      expect(rest).toEqual(range(shown!.cut + 1, 5_000).map((seq) => `line ${seq}`))
    }
  })

  test("is without what was forgotten, and nothing where all of it was", async () => {
    const some = async (seq: number) => (seq === 2 ? undefined : `line ${seq}`)
    expect((await progressBody({ seqs: [1, 2, 3] }, some, 100))!.body.text).toBe("line 1\nline 3")
    expect(await progressBody({ seqs: [1] }, async () => undefined, 100)).toBeUndefined()
  })
})

describe("the progress message of a topic", () => {
  let s: OutboxStage
  const stage = async (options?: StageOptions) => {
    s = await outboxStage(options)
  }
  afterEach(() => s.close())
  const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
  const threadOf = async (id: string) => (await s.store.topics.byId(id))!.threadId

  test("is one message that grows until something else is said, and then another one", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    s.start()
    for (const seq of range(1, 6)) {
      await s.line(topic, seq)
      if (seq % 2 === 0) await allSaid()
    }
    await s.turn(topic, 7)
    await s.line(topic, 8)
    await allSaid()
    const thread = await threadOf(topic.id)
    expect(s.texts(thread)).toEqual([ran(1, 6).join("\n"), "said #7", "⚙ ran #8"])
    expect(s.telegram.accepted("sendMessage")).toHaveLength(3)
  })

  test("is edited at a calm pace, but at once when something else follows", async () => {
    await stage({ settings: { progressEditMs: 60_000 } })
    const topic = await s.topic(await s.session("a"))
    s.start()
    for (const seq of [1, 2]) {
      await s.line(topic, seq)
      await allSaid()
    }
    for (const seq of [3, 4]) await s.line(topic, seq)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await s.waiting()).toBe(2)
    await s.turn(topic, 5)
    await allSaid()
    expect(s.texts(await threadOf(topic.id))).toEqual([ran(1, 4).join("\n"), "said #5"])
    expect(s.telegram.accepted("editMessageText")).toHaveLength(2)
  })

  test("that grew too long ends with a file that has every line", async () => {
    await stage({ rendering: { line: async (seq) => `⚙ ran #${seq}`.padEnd(90, "x") } })
    const topic = await s.topic(await s.session("a"))
    for (const seq of range(1, 120)) await s.line(topic, seq)
    s.start()
    await allSaid()
    const thread = await threadOf(topic.id)
    expect(s.texts(thread)[0]).toMatch(/^… 76 earlier\n⚙ ran #77x/)
    await s.turn(topic, 121)
    await allSaid()
    const [progressMessage, file, turn] = s.texts(thread)
    expect(progressMessage!.length).toBeLessThanOrEqual(4096)
    expect([...file!.matchAll(/#(\d+)/g)].map(([, seq]) => Number(seq))).toEqual(range(1, 120))
    expect(file).toMatch(/^\[tools.txt\] All 120 tools/)
    expect(turn).toBe("said #121")
    expect((await s.store.topics.byId(topic.id))!.progressMessage).toBeNull()
  })

  test("comes with its file also when nothing more is said", async () => {
    await stage({ rendering: { line: async (seq) => `⚙ ran #${seq}`.padEnd(400, "x") } })
    const topic = await s.topic(await s.session("a"))
    for (const seq of range(1, 20)) await s.line(topic, seq)
    s.start()
    await allSaid()
    s.pass(61_000)
    await expect.poll(async () => s.texts(await threadOf(topic.id)).length, SOON).toBe(2)
    expect([...s.texts(await threadOf(topic.id))[1]!.matchAll(/#(\d+)/g)]).toHaveLength(20)
  })

  test("goes on in a new message when somebody deleted the old one", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    await s.line(topic, 1)
    s.start()
    await allSaid()
    s.telegram.faults.next("editMessageText", {
      kind: "error",
      code: 400,
      description: "Bad Request: message to edit not found",
    })
    await s.line(topic, 2)
    await allSaid()
    expect(s.texts(await threadOf(topic.id))).toEqual(["⚙ ran #1", "⚙ ran #2"])
  })
})
