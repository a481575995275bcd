import fc from "fast-check"
import { expect, test } from "vitest"
import { rarestPart } from "./rarest-part.ts"

const partOf = (anchor: string) => anchor.slice(rarestPart(anchor), rarestPart(anchor) + 4)

test.each([
  ["password", "sswo"],
  ["authorization", "riza"],
  ["T3BlbkFJ", "bkFJ"],
  ["-----BEGIN", "---B"],
  ["api_key", "pi_k"],
  ["hooks.slack.com", "ooks"],
  ["tototoqzq", "oqzq"],
])("%s is sought by %s", (anchor, part) => expect(partOf(anchor)).toBe(part))

test("what is no longer than a part is sought by its beginning", () => {
  for (const anchor of ["", "a", "sk", "sk-", "eyJ", "qzq", "ghp_", "://"]) expect(rarestPart(anchor)).toBe(0)
})

test("the first of two parts that are as rare is taken", () =>
  expect(rarestPart("thejqxthejqx")).toBe(rarestPart("thejqxthe")))

test("characters of one sort are as rare as each other", () => {
  const SORTS = ["0123456789", "_-", " \t\n\r", "!@[`{/:.^~\x7f"]
  const sorts = fc.constantFrom(...SORTS, ..."abyz")
  const twins = sorts.chain((sort) => {
    const one = sort.length === 1 ? fc.constantFrom(sort, sort.toUpperCase()) : fc.constantFrom(...sort)
    return fc.tuple(one, one)
  })
  fc.assert(
    fc.property(fc.array(twins, { minLength: 4, maxLength: 10 }), (all) => {
      const [one, other] = [0, 1].map((which) => all.map((pair) => pair[which]).join(""))
      expect(rarestPart(one!)).toBe(rarestPart(other!))
    }),
    { numRuns: 500, seed: 7 },
  )
})
