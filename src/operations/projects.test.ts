import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { newSessionId } from "../domain/ids.ts"
import type { Store } from "../domain/store.ts"
import { makeSessions } from "../sessions/module.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { type Call, local } from "./invoke.ts"
import { operations } from "./list.ts"
import { projectsList } from "./projects.ts"
import type { Services } from "./services.ts"

let dir: string
let store: Store
let call: Call
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "projects-op-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  const sessions = makeSessions({ store, clock: { nowMs: Date.now }, homeDir: dir, tempDir: join(dir, "temp") })
  call = local(operations, { sessions } as Partial<Services> as Services)
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

async function talked(root: string | null, platform: string, gitBranch: string | undefined, lastAtMs: number) {
  const id = newSessionId()
  const projectId = root === null ? null : (await store.projects.ensure(root, 1)).id
  await store.sessions.create({ id, platform, nativeId: id, projectId, title: "", tags: [], key: null, createdAtMs: 1 })
  if (gitBranch !== undefined) await store.sessions.describe(id, { gitBranch })
  await store.sessions.grow(id, { turns: 1, prompts: 1, lastAtMs })
}
const ask = () => call("projects.list", {}, { surface: "cli" })
const at = (ms: number) => new Date(ms).toISOString()

test("projects are listed newest first, each with its agents and branches, and what is in none last of all", async () => {
  await talked("file:///w/shop", "codex", "main", 5_000)
  await talked("file:///w/shop", "claude-code", "main", 9_000)
  await talked("file:///w/shop", "codex", "next", 7_000)
  await talked("file:///w/old", "codex", undefined, 3_000)
  await talked(null, "cursor", "", 2_000)
  const output = await ask()
  expect(output.projects).toEqual([
    {
      project: "file:///w/shop",
      sessions: 3,
      updatedAt: at(9_000),
      agents: [
        { platform: "claude-code", sessions: 1 },
        { platform: "codex", sessions: 2 },
      ],
      branches: [
        { branch: "main", sessions: 2, updatedAt: at(9_000) },
        { branch: "next", sessions: 1, updatedAt: at(7_000) },
      ],
    },
    expect.objectContaining({ project: "file:///w/old", branches: [] }),
    { sessions: 1, updatedAt: at(2_000), agents: [{ platform: "cursor", sessions: 1 }], branches: [] },
  ])
  expect(projectsList.text(output as never, {})).toMatch(
    /^PROJECT .*\nshop +3 +1970-01-01 00:00 +claude-code, codex +main, next +file:\/\/\/w\/shop\nold +1 .* - +file/,
  )
})

test("where nothing is kept that is said", async () => {
  expect(projectsList.text((await ask()) as never, {})).toMatch(/^No sessions yet/)
})
