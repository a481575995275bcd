import { describe, expect, test } from "vitest"
import { columnsOf, fitted, lineRanges, visible } from "./columns.ts"

const ESC = "\u001b"

test("wide letters take two columns, accents none", () => {
  expect(columnsOf("lake")).toBe(4)
  expect(columnsOf("湖の水")).toBe(6)
  expect(columnsOf("ça va")).toBe(5)
  expect(columnsOf("c\u0327a")).toBe(2)
  expect(columnsOf("🙂")).toBe(2)
})

describe("a text that is fitted", () => {
  test.each(["a short one", "a far longer one that is cut", "湖の水は冷たいですか", "🙂🙂🙂🙂🙂🙂🙂🙂", ""])(
    "is as wide as it is to be, and no wider: %s",
    (text) => {
      for (const most of [1, 7, 12, 13]) {
        expect(columnsOf(fitted(text, most))).toBeLessThanOrEqual(most)
        expect(columnsOf(fitted(text, most, true))).toBe(most)
      }
    },
  )

  test("stands on one line, without what a terminal would act on", () => {
    expect(fitted(` one\n\ttwo ${ESC}[31mred${ESC}[0m${ESC}[2J `, 80)).toBe("one two red")
    expect(visible(`a${ESC}[2J\nb\u0007`)).toBe("a [2J\nb ")
  })
})

describe("lines", () => {
  const linesOf = (text: string, columns: number) => lineRanges(text, columns).map(([from, to]) => text.slice(from, to))
  test("are broken at blanks, and in a word only where it must be", () => {
    expect(linesOf("one two three", 7)).toEqual(["one two", "three"])
    expect(linesOf("one two three", 8)).toEqual(["one two", "three"])
    expect(linesOf("abcdefghij kl", 4)).toEqual(["abcd", "efgh", "ij", "kl"])
    expect(linesOf("湖の水は冷たい", 5)).toEqual(["湖の", "水は", "冷た", "い"])
    expect(linesOf("", 5)).toEqual([])
  })

  test("end even where a letter is wider than the line", () => {
    expect(linesOf("湖の", 1).join("")).toBe("湖の")
  })
})

test("what reorders letters or hides is no part of what a terminal shows", () => {
  const hidden = "\u202e\u202d\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u2060\ufeff\u00ad\u2028\u2029\u{e0041}"
  for (const letter of hidden) {
    expect(visible(`a${letter}b`), letter.codePointAt(0)!.toString(16)).toBe(`a${" ".repeat(letter.length)}b`)
    expect(fitted(`rm ${letter}x`, 40)).toBe("rm x")
  }
  // Persian and families are written with joiners.
  expect(visible("می\u200cخواهم 👨\u200d👩\u200d👧")).toBe("می\u200cخواهم 👨\u200d👩\u200d👧")
})
