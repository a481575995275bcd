import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import { keepConversation, type Spoken } from "../../../test/fixtures/conversation.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import { telegramChannel } from "../../adapters/telegram/telegram.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeRender } from "./render.ts"

const can = { maxTextUnits: 4096, maxFileBytes: 50_000_000 }
let dir: string
let store: Store
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "render-"))
  store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})
const render = () => makeRender({ store, can, redact: (text) => text.replaceAll("hunter2", "[redacted]") })
async function kept(...turns: Spoken[]): Promise<number[]> {
  const { id } = await keepConversation(store, { projectId: null, startMs: 1, projectPath: "/w" }, turns)
  return store.turns.seqs(id)
}
const turn = (seq: number, isPing = false) => ({ kind: "turn", topicId: "t", seq, isPing }) as const

describe("what is to be shown", () => {
  test("of a long text is its beginning, and all of it as a file; of a shorter one every part", async () => {
    const long = "A paragraph of words.\n\n".repeat(1_000)
    const [few, many] = await kept(["reply", "word ".repeat(2_000)], ["reply", long])
    expect((await render().parts(turn(few!)))!.map(({ body, file }) => [body.text.length <= 4096, file])).toEqual(
      Array(3).fill([true, undefined]),
    )
    const [head, file, ...rest] = (await render().parts(turn(many!, true)))!
    expect(rest).toEqual([])
    expect(head!.body.text).toMatch(/^A paragraph[\s\S]*… continued in the file$/)
    expect([head!.isSilent, file!.isSilent]).toEqual([false, true])
    expect(file!.file!.name).toBe(`reply-${many}.md`)
    expect(Buffer.from(file!.file!.bytes).toString()).toBe(long)
  })

  test("of a prompt is what was typed, whatever it would mean in Markdown", async () => {
    const [seq] = await kept(["prompt", "run `x` on **all** _of_ it"])
    const [part] = (await render().parts(turn(seq!)))!
    expect(part!.body).toEqual({
      text: "🧑‍💻 run `x` on **all** _of_ it",
      marks: [{ kind: "quote", offset: 0, length: 32 }],
    })
  })

  test("is nothing where it was taken back, or is blank; and why a message was not taken, where there is a reason", async () => {
    const [back, blank] = await kept(["reply", "gone"], ["reply", "\u200b \n"])
    await store.turns.supersede([back!], 2)
    expect(await render().parts(turn(back!))).toBeUndefined()
    expect(await render().line(back!)).toBeUndefined()
    expect(await render().parts(turn(blank!))).toBeUndefined()
    const receipt = { kind: "receipt", chatId: "1", threadId: null, messageId: 1, state: "failed" } as const
    expect((await render().parts({ ...receipt, why: "the agent is gone" }))![0]!.body.text).toBe(
      "⚠️ Not delivered: the agent is gone",
    )
    expect(await render().parts({ ...receipt, why: null })).toBeUndefined()
  })

  test("an answer has its buttons under the last part, and its file", async () => {
    const answer = { kind: "answer", chatId: "1", threadId: null, body: plain("word ".repeat(1_000)) } as const
    const buttons = [[{ label: "A", data: "a" }]]
    const parts = (await render().parts({ ...answer, buttons, file: { name: "a.txt", text: "b" } }))!
    expect(parts.map((part) => [part.buttons, part.file?.name])).toEqual([
      [undefined, undefined],
      [buttons, "a.txt"],
    ])
  })
})

test("whatever an agent writes, Telegram takes it as it is", async () => {
  const telegram = await startTelegram({ limits: false })
  const group = telegram.group("Work", { people: [telegram.person("Ada")] })
  const channel = telegramChannel({ token: telegram.token, apiRoot: telegram.apiRoot })
  const syntax =
    "* ** _ ~~ ` ``` \n \n\n > # - | [x](https://a.b/c) [y](z) ![i](https://a.b) **b** `c` **_`d`_**".split(" ")
  const random = makeRandom(7)
  const texts = Array.from({ length: 150 }, () =>
    Array.from({ length: random.below(400) + 1 }, () =>
      random.chance(0.6) ? random.pick(syntax) : anyText(random, 5),
    ).join(" "),
  )
  const seqs = await kept(...texts.map((text, index): Spoken => [index % 5 ? "reply" : "prompt", text]))
  const refused: unknown[] = []
  for (const seq of seqs)
    for (const { body, file } of (await render().parts(turn(seq))) ?? []) {
      const told = await channel.send({ chatId: String(group.id), threadId: null }, { body, ...(file && { file }) })
      if (!told.ok) refused.push({ seq, trouble: told.trouble, body })
    }
  await telegram.close()
  expect(refused).toEqual([])
})
