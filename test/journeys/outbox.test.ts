import { expect, test } from "vitest"
import { birthStorm, floodStorm } from "../fixtures/outbox-floods.ts"
import { killStorm } from "../fixtures/outbox-storms.ts"

// The long forms are run by hand: bench/outbox.ts.

test("sessions' output is in their topics in order, whenever the outbox is killed; a possible repeat is marked", async () => {
  const can = { groupSendsPerMinute: 60, editsPerMinute: 60, sendGapMs: 100 }
  const request = { sessions: 3, events: 90, seconds: 6, kills: 6, limits: false, can, maxMs: 60_000 } as const
  const result = await killStorm(request)
  expect(result).toMatchObject({ seen: 90, outOfOrder: 0, unmarkedRepeats: 0, waiting: 0, failed: 0 })
  expect(result.marked).toBeLessThanOrEqual(6)
  expect(result.topics - 3).toBeLessThanOrEqual(result.orphansListed)
}, 240_000)

test("rate limited, the outbox pauses; then the approval request comes first, and no tool is missing in the end", async () => {
  const limits = { group: [{ count: 20, windowMs: 60_000 }], chat: [{ count: 1, windowMs: 1_000 }] }
  const result = await floodStorm({ sessions: 3, lines: 90, seconds: 10, retryS: [3, 4], limits, maxMs: 60_000 })
  expect(result).toMatchObject({ seen: 93, outOfOrder: 0, unmarkedRepeats: 0, notDone: 0, callsInsideWindows: 0 })
  expect(result.waits).toEqual([3, 4])
  expect(result.slowestApprovalS).toBeLessThanOrEqual(5)
  expect(result.sendsPerMinute).toBeLessThanOrEqual(20)
  expect(result.slowestElsewhereS).toBeLessThanOrEqual(5)
}, 240_000)

test("killed between the making of a topic and its commit, one orphan is left for each, and the ledger knows", async () => {
  const result = await birthStorm({ kills: 3, maxMs: 60_000 })
  expect(result).toMatchObject({ told: 3, orphans: 3, listed: 3, mostForOne: 1 })
}, 240_000)
