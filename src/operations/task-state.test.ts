import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store } from "../domain/store.ts"
import { makeSessions } from "../sessions/module.ts"
import { makeTasks } from "../sessions/task-state.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { type Call, local } from "./invoke.ts"
import { operations } from "./list.ts"
import type { Services } from "./services.ts"
import { taskState } from "./task-state.ts"

let dir: string
let store: Store
let call: Call
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "task-op-")))
  mkdirSync(join(dir, "web"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  const clock = { nowMs: () => 1_700_000_000_000 }
  const { projects } = makeSessions({ store, clock, homeDir: dir, tempDir: join(dir, "temp") })
  const rules = { redact: (text: string) => text, excluded: () => false }
  const tasks = makeTasks({ store, clock, homeDir: dir, projects, rules, mirrorDirs: () => [], onTrouble: () => {} })
  call = local(operations, { tasks } as Partial<Services> as Services)
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})
const ask = (id: string, input: Record<string, unknown>) =>
  call("task_state", input, {
    surface: "mcp",
    projectDir: join(dir, "web"),
    nativeSession: { platform: "claude-code", id },
  })

test("a step may be a number, an empty text takes out, and what is loaded says whose it is", async () => {
  expect(await ask("a", { operation: "load" })).toEqual({ message: "No saved task for this project." })
  await ask("a", { operation: "save", current_task: "mend", current_task_id: "m-1", last_completed_step: 0 })
  const saved = await ask("a", { operation: "save", current_task_id: " ", pending_messages: ["m-2"] })
  expect(saved).toEqual({
    message: "Saved.",
    session_id: "a",
    is_own: true,
    current_task: "mend",
    last_completed_step: 0,
    pending_messages: ["m-2"],
    updated_at: "2023-11-14T22:13:20.000Z",
  })
  const loaded = await ask("b", { operation: "load" })
  expect(loaded).toMatchObject({ is_own: false, session_id: "a", message: expect.stringContaining("session a's") })
  expect(taskState.text(loaded as never, { operation: "load" })).toBe(
    "It is session a's, the newest of the project.\nTask: mend\nLast completed step: 0\nPending: m-2",
  )
  expect(await ask("a", { operation: "clear" })).toMatchObject({
    is_own: true,
    message: "Cleared; it was this session's.",
  })
})

test.each([
  [{ operation: "forget" }, /operation must be one of save, load, clear/],
  [{ operation: "save", current_task: "x".repeat(4_001) }, /current_task must be at most 4,000 characters/],
  [
    { operation: "save", pending_messages: Array.from({ length: 101 }, () => "m") },
    /pending_messages must be at most 100/,
  ],
])("what is wrong with %j is named", async (input, message) => {
  await expect(ask("a", input)).rejects.toThrow(message)
})
