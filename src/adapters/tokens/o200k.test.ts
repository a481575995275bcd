import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { packedVocabulary } from "../../../scripts/vocabulary.ts"
import type { TokenCounter } from "../../domain/tokens.ts"
import { o200k } from "./o200k.ts"

let dir: string
let tokens: TokenCounter
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tokens-"))
  const path = join(dir, "o200k.tokens")
  writeFileSync(path, packedVocabulary())
  tokens = o200k(path)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** The same numbers in every run. */
function randoms(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }
}
const random = randoms(7)
const CODE = `export async function getUserById(id: string): Promise<User | undefined> {
\tconst row = await db.selectFrom("users").where("id", "=", id) // isn't cached\r
    return row && { ...row, createdAtMs: Number(row.created_at_ms) }
}
`
const SAMPLES: Record<string, string> = {
  empty: "",
  prose:
    "We'll go with the queue, because it's what THEY'VE asked for. Don't drop it!  \n\n  Then — maybe — 12345 more.",
  code: CODE,
  "many lines": CODE.repeat(50),
  markdown: "## Next steps\n\n- [ ] `src/a.ts`\n- [x] done\n\n| a | b |\n|---|---|\n\n```sh\nnpm test -- --run\n```\n",
  Chinese: "我们决定使用队列，因为它更简单。然后写测试。".repeat(20),
  Japanese: "キューを使うことにしました。テストを書きます。",
  Korean: "우리는 대기열을 사용하기로 결정했습니다.",
  Russian: "Мы решили использовать очередь, потому что так проще.",
  Arabic: "قررنا استخدام قائمة الانتظار",
  JSON: JSON.stringify({ todos: [{ content: "a\nb", status: "in_progress" }], path: "C:\\Users\\a", n: [1, 2.5e10] }),
  base64: Buffer.from(Array.from({ length: 3000 }, () => random(256))).toString("base64"),
  hex: Buffer.from(Array.from({ length: 1000 }, () => random(256))).toString("hex"),
  emoji: "🚀👩‍👩‍👧‍👦 done ✅ naïve café ﬁ",
  blanks: "  \t \n\n   \r\n x  \u00a0 y\u3000z   ",
  "one letter many times": "a".repeat(4000),
  "signs only": "=".repeat(3000) + "/*".repeat(500),
  "special tokens as text": "<|endoftext|> <|endofprompt|>",
}

describe("it counts as the published tokenizer does", () => {
  test.each(Object.entries(SAMPLES))("%s", (_, text) => {
    expect(tokens.count(text)).toBe(countTokens(text, { disallowedSpecial: new Set() }))
  })

  test("a thousand texts of any characters", () => {
    const alphabet = [..."aAbZ019 \t\n\r'’-_/\\.,;:!?(){}[]<>|\"`~@#$%^&*+=éßñЖж中文あアㄱ한🚀\u0301\u200d\u00a0ﬁ"]
    for (let round = 0; round < 1000; round++) {
      const text = Array.from({ length: 1 + random(120) }, () => alphabet[random(alphabet.length)]).join("")
      expect([text, tokens.count(text)]).toEqual([text, countTokens(text, { disallowedSpecial: new Set() })])
    }
  })
})

test("a megabyte without a blank is counted to within a thousandth, and cut without being read", () => {
  const text = "ab".repeat(500_000)
  const exact = countTokens(text.slice(0, 100_000))
  expect(Math.abs(tokens.count(text.slice(0, 100_000)) / exact - 1)).toBeLessThan(0.001)
  const since = performance.now()
  const end = tokens.fitting(text, 2000)
  expect(performance.now() - since).toBeLessThan(20_000)
  expect(tokens.count(text.slice(0, end))).toBeLessThanOrEqual(2000)
  expect(end).toBeGreaterThan(2000)
})

test("it knows how much of a text fits", () => {
  for (const [name, text] of Object.entries(SAMPLES)) {
    const all = tokens.count(text)
    expect([name, tokens.fitting(text, all)]).toEqual([name, text.length])
    for (const most of [0, 1, all >> 1, all - 1].filter((count) => count >= 0)) {
      const end = tokens.fitting(text, most)
      expect(tokens.count(text.slice(0, end)), name).toBeLessThanOrEqual(Math.max(0, most))
      if (most < all) expect(end, name).toBeLessThan(text.length)
    }
  }
})
