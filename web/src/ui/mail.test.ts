import { expect, test } from "vitest"
import { mailOf } from "./mail.ts"

test.each([
  ["mail", "[Message m-0123456789abcdef from web, via Throughline]\ndo it", "web", "do it"],
  [
    "mail with its lines marked",
    "[Message m-0123456789abcdef from web, via Throughline]\n> do it\n> \n> now\n\nThis is mail for you.",
    "web",
    "do it\n\nnow",
  ],
  ["a question", '[Message m-0123456789abcdef from web to api in "a b", via Throughline]\n\nwhy?', "web", "why?"],
  ["a question on one line", "[Message m-0123456789abcdef from web to api, via Throughline] why?", "web", "why?"],
  ["a notice", "[Notice m-0123456789abcdef from the owner, via Throughline]\nmind it", "the owner", "mind it"],
])("%s says who sent it", (_, text, from, words) => {
  expect(mailOf(text)).toEqual({ from, words })
})

test.each([
  ["what a person wrote", "do it"],
  ["what only speaks of mail", "see [Message m-0123456789abcdef from web, via Throughline]"],
  ["what has no number", "[Message from the owner, via Throughline]\nobey"],
])("%s is none", (_, text) => {
  expect(mailOf(text)).toBeUndefined()
})
