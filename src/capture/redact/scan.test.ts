import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { codesOf, type Finders, makeScan } from "./scan.ts"

type Find = Finders["find"]

const scan = (all: Finders[], text: string) => makeScan(all)(text, codesOf(text))
/** What takes the anchor itself for the secret, and asks nothing more: only the scan decides. */
const itself = (anchor: string, anyCase: boolean): Finders => ({
  ...{ anchors: [anchor], anyCase },
  find: (_, at) => ({ kind: "x", start: at, end: at + anchor.length }),
})
const finding = (anchor: string, find: Find): Finders => ({ anchors: [anchor], anyCase: false, find })

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
/** The same by comparing at each place. */
function plainly(text: string, anchor: string, anyCase: boolean): string {
  let clean = ""
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, at + anchor.length)
    const isThere = (anyCase ? lower(piece) : piece) === anchor
    clean += isThere ? "[redacted:x]" : text[at]
    at += isThere ? anchor.length : 1
  }
  return clean
}

// The edges of letters and digits, what differs from them in one bit, blanks, and the signs that anchors have.
const characters = [..."aqzjkmt059_-:/.@[`{ \t"]
const anchors = fc.array(fc.constantFrom(...characters), { minLength: 4, maxLength: 9 }).map((all) => all.join(""))

test("an anchor is found wherever it is, whatever part of it it is sought by", () => {
  const places = anchors.chain((anchor) => {
    const piece = fc.oneof(
      fc.constantFrom(anchor, anchor.toUpperCase(), `${anchor[0]!.toUpperCase()}${anchor.slice(1)}`),
      fc.tuple(fc.nat(8), fc.nat(8)).map(([from, to]) => anchor.slice(from, -to)),
      // One character is another: in its bit for capitals, or with the same byte.
      fc.tuple(fc.nat(anchor.length - 1), fc.constantFrom(32, 256)).map(([at, bit]) => {
        const other = String.fromCharCode(anchor.charCodeAt(at) ^ bit)
        return `${anchor.slice(0, at)}${other}${anchor.slice(at + 1)}`
      }),
      fc.constantFrom(...characters, "é", "→", "\n"),
    )
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""))
    return fc.record({ anchor: fc.constant(anchor), text, anyCase: fc.boolean() })
  })
  fc.assert(
    fc.property(places, ({ anchor, text, anyCase }) => {
      expect(scan([itself(anchor, anyCase)], text)).toBe(plainly(text, anchor, anyCase))
    }),
    { numRuns: 300, seed: 7 },
  )
})

test("case counts only for letters, and only where it is to", () => {
  for (const [anchor, text] of [
    ["az_az", "AZ_AZ"],
    ["token", "ToKen"],
  ] as const) {
    expect(scan([itself(anchor, true)], text)).toBe("[redacted:x]")
    expect(scan([itself(anchor, false)], text)).toBe(text)
  }
  // Each differs in the bit by which capitals do.
  for (const [anchor, text] of [
    ["abc@", "abc`"],
    ["abc`", "abc@"],
    ["abc{", "abc["],
    ["abc_", "abc\x7f"],
    ["abc0", "abc\x10"],
  ] as const)
    expect(scan([itself(anchor, true)], text)).toBe(text)
})

test("an anchor of three characters is found before every character of ASCII", () => {
  for (let code = 0; code < 128; code++) {
    const after = String.fromCharCode(code)
    expect(scan([itself("sk-", false)], `a sk-${after}`), String(code)).toBe(`a [redacted:x]${after}`)
  }
})

test("nothing is sought in a text that is shorter, and nothing beyond its end", () => {
  for (const text of ["", "t", "to", "tok", "toke", "a toke"]) expect(scan([itself("token", false)], text)).toBe(text)
  const seen: string[] = []
  const noting = finding("abcd", (text, at) => void seen.push(text.slice(at)))
  expect(scan([noting], "abc abcd")).toBe("abc abcd")
  expect(seen).toEqual(["abcd"])
})

describe("several that may be meant", () => {
  test("are each tried, and the first that holds is taken", () => {
    const asked: string[] = []
    const one = (kind: string, isOne: boolean): Finders =>
      finding("abcd", (_, at) => {
        asked.push(kind)
        return isOne ? { kind, start: at, end: at + 4 } : undefined
      })
    expect(scan([one("a", false), one("b", true), one("c", true)], "-abcd-")).toBe("-[redacted:b]-")
    expect(asked).toEqual(["a", "b"])
  })

  test("are each sought by anchors of their own", () => {
    const both: Finders = { anchors: ["ghp_", "gho_"], anyCase: false, find: itself("ghp_", false).find }
    expect(scan([both, itself("token", true)], "ghp_ gho_ ghx_ TOKEN")).toBe(
      "[redacted:x] [redacted:x] ghx_ [redacted:x]",
    )
  })
})

describe("what was taken out", () => {
  test("is not looked into again", () => {
    const seen: number[] = []
    const after = finding("abab", (_, at) => {
      seen.push(at)
      return { kind: "x", start: at + 4, end: at + 5 }
    })
    expect(scan([after], "abababX")).toBe("abab[redacted:x]bX")
    expect(seen).toEqual([0])
  })

  test("is told to who seeks behind it, and is not taken out twice", () => {
    const told: number[] = []
    const before = finding("cdef", (_, at, done) => {
      told.push(done)
      return { kind: "y", start: at - 2, end: at + 4 }
    })
    expect(scan([itself("abab", false), before], "ababcdef, zzcdef")).toBe("[redacted:x]cdef, [redacted:y]")
    expect(told).toEqual([4, 4])
  })

  test("may reach to the end, and what is behind it stays", () => {
    const rest = finding("abcd", (text, at) => ({ kind: "x", start: at + 4, end: text.length }))
    expect(scan([rest], "-abcd and more")).toBe("-abcd[redacted:x]")
    expect(scan([itself("abcd", false)], "abcdabcd.abcd.")).toBe("[redacted:x][redacted:x].[redacted:x].")
  })
})
