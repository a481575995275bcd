import { expect, test } from "vitest"
import { shown } from "../../../test/fixtures/shown.ts"
import { MarkedText } from "./marked-text.tsx"

test.each([
  [
    "places in order",
    "one two three",
    [
      [0, 3],
      [8, 13],
    ],
    "<mark>one</mark> two <mark>three</mark>",
  ],
  ["none", "one", [], "one"],
  [
    "places beside each other",
    "ab",
    [
      [0, 1],
      [1, 2],
    ],
    "<mark>a</mark><mark>b</mark>",
  ],
  [
    "a place that begins inside of the last one is passed over",
    "abcd",
    [
      [0, 3],
      [2, 4],
    ],
    "<mark>abc</mark>d",
  ],
  ["a place beyond the end is passed over", "ab", [[1, 5]], "ab"],
  ["what looks like HTML is text", "<b>", [[1, 2]], "&lt;<mark>b</mark>>"],
] as [string, string, [number, number][], string][])("marks %s", (_, text, marks, html) => {
  expect(shown(MarkedText({ text, marks }).props.children)).toBe(html)
})
