import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import type { Caller } from "../domain/caller.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { rootUri } from "../lib/roots.ts"
import { DAY_MS } from "../lib/time.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeSessions, type SessionsModule } from "./module.ts"

let top: string
let store: Store
let module: SessionsModule
let nowMs: number
let session: Session
beforeEach(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-edits-")))
  store = await openStore(sqlite({ path: join(top, "throughline.db") }))
  nowMs = 1_800_000_000_000
  module = makeSessions({
    store,
    clock: { nowMs: () => nowMs },
    homeDir: join(top, "home"),
    tempDir: join(top, "temp"),
  })
  session = await module.recovery.startNew(agent(), { title: "first", tags: ["a"] })
})
afterEach(async () => {
  await store.close()
  rmSync(top, { recursive: true, force: true })
})

function folder(name: string): string {
  mkdirSync(join(top, name), { recursive: true })
  return join(top, name)
}
const agent = (): Caller => ({ surface: "mcp", key: "agent", cwd: folder("app") })
/** What happened since the session began. */
const kinds = async () => (await store.journal.after(1, 100)).map((entry) => entry.kind)

describe("a change is one journal entry, and none if nothing changes", () => {
  test("a new title", async () => {
    expect(await module.edits.rename(session.id, { title: "second" })).toMatchObject({ title: "second", tags: ["a"] })
    await module.edits.rename(session.id, { title: "second" })
    expect(await kinds()).toEqual(["session.renamed"])
  })

  test("new tags", async () => {
    expect(await module.edits.rename(session.id, { tags: ["a", "b"] })).toMatchObject({
      title: "first",
      tags: ["a", "b"],
    })
    await module.edits.rename(session.id, { tags: ["a", "b"] })
    expect(await kinds()).toEqual(["session.renamed"])
  })

  test("the archive, and back", async () => {
    await module.edits.archive(session.id, false)
    await module.edits.archive(session.id, true)
    await module.edits.archive(session.id, true)
    await module.edits.archive(session.id, false)
    expect(await kinds()).toEqual(["session.archived", "session.unarchived"])
  })

  test("unpinning; pinning again counts, because it makes the session the last pinned", async () => {
    await module.edits.pin(session.id, false)
    await module.edits.pin(session.id, true)
    nowMs += 5
    expect((await module.edits.pin(session.id, true)).pinnedAtMs).toBe(nowMs)
    await module.edits.pin(session.id, false)
    expect(await kinds()).toEqual(["session.pinned", "session.pinned", "session.unpinned"])
  })

  test("one more project", async () => {
    const other = folder("other")
    expect(await module.edits.linkRoot(session.id, other)).toMatchObject({ rootUri: rootUri(other) })
    await module.edits.linkRoot(session.id, other)
    await module.edits.linkRoot(session.id, folder("app"))
    expect(await store.sessions.linkedRoots(session.id)).toEqual([rootUri(other)])
    expect(await kinds()).toEqual(["session.linked"])
  })

  test("a session without a project gets the first one as its own", async () => {
    const rootless = await module.recovery.startNew({ surface: "mcp" }, {})
    const { session: linked } = await module.edits.linkRoot(rootless.id, folder("other"))
    expect(linked.rootUri).toBe(rootUri(folder("other")))
    expect(await store.sessions.linkedRoots(rootless.id)).toEqual([])
  })
})

test("a change to a session that does not exist is refused", async () => {
  await expect(module.edits.pin("nowhere", true)).rejects.toMatchObject({ code: "session_not_found" })
})

describe("sessions without activity", () => {
  test(proves("sessions.archived-by-age"), async () => {
    nowMs += 30 * DAY_MS
    const { id } = await module.recovery.startNew(agent(), { title: "recent" })
    expect(await module.edits.archiveUntouched(7 * DAY_MS)).toBe(1)
    expect((await module.recovery.get(session.id)).archivedAtMs).toBe(nowMs)
    expect((await module.recovery.get(id)).archivedAtMs).toBeNull()
    expect(await kinds()).toEqual(["session.started", "session.archived"])

    await module.thinking.record(agent(), { sessionId: session.id, thought: "back", nextThoughtNeeded: false })
    expect(await module.recovery.get(session.id)).toMatchObject({ archivedAtMs: null, updatedAtMs: nowMs })
    expect(await module.edits.archiveUntouched(7 * DAY_MS)).toBe(0)
  })

  test("are not archived while they are pinned", async () => {
    await module.edits.pin(session.id, true)
    nowMs += 365 * DAY_MS
    expect(await module.edits.archiveUntouched(7 * DAY_MS)).toBe(0)
    expect((await module.recovery.get(session.id)).archivedAtMs).toBeNull()
  })

  test("restored by hand are not archived again by the next sweep", async () => {
    nowMs += 30 * DAY_MS
    await module.edits.archiveUntouched(7 * DAY_MS)
    await module.edits.archive(session.id, false)
    expect(await module.edits.archiveUntouched(7 * DAY_MS)).toBe(0)
  })
})
