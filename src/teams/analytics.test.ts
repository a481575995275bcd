import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { newSessionId, type SessionId } from "../domain/ids.ts"
import { PAIR_CHANNEL, pairLane } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import type { Usage } from "../domain/turn.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { type AnalyticsReports, makeAnalytics } from "./analytics.ts"

/** Noon of a day of this machine's clock: some minutes more are the same day. */
const NOON = new Date(2027, 0, 15, 12).getTime()
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const ALL = { sinceMs: 0, untilMs: NOON * 2 }
let dir: string
let store: Store
let analytics: AnalyticsReports
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "analytics-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  analytics = makeAnalytics({ store })
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

/** A session in which a prompt was answered at each of these times. */
async function talked(
  platform: string,
  nativeId: string,
  project: string | null,
  said: [atMs: number, usage: Usage][],
) {
  const projectId = project === null ? null : (await store.projects.ensure(`file:///${project}`, NOON)).id
  const id = newSessionId()
  const createdAtMs = said[0]![0]
  await store.sessions.create({ id, platform, nativeId, projectId, title: nativeId, tags: [], key: null, createdAtMs })
  await store.turns.put(
    said.flatMap(([atMs, usage], at) => [turn(id, `p${at}`, atMs, null), turn(id, `r${at}`, atMs + MINUTE, usage)]),
  )
  await store.turns.recount([id])
  return { id, projectId }
}

const turn = (sessionId: SessionId, nativeId: string, atMs: number, usage: Usage | null) => ({
  ...{ sessionId, nativeId, atMs, usage, text: nativeId },
  kind: usage ? ("reply" as const) : ("prompt" as const),
  ...{ model: null, toolName: null, toolCallId: null, isError: false, isFallback: false, sourceId: null },
})

async function pair(id: string, toTeam: string, nativeIds: string[], platform = "claude-code") {
  await store.pairs.ensure({
    ...{ id, fromTeam: "web", toTeam, threadId: "main", platform, nativeId: nativeIds.at(-1) ?? null },
    ...{ isMade: true, madeAtMs: NOON, status: "active", messageCount: 0, createdAtMs: NOON, lastUsedAtMs: NOON },
  })
  for (const [at, nativeId] of nativeIds.entries())
    await store.pairs.addSession({ pairId: id, nativeId, sinceMs: NOON + at, why: "first" })
}

async function asked(
  key: string,
  pairId: string,
  atMs: number,
  answer?: { nativeId: string; afterMs: number; costUsd?: number },
) {
  await store.deliveries.enqueue(
    { key, lane: pairLane(pairId), channel: PAIR_CHANNEL, payload: {}, repeatable: false },
    atMs,
  )
  if (!answer) return
  const { nativeId, afterMs, costUsd = null } = answer
  await store.pairs.answer({
    ...{ messageId: key, pairId, nativeId, text: "yes", isContextNew: false, durationMs: afterMs / 2 },
    ...{ inputTokens: 1_000, outputTokens: 100, costUsd, atMs: atMs + afterMs },
  })
}

test("what was used is counted by agent, project, session and day, and adds up", async () => {
  await talked("claude-code", "a", "web", [
    [NOON, { inputTokens: 10, cachedTokens: 90, outputTokens: 5 }],
    [NOON + DAY, { inputTokens: 20, outputTokens: 7 }],
  ])
  await talked("codex", "b", "web", [[NOON + MINUTE, { inputTokens: 1, outputTokens: 1 }]])
  await talked("opencode", "c", null, [[NOON, { inputTokens: 3, outputTokens: 1, costUsd: 0.5 }]])
  const { total, days, agents, projects, sessions, lifetimes, pairs } = await analytics.report(ALL)
  expect(total).toEqual({
    ...{ sessions: 3, prompts: 4, asks: 0 },
    ...{ inputTokens: 124, cachedTokens: 90, outputTokens: 14, costUsd: 0.5 },
  })
  expect(days.map(({ day, prompts, inputTokens }) => [day, prompts, inputTokens])).toEqual([
    ["2027-01-15", 3, 104],
    ["2027-01-16", 1, 20],
  ])
  expect(agents.map(({ platform, inputTokens, costUsd }) => [platform, inputTokens, costUsd])).toEqual([
    ["claude-code", 120, null],
    ["opencode", 3, 0.5],
    ["codex", 1, null],
  ])
  expect(projects.map(({ rootUri, sessions, inputTokens }) => [rootUri, sessions, inputTokens])).toEqual([
    ["file:///web", 2, 121],
    [null, 1, 3],
  ])
  expect(sessions[0]).toMatchObject({ nativeId: "a", prompts: 2, firstAtMs: NOON, lastAtMs: NOON + DAY + MINUTE })
  expect(lifetimes).toEqual({ count: 3, medianMs: MINUTE, p95Ms: DAY + MINUTE, longestMs: DAY + MINUTE })
  expect(pairs).toEqual([])
})

test("a report is kept to its time, its project and its agent", async () => {
  const { projectId } = await talked("claude-code", "a", "web", [
    [NOON, { inputTokens: 1 }],
    [NOON + DAY, { inputTokens: 20 }],
  ])
  await talked("codex", "b", "api", [[NOON, { inputTokens: 300 }]])
  const input = async (request: object) => (await analytics.report({ ...ALL, ...request })).total.inputTokens
  expect(await input({})).toBe(321)
  expect(await input({ sinceMs: NOON + DAY })).toBe(20)
  expect(await input({ untilMs: NOON + DAY })).toBe(301)
  expect(await input({ projectId: projectId! })).toBe(21)
  expect(await input({ platform: "codex" })).toBe(300)
})

test("a pair has what its sessions used, all that it had, and how long answers took", async () => {
  await talked("claude-code", "old", "api", [[NOON, { inputTokens: 10, outputTokens: 1 }]])
  await talked("claude-code", "new", "api", [[NOON + DAY, { inputTokens: 20, outputTokens: 2 }]])
  await talked("claude-code", "else", "api", [[NOON, { inputTokens: 4_000 }]])
  await pair("p-1", "api", ["old", "new"])
  await pair("p-2", "quiet", [])
  for (const n of [1, 2, 3, 4])
    await asked(`m-${n}`, "p-1", NOON, { nativeId: "new", afterMs: n * MINUTE, costUsd: 0.25 })
  await asked("m-5", "p-1", NOON)
  const { pairs, total, sessions } = await analytics.report(ALL)
  expect(pairs).toHaveLength(1)
  expect(pairs[0]).toMatchObject({
    ...{ asks: 5, sessions: 2, states: { queued: 5 } },
    // The transcripts tell the tokens, and only the answers tell the cost.
    ...{ inputTokens: 30, outputTokens: 3, costUsd: 1 },
    response: { count: 4, medianMs: 2 * MINUTE, p95Ms: 4 * MINUTE, longestMs: 4 * MINUTE },
    work: { count: 4, medianMs: MINUTE },
  })
  expect(total).toMatchObject({ sessions: 3, prompts: 3, asks: 5, inputTokens: 4_030, costUsd: 1 })
  expect(sessions.find(({ nativeId }) => nativeId === "new")).toMatchObject({ inputTokens: 20, costUsd: 1 })
})

test("cost that the transcript tells is not counted again from the answer", async () => {
  await talked("opencode", "n", "api", [[NOON, { inputTokens: 10, costUsd: 0.5 }]])
  await pair("p-1", "api", ["n"], "opencode")
  await asked("m-1", "p-1", NOON, { nativeId: "n", afterMs: MINUTE, costUsd: 0.5 })
  expect((await analytics.report(ALL)).total).toMatchObject({ inputTokens: 10, costUsd: 0.5 })
})

test("of a session that is not in the archive the answers tell", async () => {
  await pair("p-1", "api", ["n"])
  await asked("m-1", "p-1", NOON, { nativeId: "n", afterMs: MINUTE, costUsd: 0.5 })
  const { pairs, sessions, agents } = await analytics.report(ALL)
  expect(pairs[0]).toMatchObject({ asks: 1, inputTokens: 1_000, outputTokens: 100, costUsd: 0.5 })
  expect(sessions).toMatchObject([{ id: null, nativeId: "n", title: "web → api", prompts: 1, inputTokens: 1_000 }])
  expect(agents).toMatchObject([{ platform: "claude-code", asks: 1, sessions: 1 }])
})

test("pairs are kept to the agent and the project too, the busiest first", async () => {
  const { projectId } = await talked("claude-code", "n", "api", [[NOON, { inputTokens: 1 }]])
  await pair("p-1", "api", ["n"])
  await pair("p-2", "db", ["x"], "codex")
  await asked("m-1", "p-1", NOON)
  for (const n of [2, 3]) await asked(`m-${n}`, "p-2", NOON)
  const ids = async (request: object) =>
    (await analytics.report({ ...ALL, ...request })).pairs.map(({ pair }) => pair.id)
  expect(await ids({})).toEqual(["p-2", "p-1"])
  expect(await ids({ platform: "codex" })).toEqual(["p-2"])
  expect(await ids({ projectId: projectId! })).toEqual(["p-1"])
  expect(await ids({ sinceMs: NOON + DAY })).toEqual([])
})

test("what each agent and each project used is told by day, and how many sessions lasted how long", async () => {
  await talked("claude-code", "a", "web", [
    [NOON - DAY, { inputTokens: 10 }],
    [NOON, { inputTokens: 5, costUsd: 2 }],
  ])
  await talked("codex", "b", "web", [[NOON, { inputTokens: 3 }]])
  const { agents, projects, lasted } = await analytics.report(ALL)
  const days = (of: { days: { day: string; inputTokens: number; costUsd: number | null }[] }) =>
    of.days.map(({ day, inputTokens, costUsd }) => [day, inputTokens, costUsd])
  expect(agents.map(days)).toEqual([
    [
      ["2027-01-14", 10, null],
      ["2027-01-15", 5, 2],
    ],
    [["2027-01-15", 3, null]],
  ])
  expect(projects.map(days)).toEqual([
    [
      ["2027-01-14", 10, null],
      ["2027-01-15", 8, 2],
    ],
  ])
  // One minute is not under one minute; a day and a minute is over a day.
  expect(lasted.map(({ sessions }) => sessions)).toEqual([0, 1, 0, 0, 0, 0, 1])
  expect(lasted.map(({ upToMs }) => upToMs && upToMs / MINUTE)).toEqual([1, 5, 15, 60, 240, 1440, null])
})
