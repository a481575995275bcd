import fc from "fast-check"
import { expect, test } from "vitest"
import { hexColour, rgbOf } from "./colour.ts"

test("hex is as it was written, and a name of CSS is what it stands for", () => {
  expect(hexColour("#E91E63")).toBe("#E91E63")
  expect(hexColour("#abc")).toBe("#abc")
  expect(hexColour("crimson")).toBe("#dc143c")
  expect(hexColour("RebeccaPurple")).toBe("#663399")
})

test("its parts are read from either length", () => {
  expect(rgbOf("#E91E63")).toEqual([233, 30, 99])
  expect(rgbOf("#a0f")).toEqual([170, 0, 255])
})

test.each([
  "",
  "#ab",
  "#abcd",
  "#e91e63 ",
  "#fff\n",
  "red;background:url(//x)",
  "expression(alert(1))",
  "</style><script>",
  "\u001b[31m",
  "#e9\u202e163",
  "constructor",
  "__proto__",
  "aliceblue f0f8ff",
])("%j is no colour", (text) => {
  expect(hexColour(text)).toBeUndefined()
})

test("whatever is written, what comes out is hex", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom("red", "#FFF")), (text) => {
      expect(hexColour(text) ?? "#000").toMatch(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)
    }),
  )
})
