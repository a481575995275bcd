import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { newSession } from "../../../test/contracts/store/examples.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { turnsOf } from "./lineage.ts"

const TURNS = 130_000
const dir = mkdtempSync(join(tmpdir(), "tl-lineage-"))
let store: Store

beforeAll(async () => {
  store = await openStore(sqlite({ path: join(dir, "a.db") }))
})

afterAll(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

test("a session of more turns than a call may have arguments is read whole, from either end", async () => {
  const { session } = await store.sessions.create(newSession())
  const none = { model: null, toolName: null, toolCallId: null, usage: null, sourceId: null }
  const turns = Array.from({ length: TURNS }, (_, at) => ({
    ...none,
    ...{ sessionId: session.id, nativeId: String(at), kind: "reply" as const, text: "x", atMs: at },
    ...{ isError: false, isFallback: false },
  }))
  await store.transaction(
    async (tx) => {
      for (let at = 0; at < TURNS; at += 10_000) await tx.turns.put(turns.slice(at, at + 10_000))
    },
    { durability: "relaxed" },
  )
  for (const request of [{}, { fromStart: true }]) {
    const read = await turnsOf(store, [{ session }], request)
    expect([read.length, read[0]?.atMs, read.at(-1)?.atMs]).toEqual([TURNS, 0, TURNS - 1])
  }
}, 240_000)
