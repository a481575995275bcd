import { expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import { containsPhrase, cutPhrase, phraseAt } from "./phrase.ts"

test.each([
  ["max retries = 5", "const MAX_RETRIES = 5;"],
  ["max retries = 5", "max   retries\n\n= 5"],
  ["src/user.ts", "see `src/user.ts:12`"],
  ["user id", "the user-id, please"],
  ["getUserById", "await getUserById(1)"],
  ["naive muller", "der naïve Müller"],
  ["naïve Müller", "the naive muller"],
  ["cafe", "cafe\u0301"],
  ["Straße", "in der STRASSE"],
  ["Straße", "die Straße"],
  ["привет мир", "Привет, мир!"],
  ["黒猫", "私は黒猫です"],
  ["שלום עולם", "שלום, עולם"],
  ["first next", '{"text":"first\\nnext"}'],
  ["next", '{"text":"first\\nnext"}'],
  ["a+b (c)", "x = a+b (c)"],
  ["it's", "It’s done"],
])("%j is in %j", (phrase, text) => {
  expect(containsPhrase(text, phrase)).toBe(true)
})

test.each([
  ["user", "superuser users"],
  ["user id", "id user"],
  ["user id", "user the id"],
  ["max retries = 5", "max retries = 50"],
  ["cafe", "cafés"],
  ["a.b", "aXb"],
  ["猫犬", "猫と犬"],
  ["==", "a == b"],
  ["", "anything"],
  [".*", "anything"],
])("%j is not in %j", (phrase, text) => {
  expect(containsPhrase(text, phrase)).toBe(false)
})

test("it says where", () => {
  expect(phraseAt("one two one  two", "one two", 0)).toEqual([0, 7])
  expect(phraseAt("one two one  two", "one two", 1)).toEqual([8, 16])
  expect(phraseAt("éé one two", "one two", 0)).toEqual([3, 10])
  expect(phraseAt("one two", "one two", 1)).toBeNull()
})

test("no more than 64 words are tested", () => {
  const phrase = Array.from({ length: 100 }, (_, i) => `w${i}`).join(" ")
  expect(cutPhrase(phrase).split(" ")).toHaveLength(64)
  expect(containsPhrase(phrase.split(" ").slice(0, 64).join(" "), phrase)).toBe(true)
  const short = "just these words"
  expect(cutPhrase(short)).toBe(short)
})

test("every piece of a text that has a word in it is found in the text", () => {
  const random = makeRandom(21)
  for (let round = 0; round < 500; round++) {
    const text = anyText(random)
    for (const piece of text.split(/[^\p{L}\p{N}\p{M}]+/u)) {
      if (!/[\p{L}\p{N}]/u.test(piece)) continue
      expect([piece, containsPhrase(text, piece)]).toEqual([piece, true])
    }
  }
})

test.each([
  ["the first word", "a b", "a "],
  ["all but the last word", `${"a ".repeat(63)}b`, "a "],
  ["blanks", "a b", " "],
  ["one word and blanks", "a b", `a${" ".repeat(999)}`],
  ["written line breaks", "n n x", "\\n"],
  ["accents", "e x", "e\u0301"],
  ["bare accents", "é x", "\u0301"],
  ["many accents on one letter", "e x", `e${"\u0301".repeat(999_999)}`],
  ["accented words", `${"é ".repeat(63)}x`, "é "],
  ["vowel signs", `न${"\u094d".repeat(50)}x`, "न\u094d\u094d"],
  ["sharp s", `${"ß".repeat(100)}x`, "ß"],
  ["letters", "aaaaaaaaaaaab", "a"],
  ["kana", "ああああい", "あ"],
  ["backslashes", "a b", "\\"],
])("a megabyte of %s is tested in linear time", (_, phrase, unit) => {
  const text = unit.repeat(Math.ceil(1_000_000 / unit.length))
  const startedMs = performance.now()
  expect(containsPhrase(text, phrase)).toBe(false)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})

test("a text without accents is looked through around the longest word, and that finds what the pattern finds", () => {
  const { below, pick } = makeRandom(7)
  const WORDS = ["a", "A", "b", "aa", "ab", "n", "nab", "tab", "r1", "1"]
  const BETWEEN = [" ", "  ", ". ", "-", "\\n", "\\t", "\\", "\n", "_", ""]
  let found = 0
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + below(9) }, () => pick(WORDS) + pick(BETWEEN)).join("")
    const phrase = Array.from({ length: 1 + below(3) }, () => pick(WORDS)).join(" ")
    const isThere = phraseAt(text, phrase, 0) !== null
    if (isThere) found++
    expect(containsPhrase(text, phrase), JSON.stringify({ text, phrase })).toBe(isThere)
  }
  expect(found).toBeGreaterThan(2_000)
})
