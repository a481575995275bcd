import { expect, test } from "vitest"
import { timesIn } from "./dates.ts"

// A Wednesday.
const NOW = new Date(2026, 4, 13, 15, 30)

/** "2026-05-12..2026-05-13", in this machine's time zone. */
function ranges(text: string): string[] {
  return timesIn(text, NOW.getTime()).map(({ fromMs, toMs }) => `${local(fromMs)}..${local(toMs)}`)
}

function local(ms: number): string {
  const date = new Date(ms)
  const day = `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`
  const minutes = date.getHours() * 60 + date.getMinutes()
  return minutes === 0 ? day : `${day}+${minutes}`
}

test.each([
  ["today", "2026-05-13..2026-05-14"],
  ["what did we say Yesterday?", "2026-05-12..2026-05-13"],
  ["the day before yesterday", "2026-05-11..2026-05-12"],
  ["this week", "2026-05-11..2026-05-18"],
  ["last week", "2026-05-04..2026-05-11"],
  ["the past week", "2026-05-06..2026-05-13+930"],
  ["last month", "2026-04-01..2026-05-01"],
  ["this year", "2026-01-01..2027-01-01"],
  ["last year", "2025-01-01..2026-01-01"],
  ["3 days ago", "2026-05-10..2026-05-11"],
  ["three  days ago", "2026-05-10..2026-05-11"],
  ["a week ago", "2026-05-03..2026-05-10"],
  ["a couple of months ago", "2026-03-01..2026-04-01"],
  ["2 years ago", "2024-01-01..2025-01-01"],
  ["2 hours ago", "2026-05-13+750..2026-05-13+870"],
  ["10 minutes ago", "2026-05-13+910..2026-05-13+930"],
  ["in the last 3 days", "2026-05-10..2026-05-13+930"],
  ["on Monday", "2026-05-11..2026-05-12"],
  ["last wednesday", "2026-05-06..2026-05-07"],
  ["in March", "2026-03-01..2026-04-01"],
  ["in June", "2025-06-01..2025-07-01"],
  ["November", "2025-11-01..2025-12-01"],
  ["March 2026", "2026-03-01..2026-04-01"],
  ["Sept. 2024", "2024-09-01..2024-10-01"],
  ["2026-05-03", "2026-05-03..2026-05-04"],
  ["2026-05-03T10:00:00.000Z", "2026-05-03..2026-05-04"],
  ["2026/02/28", "2026-02-28..2026-03-01"],
  ["2026-02", "2026-02-01..2026-03-01"],
  ["on 7 May 2023", "2023-05-07..2023-05-08"],
  ["7th of May, 2023", "2023-05-07..2023-05-08"],
  ["May 7", "2026-05-07..2026-05-08"],
  ["May 20th", "2025-05-20..2025-05-21"],
  ["May 7, 2023", "2023-05-07..2023-05-08"],
  ["29 February", "2024-02-29..2024-03-01"],
  ["31 February 2026", "2026-02-01..2026-03-01"],
  ["in 2025", "2025-01-01..2026-01-01"],
])("%s", (text, expected) => {
  expect(ranges(text)).toEqual([expected])
})

test("several times are found in the order in which they were written", () => {
  expect(timesIn("yesterday, in 2025 or on 3 March", NOW.getTime()).map(({ word }) => word)).toEqual([
    "yesterday",
    "in 2025",
    "3 march",
  ])
})

test.each([
  "may I march on",
  "2026-13-40",
  "error 2025 in line 7",
  "port 3000",
  "jan",
  "marching in mayhem",
  "0 apples",
  "2026-05-03-backup",
  "",
])("no time in %j", (text) => {
  expect(ranges(text)).toEqual([])
})
