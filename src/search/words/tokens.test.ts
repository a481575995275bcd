import { describe, expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import { eachWord } from "./tokens.ts"

function wordsOf(text: string): string[] {
  const words: string[] = []
  eachWord(text, (word) => words.push(word))
  return words
}

describe("the words of", () => {
  test.each([
    ["prose", "The Retries failed, again.", "the retri fail again"],
    ["an identifier in camel case", "getUserById", "getuserbyid get user by id"],
    ["the same in snake case", "get_user_by_id", "getuserbyid get user by id"],
    ["the same in kebab case", "get-user-by-id", "get user by id getuserbyid"],
    ["acronyms and numbers", "HTTPServer2", "httpserver2 http server 2"],
    ["plural acronyms", "URLs and parseIDs", "url and parseid pars id"],
    ["a path", "src/user.ts", "src user ts user.ts"],
    ["a Windows path", "C:\\work\\user.ts", "c work user ts user.ts"],
    ["a name with several endings", "user-service.test.ts", "user servic userservic test ts userservice.test.ts"],
    ["a call", "process.nextTick(done)", "process nexttick next tick done"],
    ["a private name", "__init__ _ $scope", "init scope"],
    ["numbers", "3.14 v1.2.3 404", "3 14 3.14 v1 1 2 3 v1.2.3 404"],
    ["contractions", "don't the user's they’re Caroline's b'abc'", "dont the user they carolin b abc"],
    ["hyphenated words", "re-indexing reindexing", "re index reindex reindex"],
    ["a short hash", "3f9ab2c1", "3f9ab2c1"],
    [
      "a long hash",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      `${"e3b0c44298fc1c149afbf4c8996fb92427ae41e4"}`,
    ],
    ["a UUID", "550E8400-e29b-41d4-a716-446655440000", "550e8400e29b41d4a716446655440000 550e8400"],
    ["accents", "naïve Müller ﬁle Straße", "naiv muller file strass"],
    ["Cyrillic and Greek", "Привет ΟΔΟΣ οδός", "привет οδοσ οδοσ"],
    ["Hindi, with its vowels", "हिन्दी", "हिन्दी"],
    ["Arabic, without points", "مُحَمَّد", "محمد"],
    ["Hebrew", "שָׁלוֹם", "שלום"],
    ["Japanese", "黒猫です。猫", "黒猫 猫で です す 猫"],
    ["narrow kana", "ｶﾞｷﾞ", "ガギ ギ"],
    ["Korean", "안녕 하", "안녕 녕 하"],
    ["Chinese beside English", "用React写", "用 react 写"],
    ["full-width letters", "ＡＢＣ", "abc"],
    ["emoji", "👨‍👩‍👧 done 🎉", "done"],
    ["only punctuation", "?! … -- __ /// '' \"\"", ""],
    ["half pairs of surrogates", "\ud800abc\udc00 x\udfff", "abc x"],
    ["nothing", "", ""],
  ])("%s", (_, text, expected) => {
    expect(wordsOf(text).join(" ")).toBe(expected)
  })
})

test("base64 adds nothing to the dictionary, whatever joins it", () => {
  const random = makeRandom(7)
  for (const alphabet of [
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  ]) {
    let words = 0
    for (let i = 0; i < 200; i++) {
      const run = Array.from({ length: 76 }, () => random.pick([...alphabet])).join("")
      words += wordsOf(`${run}==`).length
    }
    // A few short runs between two slashes get through; 200 lines would otherwise bring thousands.
    expect(words).toBeLessThan(400)
  }
})

test("a long name of real words is kept in parts, and cut as a whole", () => {
  const words = wordsOf(`${"shouldReconnectAfterTheServerClosed".repeat(3)}X`)
  expect(words[0]).toHaveLength(64)
  expect(words).toContain("reconnect")
})

test("every word stands where it is said to stand", () => {
  const text = "See getUserById in src/user-service.ts, naïve 黒猫です 𠮷野 done"
  eachWord(text, (word, start, end) => {
    expect(start).toBeLessThan(end)
    const again = wordsOf(text.slice(start, end))
    expect(again).toContain(word)
  })
})

test("whatever is written, words are whole, of 1 to 64 characters, and stand inside of the text", () => {
  const random = makeRandom(11)
  for (let round = 0; round < 300; round++) {
    const text = anyText(random)
    eachWord(text, (word, start, end) => {
      expect(word.length).toBeGreaterThan(0)
      expect(word.length).toBeLessThanOrEqual(64)
      expect(word.isWellFormed()).toBe(true)
      expect(start >= 0 && start < end && end <= text.length).toBe(true)
    })
  }
})

test("what stands between blanks gives the same words alone as in its text", () => {
  const random = makeRandom(5)
  for (let round = 0; round < 300; round++) {
    const text = anyText(random)
    const all = new Set(wordsOf(text))
    for (const piece of text.split(/\s+/)) for (const word of wordsOf(piece)) expect(all).toContain(word)
  }
})

test.each([
  ["letters", "a"],
  ["digits and letters by turns", "a1"],
  ["hyphens", "a-"],
  ["dots", "a."],
  ["apostrophes", "a'"],
  ["underscores", "_"],
  ["quotes", '"'],
  ["kana", "あ"],
  ["accents", "e\u0301"],
  ["bare accents", "\u0301"],
  ["half surrogates", "\ud83d"],
  ["slashes", "aB3/"],
  ["UUIDs", "550e8400-e29b-41d4-a716-446655440000-"],
])("a megabyte of %s takes linear time", (_, unit) => {
  const text = unit.repeat(Math.ceil(1_000_000 / unit.length))
  const startedMs = performance.now()
  eachWord(text, () => {})
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})
