import { describe, expect, test } from "vitest"
import { everyDay, seriesOf, stacked } from "./series.ts"

test.each([
  ["between them are there", ["2026-02-27", "2026-03-02"], ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]],
  ["of which one is shorter than others", ["2026-03-28", "2026-03-30"], ["2026-03-28", "2026-03-29", "2026-03-30"]],
  ["alone stay alone", ["2026-03-28"], ["2026-03-28"]],
  ["none are none", [], []],
])("days %s", (_, days, all) => {
  expect(everyDay(days)).toEqual(all)
})

describe("a series for each thing", () => {
  const days = ["d1", "d2"]
  const thing = (label: string, ...values: number[]) => ({
    label,
    days: values.map((value, at) => ({ day: days[at]!, value })).filter(({ value }) => value > 0),
  })
  const of = ({ value }: { day: string; value: number }) => value

  test("those that had most first, each in the colour of its place, the others together", () => {
    const things = [thing("a", 1, 0), thing("b", 5, 5), thing("none", 0, 0), thing("c", 0, 3), thing("d", 2, 0)]
    expect(seriesOf(things, days, { of, most: 2 })).toEqual([
      { label: "b", values: [5, 5], colour: 1 },
      { label: "c", values: [0, 3], colour: 3 },
      { label: "others", values: [3, 0] },
    ])
  })

  test("what was counted and belongs to none of them is among the others", () => {
    const rest = thing("", 5, 4).days
    expect(seriesOf([thing("a", 5, 1)], days, { of, most: 2, rest })).toEqual([
      { label: "a", values: [5, 1], colour: 0 },
      { label: "others", values: [0, 3] },
    ])
    expect(seriesOf([thing("a", 5, 4)], days, { of, most: 2, rest }).map(({ label }) => label)).toEqual(["a"])
  })

  test("sums of cents that differ in the last digit are no others", () => {
    const rest = thing("", 0.1 + 0.2).days
    expect(seriesOf([thing("a", 0.3)], days, { of, most: 1, rest }).map(({ label }) => label)).toEqual(["a"])
  })
})

test("stacked, each stands on those before it", () => {
  const series = [
    [1, 2],
    [10, 0],
    [100, 5],
  ].map((values) => ({ label: "", values }))
  expect(stacked(series)).toEqual([
    [1, 2],
    [11, 2],
    [111, 7],
  ])
})
