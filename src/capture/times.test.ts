import fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { makeTestArchive, type TestArchive } from "../../test/fixtures/archive.ts"
import { platforms } from "../agents/list.ts"
import type { Capture } from "../domain/capture.ts"
import type { Platform } from "../domain/platform.ts"

/** The archive's clock. */
const NOW = 1_800_000_000_000
const SID = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c01"
const LATER = "2099-01-01T00:00:00.000Z"

let kept: TestArchive
let captures: Capture[] = []
/** Whatever an adapter could make of a file. */
const any: Platform = {
  id: "any",
  label: "Any",
  verified: "1",
  can: { hooks: false, resume: false, times: true },
  places: ({ homeDir }) => [{ dir: homeDir, depth: 0 }],
  claim: ({ path, relative }) =>
    relative === "any" ? { key: path, reader: { mode: "whole", read: async () => captures } } : undefined,
}

let nowMs: number
beforeEach(async () => {
  captures = []
  nowMs = NOW
  kept = await makeTestArchive({ platforms: [any, ...platforms], clock: { nowMs: () => nowMs } })
})
afterEach(() => kept.close())

const timesOf = async () => {
  const sessions = await kept.store.sessions.list({})
  const turns = await Promise.all(sessions.map(({ id }) => kept.store.turns.ofSession(id, { superseded: true })))
  const edges = await Promise.all(sessions.map(({ id }) => kept.store.sessions.edges(id)))
  return [
    ...sessions.flatMap(({ createdAtMs, updatedAtMs }) => [createdAtMs, updatedAtMs]),
    ...[...turns.flat(), ...edges.flat()].map(({ atMs }) => atMs),
  ]
}

const time = fc.oneof(
  fc.double(),
  fc.integer({ min: NOW - 1_000, max: NOW + 1_000 }),
  fc.constantFrom(Number.NaN, Infinity, -Infinity, 4_070_908_800_000, 1.5),
)
const anyCaptures = fc
  .array(fc.record({ session: fc.constantFrom("a", "b"), at: fc.option(time), start: fc.option(time) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((rows) =>
    rows.flatMap(({ session, at, start }, index): Capture[] => [
      {
        type: "session",
        sessionId: session,
        ...(start === null ? {} : { startedAtMs: start }),
        parent: { sessionId: "parent", kind: "resume" },
      },
      {
        type: "turn",
        sessionId: session,
        nativeId: String(index),
        kind: "prompt",
        text: "words",
        ...(at === null ? {} : { atMs: at }),
      },
    ]),
  )

test("no time that a file states is kept as one of the future, or as anything but a time", async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(anyCaptures, async (given) => {
      run++
      captures = given.map((capture) =>
        capture.type === "skipped" ? capture : { ...capture, sessionId: `${capture.sessionId}-${run}` },
      )
      kept.write("any", String(run))
      await kept.read()
      for (const atMs of await timesOf()) {
        expect(Number.isInteger(atMs)).toBe(true)
        expect(atMs).toBeGreaterThanOrEqual(0)
        expect(atMs).toBeLessThanOrEqual(NOW)
      }
    }),
    { numRuns: 40 },
  )
})

test("a session dated in the future is not made newer by being read again", async () => {
  captures = [
    { type: "session", sessionId: "a", startedAtMs: Date.parse(LATER) },
    { type: "turn", sessionId: "a", nativeId: "1", kind: "prompt", text: "one", atMs: Date.parse(LATER) },
  ]
  kept.write("any", "1")
  await kept.read()
  nowMs = NOW + 3_600_000
  captures = [...captures, { type: "turn", sessionId: "b", nativeId: "1", kind: "prompt", text: "two", atMs: nowMs }]
  kept.write("any", "2")
  await kept.read()
  expect((await timesOf()).sort()).toEqual([NOW, NOW, NOW, nowMs, nowMs, nowMs])
})

test("a time that was in the future of a wrong clock is taken once that clock is right", async () => {
  const atMs = NOW + 3_600_000
  captures = [{ type: "turn", sessionId: "a", nativeId: "1", kind: "prompt", text: "one", atMs }]
  kept.write("any", "1")
  await kept.read()
  nowMs = NOW + 7_200_000
  kept.write("any", "2")
  await kept.read()
  expect((await timesOf()).at(-1)).toBe(atMs)
})

test.each([
  [
    "Claude Code's",
    `.claude/projects/-w-app/${SID}.jsonl`,
    JSON.stringify({ type: "user", uuid: "u", sessionId: SID, timestamp: LATER, message: { content: "hi" } }),
  ],
  [
    "a conversation log's",
    ".throughline/conversations/s.jsonl",
    JSON.stringify({ type: "exchange", timestamp: LATER, user: "hi", ai: "ho", session_id: "s" }),
  ],
  ["Aider's", ".aider.chat.history.md", "# aider chat started at 2099-01-01 00:00:00\n\n#### hi  \n\nho"],
])("%s future times become the time of capture", async (_, path, content) => {
  kept.write(path, `${content}\n`)
  await kept.read()
  const times = await timesOf()
  expect(times.length).toBeGreaterThan(2)
  expect(new Set(times)).toEqual(new Set([NOW]))
})
