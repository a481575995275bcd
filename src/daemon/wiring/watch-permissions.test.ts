import { expect, test } from "vitest"
import { saidBy } from "./watch-permissions.ts"

test.each([
  ["a", { answer: "allow" }],
  [" ALLOW ", { answer: "allow" }],
  ["d", { answer: "deny" }],
  ["deny not on a Friday", { answer: "deny", reason: "not on a Friday" }],
  ["2", { answer: "always", which: 2 }],
  ["l", "later"],
])("%j is understood", (line, said) => {
  expect(saidBy(line, 2)).toEqual(said)
})

test("what it asks to be told is answered by as many words as there are questions", () => {
  expect(saidBy("2; Mon, Tue", 0, 2)).toEqual({ answer: "answer", with: ["2", "Mon, Tue"] })
  expect(saidBy("a", 0, 1), "a yes is an answer like any other here").toEqual({ answer: "answer", with: ["a"] })
  expect(saidBy("2", 0, 2)).toBeUndefined()
  expect(saidBy("2;", 0, 2)).toBeUndefined()
  expect(saidBy("d no", 0, 1)).toEqual({ answer: "deny", reason: "no" })
  expect(saidBy("later", 0, 1)).toBe("later")
})

test.each(["", "y", "yes", "al", "allow it not", "3", "0", "-1", "1.5", "always"])("%j decides nothing", (line) => {
  expect(saidBy(line, 2)).toBeUndefined()
})
