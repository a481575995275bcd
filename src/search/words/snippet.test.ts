import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import { parseQuery } from "./query.ts"
import { snippetOf } from "./snippet.ts"
import { stem } from "./stem.ts"
import { isStopWord } from "./stop-words.ts"

const FILLER = "lorem ipsum dolor sit amet "

/** The snippet with what is marked in brackets. */
function marked(text: string, query: string, maxChars = 80): string {
  const snippet = snippetOf(text, parseQuery(query, 0), maxChars)
  let out = ""
  let at = 0
  for (const [start, end] of snippet.marks) {
    out += `${snippet.text.slice(at, start)}[${snippet.text.slice(start, end)}]`
    at = end
  }
  return out + snippet.text.slice(at)
}

test.each([
  ["stems", "It Retries twice", "retry", "It [Retries] twice"],
  ["short words whose stem ends otherwise", "too busy for hoping", "busy hope", "too [busy] for [hoping]"],
  [
    "what follows all that was wanted",
    "a needle, needles, and a needle",
    "needle",
    "a [needle], [needles], and a [needle]",
  ],
  ["forms that begin otherwise", "it became still, dying", "become die", "it [became] still, [dying]"],
  ["irregular forms", "we went home", "go", "we [went] home"],
  ["identifiers as a whole", "await getUserById(1)", "getUserById", "await [getUserById](1)"],
  ["parts of identifiers", "await getUserById(1)", "user id", "await get[User]By[Id](1)"],
  ["file names", "in src/user.ts.", "user.ts", "in src/[user.ts]."],
  ["long file names", "see Cluster-User.test.ts:12", "cluster-user.test.ts", "see [Cluster-User.test.ts]:12"],
  ["not what only begins alike", "connie, connote, Connections", "connect", "connie, connote, [Connections]"],
  ["words joined in another way", "the wellknown, well_known port", "well-known", "the [wellknown], [well_known] port"],
  ["other endings of a stem", "capability of capable", "capabilities", "[capability] of [capable]"],
  ["prefixes", "configure the config", "conf*", "[configure] the [config]"],
  ["phrases as one", "so max  retries = 5.", '"max retries = 5"', "so [max retries = 5]."],
  ["accents", "der Müller kam", "muller", "der [Müller] kam"],
  ["pairs", "私は黒猫です", "黒猫", "私は[黒猫]です"],
  ["one character", "黒猫", "猫", "黒[猫]"],
  ["words of a right-to-left text", "שלום עולם", "עולם", "שלום [עולם]"],
  ["nothing where nothing matches", "one two", "three", "one two"],
  ["nothing in nothing", "", "three", ""],
])("marks %s", (_, text, query, expected) => {
  expect(marked(text, query)).toBe(expected)
})

test("marks every form of every word of the manual, whichever form is asked for", () => {
  const manual = readdirSync("docs").filter((name) => name.endsWith(".md"))
  const text = manual.map((name) => readFileSync(`docs/${name}`, "utf8")).join(" ")
  const words = new Set([...text.matchAll(/(?<![\w-])[a-z]{2,20}(?![\w'’.-])/g)].map(([word]) => word))
  const bare = [...words].filter((word) => !isStopWord(word))
  for (const [, forms] of Map.groupBy(bare, stem)) {
    const all = forms.join(" ")
    const whole = all.length + 2
    for (const form of forms)
      expect([form, marked(all, form, whole)]).toEqual([form, forms.map((f) => `[${f}]`).join(" ")])
  }
})

test.each([
  ["blanks and line breaks", "a\n\n\tneedle   b ", "a [needle] b"],
  ["colours", "\u001b[1;31mneedle\u001b[0m b", "[needle] b"],
  ["a window title", "\u001b]0;title\u0007needle", "[needle]"],
  ["control characters", "a\u0000\u0008needle\u007f", "a [needle]"],
  ["what turns the direction of writing", "a \u202eneedle\u202c b", "a [needle] b"],
  ["halves of characters", "a \ud83dneedle\ude00 b 😀", "a [needle] b 😀"],
  ["fences, but not code", "a\n```\nneedle `x`\n```\nb", "a [needle] `x` b"],
])("is one line without %s", (_, text, expected) => {
  expect(marked(text, "needle")).toBe(expected)
})

test("shows the place with most of the words, or a phrase first", () => {
  const text = `alpha ${FILLER.repeat(20)} alpha beta gamma ${FILLER.repeat(20)} max retries ${FILLER.repeat(20)}`
  expect(marked(text, "alpha beta gamma")).toMatch(/^….*\[alpha\] \[beta\] \[gamma\] .*…$/)
  expect(marked(text, 'alpha beta gamma "max retries"')).toMatch(/^….*\[max retries\] .*…$/)
})

test("a tool call is shown in readable form, with highlights", () => {
  const call = JSON.stringify({ description: "Runs the tests", command: 'npm test -- "cart"\n' })
  expect(marked(call, "cart tests")).toBe('npm [test] -- "[cart]" · description: Runs the [tests]')
  expect(marked(`{ ${call}`, "cart")).toContain('{"description"')
})

test("the first of equal places", () => {
  expect(marked(`${FILLER.repeat(5)} needle one ${FILLER.repeat(5)} needle two`, "needle")).toContain("[needle] one")
})

test("cuts between words, with an ellipsis", () => {
  const snippet = snippetOf(`${FILLER.repeat(20)} needle ${FILLER.repeat(20)}`, parseQuery("needle", 0), 60)
  for (const word of snippet.text.replaceAll("…", "").split(" ")) expect(`${FILLER} needle`.split(" ")).toContain(word)
  expect(snippet.text).toMatch(/^….*…$/)
  expect(snippetOf("short needle", parseQuery("needle", 0), 60).text).toBe("short needle")
  expect(snippetOf("short needle", parseQuery("needle", 0), 12).text).toBe("short needle")
})

test("whatever the text, it is short, whole, on one line, and its marks are in order", () => {
  const random = makeRandom(17)
  for (let round = 0; round < 1_000; round++) {
    const text = anyText(random, 200)
    const maxChars = random.below(120)
    const snippet = snippetOf(text, parseQuery(anyText(random, 12), 0), maxChars)
    expect(snippet.text.length).toBeLessThanOrEqual(maxChars)
    expect(snippet.text.isWellFormed()).toBe(true)
    expect(snippet.text).not.toMatch(/[\p{Cc}]| {2}/u)
    let last = 0
    for (const [start, end] of snippet.marks) {
      expect(start >= last && start < end && end <= snippet.text.length).toBe(true)
      expect(snippet.text.slice(start, end).isWellFormed()).toBe(true)
      last = end
    }
  }
})

test.each([
  ["matches", "needle "],
  ["blanks", " "],
  ["backticks", "`"],
  ["escapes", "\u001b]"],
  ["broken colours", "\u001b[1;"],
  ["one word", "a"],
  ["kana", "あ"],
  ["half surrogates", "\ud83d"],
])("a megabyte of %s takes linear time", (_, unit) => {
  const text = unit.repeat(Math.ceil(1_000_000 / unit.length))
  const startedMs = performance.now()
  snippetOf(text, parseQuery('needle a* "needle needle" 猫 あ', 0), 200)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})

test.each([
  ["words", "needle", 2],
  ["a phrase", '"needle,needle"', 1],
])("a line without a blank may have more matches than a call takes arguments: %s", (_, query, least) => {
  const snippet = snippetOf("needle,".repeat(200_000), parseQuery(query, 0), 80)
  expect(snippet.text.length).toBeLessThanOrEqual(80)
  expect(snippet.marks.length).toBeGreaterThanOrEqual(least)
})
