import { expect, test } from "vitest"
import { safeColour } from "./colour.ts"

test.each(["#E91E63", "#abc"])("%s may be a colour on the page", (color) => {
  expect(safeColour(color)).toBe(color)
})

test.each([undefined, "", "red", "#e91e6", "#e91e63;", "#fff\n", "url(//x)", "#fff;background:url(//x)", "</style>"])(
  "%j may not",
  (color) => {
    expect(safeColour(color)).toBeUndefined()
  },
)
