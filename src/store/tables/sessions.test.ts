import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { expect, test, vi } from "vitest"
import { newSessionId } from "../../domain/ids.ts"
import { sqlite } from "../dialects/sqlite.ts"
import { openStore } from "../open.ts"

test("growing and describing sessions compiles no statement again", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tl-sessions-"))
  const store = await openStore(sqlite({ path: join(dir, "throughline.db") }))
  const importOne = (createdAtMs: number) =>
    store.transaction(async (tx) => {
      const [id, nativeId] = [newSessionId(), `native-${createdAtMs}`]
      const unnamed = { projectId: null, title: "Untitled", tags: [], key: null }
      await tx.sessions.create({ id, platform: "codex", nativeId, createdAtMs, ...unnamed })
      const title = { text: nativeId, rank: 1, firstStands: true }
      await tx.sessions.describe(id, { title, model: "gpt", startedAtMs: createdAtMs })
      await tx.sessions.grow(id, { turns: 2, prompts: 1, lastAtMs: createdAtMs + 5 })
    })
  try {
    await importOne(1_000)
    const compiled = vi.spyOn(Database.prototype, "prepare")
    for (const atMs of [2_000, 3_000]) await importOne(atMs)
    expect(compiled).not.toHaveBeenCalled()
    const session = await store.sessions.byNative("codex", "native-3000")
    expect(session).toMatchObject({
      title: "native-3000",
      model: "gpt",
      turnCount: 2,
      promptCount: 1,
      updatedAtMs: 3_005,
    })
  } finally {
    vi.restoreAllMocks()
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
})
