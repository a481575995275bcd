import { Kysely } from "kysely"
import { expect } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import type { StoreDialect } from "../../../src/store/dialects/dialect.ts"
import { up } from "../../../src/store/migrations/0007_codex_sources.ts"
import type { Tables } from "../../../src/store/schema.ts"
import { addSession, NOW } from "./examples.ts"
import { newSource, newTurn } from "./turns.ts"

/** A store as it was before sources of Codex were known by their names, brought up to date. */
export async function migrateCodexSources(store: Store, dialect: StoreDialect): Promise<void> {
  const save = (key: string, readAtMs: number, platform = "codex") =>
    store.sources.save(newSource(key, { platform, path: key, readAtMs }))
  const { id } = await addSession(store, { platform: "codex" })
  const before = await save("/h/.codex/sessions/2026/08/16/rollout-a.jsonl", NOW)
  const after = await save("/h/.codex/archived_sessions/rollout-a.jsonl", NOW + 5)
  await store.turns.put([newTurn(id, "read before", { sourceId: before }), newTurn(id, "after", { sourceId: after })])
  await save("C:\\h\\.codex\\sessions\\2026\\08\\16\\rollout-b.jsonl", NOW)
  await save("/h/.codex/session_index.jsonl", NOW)
  await save("/h/.codex/rollout-c.jsonl", NOW)
  await save("/h/.codex/sessions/2026/08/16/rollout-c.jsonl", NOW + 9)
  await save("/h/sessions/2026/x.jsonl", NOW, "claude-code")
  const db = new Kysely<Tables>({ dialect: await dialect.open() })
  await up(db)
  await db.destroy()
}

/** One row for each, nothing is lost, and the turns belong to the one that was read last. */
export async function afterCodexSources(store: Store): Promise<void> {
  const keys = (await store.sources.looks()).map(({ key, path }) => [key, path])
  expect(keys.sort()).toEqual(
    [
      ["/h/.codex/rollout-a.jsonl", "/h/.codex/archived_sessions/rollout-a.jsonl"],
      ["/h/.codex/rollout-c.jsonl", "/h/.codex/rollout-c.jsonl"],
      ["/h/.codex/session_index.jsonl", "/h/.codex/session_index.jsonl"],
      ["/h/sessions/2026/x.jsonl", "/h/sessions/2026/x.jsonl"],
      ["C:\\h\\.codex\\rollout-b.jsonl", "C:\\h\\.codex\\sessions\\2026\\08\\16\\rollout-b.jsonl"],
    ].sort(),
  )
  const { id } = (await store.sources.byKey("codex", "/h/.codex/rollout-a.jsonl"))!
  const turns = (await store.turns.liveOfSource(id)).map(({ nativeId }) => nativeId)
  expect(turns.sort()).toEqual(["after", "read before"])
}
