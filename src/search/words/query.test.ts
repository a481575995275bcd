import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import { weigh } from "./document.ts"
import { type ParsedQuery, parseQuery } from "./query.ts"
import { isStopWord } from "./stop-words.ts"

const NOW_MS = new Date(2026, 10, 15, 8).getTime()
const parse = (query: string) => parseQuery(query, NOW_MS)

/** Without the words that say little. */
const toldBy = ({ words }: ParsedQuery) => words.filter(({ isStop }) => !isStop)

/** "retri:1 conf*:1" */
function bag(query: string): string {
  return toldBy(parse(query))
    .map(({ word, weight, isPrefix }) => `${word}${isPrefix ? "*" : ""}:${weight}`)
    .join(" ")
}

test("stop words weigh little beside others", () => {
  expect(parse("the retries").words).toEqual([
    { word: "retri", weight: 1, isPrefix: false },
    { word: "the", weight: 0.3, isPrefix: false, isStop: true },
  ])
})

describe("the words of", () => {
  test.each([
    ["a question, without stop words", "how did we fix the retries?", "fix:1 retri:1"],
    ["nothing but stop words: then they count", "to be or not to be", "to:2 be:2 or:1 not:1"],
    ["a word said twice", "parser Parser parsers x", "parser:3 x:1"],
    ["an identifier: the whole above its parts", "getUserById", "getuserbyid:1 get:0.6 user:0.6 id:0.6"],
    ["a path", "src/user.ts", "src:1 user.ts:1 user:0.6 ts:0.6"],
    ["a prefix", "conf* x", "conf*:1 x:1"],
    ["a prefix that is longer than the stem", "configurat* retries*", "configurat*:1 configur:1 retries*:1 retri:1"],
    [
      "a prefix of an identifier",
      "getUser* src/us* user.t* max_retr*",
      "getuser*:1 getus:1 src:1 us*:1 user.t*:1 maxretr*:1",
    ],
    ["a prefix of one letter, which is none", "c* x*y", "c:1 x:1 y:1"],
    ["what other programs call operators", "foo AND bar OR baz NEAR(qux) NOT x", "foo:1 bar:1 baz:1 near:1 qux:1 x:1"],
    ["what other programs call fields", "project:foo role:user", "project:1 foo:1 role:1 user:1"],
    ["a pasted command", "rm -v -1 --force - x", "rm:1 v:1 1:1 forc:1 x:1"],
    ["characters that mean something elsewhere", "^(a){2}:* ~b+c \\ |", "2:1 b:1 c:1"],
    ["Japanese: pairs, and one alone as a beginning", "黒猫です 猫", "黒猫:1 猫で:1 です:1 猫*:1"],
    ["nothing", "  \n", ""],
    ["punctuation", '?! -- ** () "" -"" \'', ""],
  ])("%s", (_, query, expected) => {
    expect(bag(query)).toBe(expected)
  })
})

test("a phrase is kept as written; its words are also words", () => {
  const query = parse('fix "Max Retries = 5" and "getUser.then"')
  expect(query.phrases).toEqual([
    { text: "Max Retries = 5", words: ["max", "retri", "5"] },
    { text: "getUser.then", words: ["get", "user", "then"] },
  ])
  expect(toldBy(query).map(({ word }) => word)).toEqual([
    "fix",
    "max",
    "retri",
    "5",
    "getuser.then",
    "getus",
    "get",
    "user",
  ])
})

test("a phrase asks the index for parts only, since a whole depends on what is around it", () => {
  expect(parse('"user-service.test.ts" "max_retries"').phrases.map(({ words }) => words)).toEqual([
    ["user", "servic", "test", "ts"],
    ["max", "retri"],
  ])
  expect(parse('"黒猫" "猫"').phrases.map(({ words }) => words)).toEqual([["黒猫"], []])
})

test.each([
  ["unclosed", 'x "to the end', ["to the end"]],
  ["in curly quotes", "“one two” x", ["one two"]],
  ["without a blank around", 'a"b c"d', ["b c"]],
  ["empty", '"" " " x', []],
])("a phrase %s", (_, query, expected) => {
  expect(parse(query).phrases.map(({ text }) => text)).toEqual(expected)
})

test("excluded terms are not searched", () => {
  const query = parse('parser -lexers -"hand written" -src/user.ts -getUserById well-known')
  expect(query.excluded).toEqual([
    { text: "lexers", words: ["lexer"] },
    { text: "hand written", words: ["hand", "write"] },
    { text: "src/user.ts", words: ["src", "user", "ts"] },
    { text: "getUserById", words: ["getuserbyid"] },
  ])
  expect(query.words.map(({ word }) => word)).toEqual(["parser", "wellknown", "well", "know"])
  expect(query.isEmpty).toBe(false)
})

test.each([
  ["", 0],
  [" ?! ", 0],
  ["-lexer", 1],
  ['"=="', 1],
])("nothing to look for in %j", (query, notes) => {
  const parsed = parse(query)
  expect(parsed.isEmpty).toBe(true)
  expect(parsed.notes).toHaveLength(notes)
})

test("a query that only speaks of stop words is not empty", () => {
  expect(parse("the").isEmpty).toBe(false)
})

test("oversized queries are cut, with a note", () => {
  const words = parse(Array.from({ length: 500 }, (_, i) => `word${String.fromCharCode(97 + (i % 26))}x${i}`).join(" "))
  expect(words.words).toHaveLength(64)
  expect(words.notes).toEqual(["the query was cut to 64 words"])
  const phrases = parse(Array.from({ length: 20 }, (_, i) => `"same ${i}"`).join(" "))
  expect(phrases.phrases).toHaveLength(8)
  expect(phrases.notes).toEqual(["only the first 8 phrases were kept together"])
  const long = parse(`"${"one two ".repeat(100)}"`)
  expect(long.phrases[0]!.text.split(" ")).toHaveLength(64)
  expect(long.notes).toEqual(["a phrase was cut to 64 words"])
  expect(parse("word ".repeat(20_000)).notes).toEqual(["only the first 20000 characters of the query were read"])
  expect(parse(Array.from({ length: 20 }, (_, i) => `-no${i}`).join(" ")).excluded).toHaveLength(16)
})

test("dates are times, and words all the same", () => {
  const query = parse("what broke on 7 May 2023?")
  expect(query.time).toEqual([
    { fromMs: new Date(2023, 4, 7).getTime(), toMs: new Date(2023, 4, 8).getTime(), word: "7 may 2023" },
  ])
  expect(toldBy(query).map(({ word }) => word)).toEqual(["break", "7", "may", "2023"])
  expect(parse('"7 May 2023" retry').time).toBeUndefined()
})

test("every word of a document is found by a query for it", () => {
  const random = makeRandom(3)
  for (let round = 0; round < 500; round++) {
    const text = anyText(random).replaceAll(/["“”„*\p{Cc}`]|^-|(?<=\s)-/gu, " ")
    const { words } = weigh("prompt", text)
    for (const piece of text.split(/\s+/))
      for (const { word, isPrefix } of parse(piece).words)
        expect(words.has(word) || (isPrefix && [...words.keys()].some((other) => other.startsWith(word)))).toBe(true)
  }
})

test("whatever is typed, the answer is well-formed and within bounds", () => {
  const random = makeRandom(9)
  for (let round = 0; round < 2_000; round++) bounded(parse(anyText(random, 120)))
})

test("the parts of a query do not change each other: words, a phrase and an exclusion in any order mean the same", () => {
  const word = fc.stringMatching(/^[a-z]{4,9}$/).filter((text) => !isStopWord(text))
  const parts = fc.uniqueArray(word, { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(parts, fc.array(fc.nat({ max: 2 }), { minLength: 3, maxLength: 3 }), ([a, b, c, d, e], order) => {
      const pieces = [`${a} ${b}`, `"${c} ${d}"`, `-${e}`]
      const shuffled = pieces.map((piece, at) => ({ piece, at: order[at]! })).sort((x, y) => x.at - y.at)
      const [one, other] = [parse(pieces.join(" ")), parse(shuffled.map(({ piece }) => piece).join(" "))]
      const sorted = ({ words }: ParsedQuery) => words.map(({ word }) => word).sort()
      expect([sorted(other), other.phrases, other.excluded]).toEqual([sorted(one), one.phrases, one.excluded])
      expect(one.phrases.map(({ text }) => text)).toEqual([`${c} ${d}`])
      expect(one.excluded.map(({ text }) => text)).toEqual([e])
    }),
    { numRuns: 300 },
  )
})

test("any string at all, control characters and lone surrogates included, is a bounded query", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
      (text) => bounded(parse(text)),
    ),
    { numRuns: 1_000 },
  )
})

test.each([
  ["quotes", '"'],
  ["phrases", '"a b" '],
  ["stars", "*"],
  ["exclusions", "-ab "],
  ["hyphens", "-"],
  ["words", "parser lexer "],
  ["one word", "a"],
  ["blanks", " "],
  ["dates", "3 days ago "],
  ["half dates", "last "],
  ["kana", "あ"],
  ["dots", "a."],
  ["curly quotes", "“a"],
  ["prefixes", "ab*"],
])("100 kB of %s take linear time and stay within bounds", (_, unit) => {
  const startedMs = performance.now()
  bounded(parse(unit.repeat(100_000 / unit.length)))
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})

function bounded(parsed: ParsedQuery): void {
  expect(parsed.words.length).toBeLessThanOrEqual(64)
  expect(parsed.phrases.length).toBeLessThanOrEqual(8)
  expect(parsed.excluded.length).toBeLessThanOrEqual(16)
  expect(parsed.time?.length ?? 1).toBeLessThanOrEqual(8)
  expect(parsed.notes.length).toBeLessThanOrEqual(6)
  expect(parsed.isEmpty).toBe(parsed.words.length + parsed.phrases.length === 0)
  for (const { word, weight } of parsed.words) {
    expect(word.length > 0 && word.length <= 100 && word.isWellFormed()).toBe(true)
    expect(weight > 0 && weight <= 4).toBe(true)
  }
  for (const { words } of parsed.excluded) expect(words.length).toBeGreaterThan(0)
}
