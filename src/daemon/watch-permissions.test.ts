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

test.each(["", "y", "yes", "al", "allow it not", "3", "0", "-1", "1.5", "always"])("%j decides nothing", (line) => {
  expect(saidBy(line, 2)).toBeUndefined()
})
