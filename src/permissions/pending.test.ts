import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeRedactor } from "../capture/redact/redaction.ts"
import type { PermissionRequest } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makePermits, type Permits } from "./permits.ts"

const SOON = { timeout: 60_000, interval: 20 }
let dir: string
let store: Store
let permits: Permits
let aheadMs: number
let troubles: string[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "pending-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  aheadMs = 0
  troubles = []
  permits = make()
})
afterEach(async () => {
  permits.close()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
  expect(troubles).toEqual([])
})
const make = () =>
  makePermits({
    store,
    clock: { nowMs: () => Date.now() + aheadMs },
    settings: { timeoutMinutes: 30 },
    home: "here",
    redact: makeRedactor(),
    onTrouble: (error, what) => troubles.push(`${what}: ${Failure.from(error).message}`),
  })

const request: PermissionRequest = {
  tool: "Bash",
  title: "Bash",
  input: { command: "ls" },
  suggestions: [{ label: "allow Bash(ls)", value: {} }],
}
const context = { asker: "a session", team: null, sessionId: null, canUpdateInput: true }
const ask = (key = "k1", values: Partial<PermissionRequest> = {}, mostMs = 3_600_000) =>
  permits.ask({ ...request, ...values }, context, { key, mostMs })
const come = (id: string, { key = "k1", isRead = true } = {}) => {
  const gone = new AbortController()
  const answer = permits.waitFor(id, gone.signal).then(async (got) => {
    if (got.kind === "answer" && isRead) await permits.taken(key)
    return got
  })
  return { answer, leave: () => gone.abort() }
}
const told = async () =>
  (await store.journal.after(0, 100)).filter(({ kind }) => kind === "permission.decided").map(({ data }) => data.state)
const state = (id: string) => async () => (await store.permissions.byId(id))!.state

describe("a hook that asks", () => {
  test("is one question under its key, however often it asks", async () => {
    const { id } = await ask()
    expect((await ask()).id).toBe(id)
    expect((await ask("k2")).id).not.toBe(id)
    const entries = (await store.journal.after(0, 100)).filter(({ kind }) => kind === "permission.asked")
    expect(entries.map(({ data }) => data.id)).toEqual([id, expect.not.stringContaining(id)])
  })

  test("takes the answer, and only then it is told that it was decided", async () => {
    const { id } = await ask()
    const hook = come(id)
    const { isFirst, permission } = await permits.decide(id, { kind: "always", which: 0 }, "Ada")
    expect(isFirst).toBe(true)
    expect(permission).toMatchObject({ state: "allowed", answeredBy: "Ada", takenAtMs: expect.any(Number) })
    expect(await hook.answer).toEqual({ kind: "answer", answer: { behavior: "allow", always: 0 } })
    expect(await told()).toEqual(["allowed"])
    expect(await come(id).answer, "it is taken once").toEqual({ kind: "over" })
    const again = await permits.decide(id, { kind: "deny" }, "Bob")
    expect(again).toMatchObject({ isFirst: false, permission: { state: "allowed", answeredBy: "Ada" } })
  })

  test("is allowed with another input, or denied so that its turn ends", async () => {
    const one = await ask("k1")
    const first = come(one.id)
    await permits.decide(one.id, { kind: "allow", updatedInput: { command: "pwd" } }, "Ada")
    expect(await first.answer).toMatchObject({ answer: { behavior: "allow", updatedInput: { command: "pwd" } } })
    const two = await ask("k2")
    const second = come(two.id, { key: "k2" })
    await permits.decide(two.id, { kind: "deny", reason: "no", interrupt: true }, "Ada")
    expect(await second.answer).toMatchObject({
      answer: { behavior: "deny", message: "Denied by Ada: no", interrupt: true },
    })
  })

  test("that is not there makes the answer stale, never allowed", async () => {
    const { id } = await ask()
    const { isFirst, permission } = await permits.decide(id, { kind: "allow" }, "Ada")
    expect(isFirst).toBe(false)
    expect(permission).toMatchObject({
      state: "stale",
      reason: expect.stringMatching(/nobody is waiting for this any longer/),
    })
    expect(await come(id).answer).toEqual({ kind: "over" })
    expect(await told()).toEqual(["stale"])
  })

  test("whose agent went on before it could print the answer is not recorded as allowed, and that is told", async () => {
    const { id } = await ask()
    const hook = come(id, { isRead: false })
    const { isFirst, permission } = await permits.decide(id, { kind: "allow" }, "Ada")
    expect(await hook.answer).toMatchObject({ kind: "answer" })
    expect(isFirst).toBe(false)
    const reason = "too late to be allowed, the agent had already gone on: look at its terminal"
    expect(permission).toMatchObject({ state: "stale", answeredBy: "Ada", reason, takenAtMs: null })
    expect(await told()).toEqual(["stale"])
    await permits.taken("k1")
    expect(await state(id)(), "what comes after that").toBe("stale")
    const audit = (await permits.audit({ limit: 9 })).map(({ what, data }) => [what, data.reason])
    expect(audit).toEqual([
      ["permission.stale", reason],
      ["permission.allowed", undefined],
    ])
  }, 240_000)

  test("that lost its connection over the answer comes again, and gets it", async () => {
    const { id } = await ask()
    const lost = come(id, { isRead: false })
    const decided = permits.decide(id, { kind: "allow", updatedInput: { command: "pwd" } }, "Ada")
    const answer = { kind: "answer", answer: { behavior: "allow", updatedInput: { command: "pwd" } } }
    expect(await lost.answer).toEqual(answer)
    expect(await come(id).answer).toEqual(answer)
    expect(await decided).toMatchObject({ isFirst: true, permission: { state: "allowed" } })
  })

  test("may be on its way when the answer comes", async () => {
    const { id } = await ask()
    const decided = permits.decide(id, { kind: "allow" }, "Ada")
    await sleep(300)
    expect(await come(id).answer).toMatchObject({ kind: "answer" })
    expect(await decided).toMatchObject({ isFirst: true })
  })

  test("that went away is stale a moment later, and one that comes again is not", async () => {
    const { id } = await ask()
    const first = come(id)
    first.leave()
    expect(await first.answer).toEqual({ kind: "again" })
    const second = come(id)
    await sleep(3_500)
    expect(await state(id)()).toBe("waiting")
    second.leave()
    await expect.poll(state(id), SOON).toBe("stale")
  }, 240_000)

  test("is left to its own dialog when nobody answers in time, and nothing is denied", async () => {
    const { id, expiresAtMs, askedAtMs } = await ask("k1", {}, 60_000)
    expect(expiresAtMs - askedAtMs).toBe(60_000)
    const hook = come(id)
    aheadMs = 61_000
    expect(await hook.answer).toEqual({ kind: "over" })
    expect(await store.permissions.byId(id)).toMatchObject({ state: "timed_out", reason: /within a minute; its own/ })
  })

  test("is let go when its agent went on, and whoever comes later is told so", async () => {
    const { id } = await ask()
    const hook = come(id)
    await permits.release(id, { by: "the terminal", reason: "answered at the terminal" })
    expect(await hook.answer).toEqual({ kind: "over" })
    const late = await permits.decide(id, { kind: "allow" }, "Ada")
    expect(late).toMatchObject({ isFirst: false, permission: { state: "stale", answeredBy: "the terminal" } })
  })

  test("of two answers at once takes one", async () => {
    const { id } = await ask()
    const hook = come(id)
    const both = await Promise.all([
      permits.decide(id, { kind: "allow" }, "Ada"),
      permits.decide(id, { kind: "allow" }, "Ada"),
    ])
    expect(both.filter(({ isFirst }) => isFirst)).toHaveLength(1)
    expect(await hook.answer).toMatchObject({ kind: "answer" })
    expect((await permits.audit({ limit: 9 })).map(({ what }) => what)).toEqual(["permission.allowed"])
  })
})

describe("after the daemon was killed", () => {
  const restart = async () => {
    permits.close()
    permits = make()
    await permits.leaveDead()
  }

  test("the same question still waits, and its answer arrives", async () => {
    const { id } = await ask()
    const before = come(id)
    await restart()
    expect(await before.answer).toEqual({ kind: "again" })
    expect((await ask()).id).toBe(id)
    const hook = come(id)
    expect(await permits.decide(id, { kind: "allow" }, "Ada")).toMatchObject({ isFirst: true })
    expect(await hook.answer).toMatchObject({ answer: { behavior: "allow" } })
  })

  test("what was decided a moment before is taken by the hook that comes again", async () => {
    const { id } = await ask()
    await store.permissions.decide(id, { state: "denied", reason: "no", by: "Ada", atMs: Date.now() })
    await restart()
    await ask()
    expect(await come(id).answer).toMatchObject({ answer: { behavior: "deny", message: "Denied by Ada: no" } })
    expect(await told()).toEqual(["denied"])
  })

  test("what it takes then and does not confirm is stale, though nobody asks what became of it", async () => {
    const { id } = await ask()
    await store.permissions.decide(id, { state: "allowed", by: "Ada", atMs: Date.now() })
    await restart()
    await ask()
    expect(await come(id, { isRead: false }).answer).toMatchObject({ kind: "answer" })
    await expect.poll(state(id), SOON).toBe("stale")
  }, 240_000)

  test("what was decided and never taken is stale, with its trace in the audit", async () => {
    const { id } = await ask()
    await store.permissions.decide(id, { state: "allowed", by: "Ada", atMs: Date.now() })
    await restart()
    expect(await permits.decide(id, { kind: "allow" }, "Ada")).toMatchObject({
      isFirst: false,
      permission: { state: "stale" },
    })
    expect((await permits.audit({ limit: 1 }))[0]).toMatchObject({ what: "permission.stale" })
  })
})
