import { afterEach, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions, testRendering } from "../../../test/fixtures/outbox.ts"
import { plain } from "../../domain/rich-text.ts"

const SOON = { timeout: 60_000, interval: 20 }
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
let s: OutboxStage
const stage = async (options?: StageOptions) => {
  s = await outboxStage(options)
}
afterEach(() => s.close())
const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const textsOf = async (id: string) => s.texts((await s.store.topics.byId(id))!.threadId)
const numbers = (texts: string[]) => texts.flatMap((text) => [...text.matchAll(/#(\d+)/g)].map(([, n]) => Number(n)))
const FEW = { groupSendsPerMinute: 6 }

test("what waits is sent one by one as long as there is room for that in this minute", async () => {
  await stage({ can: FEW })
  const topic = await s.topic(await s.session("a"))
  for (const seq of range(1, 3)) await s.turn(topic, seq)
  s.start()
  await allSaid()
  expect(await textsOf(topic.id)).toEqual(["said #1", "said #2", "said #3"])
})

test("neighbours become one message when there is not, with the tools between them, in order", async () => {
  await stage({ can: FEW })
  const topic = await s.topic(await s.session("a"))
  await s.turn(topic, 1)
  for (const seq of [2, 3]) await s.line(topic, seq)
  for (const seq of range(4, 9)) await s.turn(topic, seq)
  s.start()
  await allSaid()
  const texts = await textsOf(topic.id)
  expect(texts).toHaveLength(1)
  expect(texts[0]).toMatch(/^said #1\n\n⚙ ran #2\n⚙ ran #3\n\nsaid #4\n\nsaid #5/)
  expect(numbers(texts)).toEqual(range(1, 9))
})

test("marks stay on their words when messages become one", async () => {
  const bold = { kind: "bold", offset: 0, length: 4 } as const
  await stage({
    can: FEW,
    rendering: {
      parts: async (out) =>
        out.kind === "turn"
          ? [{ body: { text: `said #${out.seq}`, marks: [bold] }, isSilent: true }]
          : testRendering.parts(out),
    },
  })
  const topic = await s.topic(await s.session("a"))
  for (const seq of range(1, 9)) await s.turn(topic, seq)
  s.start()
  await allSaid()
  const [message] = s.telegram
    .read(s.group, (await s.store.topics.byId(topic.id))!.threadId)
    .filter(({ service }) => !service)
  expect(message!.entities.map(({ offset, length }) => message!.text.slice(offset, offset + length))).toEqual(
    range(1, 9).map(() => "said"),
  )
})

test("a long backlog is one file and a summary, with every event of it in order; what comes after is said after it", async () => {
  await stage({
    can: FEW,
    rendering: {
      parts: async (out) =>
        out.kind === "turn"
          ? [{ body: plain(`said #${out.seq} ${"x".repeat(900)}`), isSilent: true }]
          : testRendering.parts(out),
    },
  })
  const topic = await s.topic(await s.session("a"))
  for (const seq of range(1, 60)) await (seq % 3 === 0 ? s.turn(topic, seq) : s.line(topic, seq))
  s.start()
  await allSaid()
  await s.turn(topic, 61)
  await allSaid()
  const [file, after, ...none] = await textsOf(topic.id)
  expect(none).toEqual([])
  expect(file).toMatch(/^\[meanwhile.md\] More was said than could be sent: 20 messages and 40 tools/)
  const [, inFile] = file!.split("#60 ") as [string, string]
  expect(numbers([file!]).slice(1)).toEqual(range(1, 60))
  expect(inFile).toBeDefined()
  expect(after).toMatch(/^said #61/)
})

test("what has a file or buttons of its own is never coalesced", async () => {
  await stage({
    can: FEW,
    rendering: {
      parts: async (out) =>
        out.kind === "turn" && out.seq === 4
          ? [{ body: plain("said #4"), isSilent: true, file: { name: "own.txt", bytes: Buffer.from("own") } }]
          : testRendering.parts(out),
    },
  })
  const topic = await s.topic(await s.session("a"))
  for (const seq of range(1, 9)) await s.turn(topic, seq)
  s.start()
  await allSaid()
  expect(await textsOf(topic.id)).toEqual([
    "said #1\n\nsaid #2\n\nsaid #3",
    "[own.txt] said #4\nown",
    "said #5\n\nsaid #6\n\nsaid #7\n\nsaid #8\n\nsaid #9",
  ])
})
