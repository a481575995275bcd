import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { newSessionId } from "../domain/ids.ts"
import type { Store } from "../domain/store.ts"
import { DAY_MS } from "../lib/time.ts"
import { makeSessions } from "../sessions/module.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeAnalytics } from "../teams/analytics.ts"
import { analytics } from "./analytics.ts"
import { type Call, local } from "./invoke.ts"
import { operations } from "./list.ts"
import type { Services } from "./services.ts"

let dir: string
let store: Store
let call: Call
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "analytics-op-")))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  const sessions = makeSessions({ store, clock: { nowMs: Date.now }, homeDir: dir, tempDir: join(dir, "temp") })
  call = local(operations, { sessions, analytics: makeAnalytics({ store }) } as Partial<Services> as Services)
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

async function talked(project: string, atMs: number, inputTokens: number, costUsd?: number) {
  mkdirSync(join(dir, project), { recursive: true })
  const { id: projectId } = await store.projects.ensure(pathToFileURL(join(dir, project)).href, atMs)
  const id = newSessionId()
  const about = { platform: "opencode", nativeId: id, title: `About ${project}`, tags: [], key: null }
  await store.sessions.create({ id, projectId, createdAtMs: atMs, ...about })
  const usage = { inputTokens, outputTokens: 7, ...(costUsd !== undefined && { costUsd }) }
  const rest = { model: null, toolName: null, toolCallId: null, isError: false, isFallback: false, sourceId: null }
  await store.turns.put([
    { sessionId: id, nativeId: "p", kind: "prompt", text: "?", atMs, usage: null, ...rest },
    { sessionId: id, nativeId: "r", kind: "reply", text: "!", atMs: atMs + 90_000, usage, ...rest },
  ])
  await store.turns.recount([id])
  return id
}
const ask = (input: Record<string, unknown>) => call("analytics", input, { surface: "cli" })

test("the last thirty days are counted unless it is said otherwise, and days begin at this machine's midnight", async () => {
  await talked("web", Date.now() - DAY_MS, 1)
  await talked("web", Date.now() - 40 * DAY_MS, 20)
  await talked("web", new Date(2020, 4, 5, 0, 30).getTime(), 300)
  expect(await ask({})).toMatchObject({ total: { inputTokens: 1 } })
  expect(await ask({ since: "2020-01-01" })).toMatchObject({ total: { inputTokens: 321 } })
  expect(await ask({ since: "2020-05-05", until: "2020-05-06" })).toMatchObject({
    total: { inputTokens: 300 },
    days: [{ day: "2020-05-05", prompts: 1 }],
  })
  await expect(ask({ since: "yesterday" })).rejects.toMatchObject({ code: "bad_input" })
})

test("what was asked for is a table that people can read, with cost only where it is told", async () => {
  const dear = await talked("web", Date.now() - DAY_MS, 12_345_678, 1.5)
  await talked("api", Date.now() - DAY_MS, 20_000)
  const output = await ask({})
  const text = analytics.text(output as never, {} as never)
  expect(text).toMatch(/2 sessions, 2 prompts \(1 per session\); median session 2 min\./)
  expect(text).toContain("12.4M input (0 cached), 14 output. Reported cost: $1.50.")
  expect(text).toMatch(
    /^PROJECT +SESSIONS +PROMPTS +INPUT +OUTPUT +COST\nweb +1 +1 +12\.3M +7 +\$1\.50\napi +1 +1 +20k +7 +-$/m,
  )
  expect(text).toMatch(new RegExp(`^${dear.slice(0, 8)} +opencode +2 min +1 +12\\.3M +7 +\\$1\\.50 +About web$`, "m"))
  expect(await ask({ limit: 1 })).toMatchObject({ projects: [{ inputTokens: 12_345_678 }], sessions: [{ id: dear }] })
  expect(await ask({ project: join(dir, "api") })).toMatchObject({ total: { inputTokens: 20_000 } })
  const day = expect.objectContaining({ tokens: 12_345_685, prompts: 1, costUsd: 1.5 })
  expect(output.projects).toMatchObject([{ days: [day] }, { days: [{ tokens: 20_007 }] }])
  expect(output.lasted).toContainEqual({ upToMs: 5 * 60_000, sessions: 2 })
  expect(output.projects).toMatchObject([{ costUsd: 1.5 }, expect.not.objectContaining({ costUsd: expect.anything() })])
})

test("where nothing was said that is said, and a project that is not kept is named", async () => {
  expect(analytics.text((await ask({})) as never, {} as never)).toMatch(/^No activity between /)
  await expect(ask({ project: "nowhere" })).rejects.toMatchObject({ code: "root_not_found" })
})
