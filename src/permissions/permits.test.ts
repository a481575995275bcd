import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { makeRedactor } from "../capture/redact/redaction.ts"
import type { PermissionRequest } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makePermits, type Permits } from "./permits.ts"

const SOON = { timeout: 60_000, interval: 10 }
const HOME = "/home/me/.throughline"
let dir: string
let store: Store
let permits: Permits
let nowMs: number
let troubles: string[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "permits-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = 1_800_000_000_000
  troubles = []
  permits = make()
})
afterEach(async () => {
  permits.close()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const make = (values: { store?: Store; home?: string } = {}) =>
  makePermits({
    store,
    clock: { nowMs: () => nowMs },
    settings: { timeoutMinutes: 30 },
    home: HOME,
    redact: makeRedactor(),
    onTrouble: (error, what) => troubles.push(`${what}: ${Failure.from(error).message}`),
    ...values,
  })

const request: PermissionRequest = {
  tool: "Bash",
  title: "Bash: rm -r build",
  input: { command: "rm -r build", nested: { deep: ["whole"] } },
  suggestions: [
    { label: "allow /srv", value: { type: "addDirectories" } },
    { label: "permission mode acceptEdits", value: { type: "setMode" } },
  ],
}
const context = { asker: "web → api", team: "api", sessionId: null }
const ask = (values: Partial<PermissionRequest> = {}, signal = new AbortController().signal) =>
  permits.permit({ ...request, ...values }, context, signal)
const asked = () =>
  vi.waitFor(async () => {
    const [first] = await permits.waiting()
    expect(first).toBeDefined()
    return first!
  }, SOON)
const journal = async () => (await store.journal.after(0, 100)).map(({ kind, data }) => [kind, data.state ?? data.tool])

test("a question waits with its whole input until somebody answers", async () => {
  const answer = ask()
  const { id, ...waiting } = await asked()
  expect(waiting).toMatchObject({ ...context, tool: "Bash", input: request.input, state: "waiting", home: HOME })
  expect(waiting.suggestions).toEqual([{ label: "allow /srv" }, { label: "permission mode acceptEdits" }])
  expect(waiting.expiresAtMs - waiting.askedAtMs).toBe(30 * 60_000)
  await permits.decide(id, { kind: "allow" }, "the owner")
  expect(await answer).toEqual({ behavior: "allow" })
  expect(await journal()).toEqual([
    ["permission.asked", "Bash"],
    ["permission.decided", "allowed"],
  ])
  const [entry, ...more] = await permits.audit({ limit: 9 })
  expect(more).toEqual([])
  expect(entry).toMatchObject({ who: "the owner", what: "permission.allowed", atMs: nowMs })
  expect(entry!.data).toEqual({ id, tool: "Bash", team: "api", asker: "web → api", title: "Bash: rm -r build" })
})

test("the audit has the reason of a no, and the beginning of a long title", async () => {
  const stop = new AbortController()
  const answer = permits.permit({ ...request, title: "x".repeat(1_000) }, { ...context, team: null }, stop.signal)
  const { id } = await asked()
  await permits.decide(id, { kind: "deny", reason: "not today" }, "me")
  await answer
  const { data } = (await permits.audit({ limit: 1 }))[0]!
  expect(data).toEqual({ id, tool: "Bash", asker: "web → api", title: "x".repeat(300), reason: "not today" })
})

test("each question's end is told, one entry for each", async () => {
  for (const kind of ["allow", "deny"] as const) {
    const answer = ask()
    await permits.decide((await asked()).id, { kind }, "me")
    await answer
  }
  expect((await journal()).filter(([kind]) => kind === "permission.decided")).toEqual([
    ["permission.decided", "allowed"],
    ["permission.decided", "denied"],
  ])
})

test("always answers with exactly the one rule that was chosen, and the audit names it", async () => {
  const answer = ask()
  await permits.decide((await asked()).id, { kind: "always", which: 0 }, "the owner")
  expect(await answer).toEqual({ behavior: "allow", always: 0 })
  expect((await permits.audit({ limit: 1 }))[0]!.data).toMatchObject({ rule: "allow /srv" })
})

test("what is allowed with another input is answered with that one, and the audit has it without secrets", async () => {
  const signal = new AbortController().signal
  const answer = permits.permit(request, { ...context, canUpdateInput: true }, signal)
  const updatedInput = { command: "ls", token: `ghp_${"a1B2".repeat(9)}` }
  await permits.decide((await asked()).id, { kind: "allow", updatedInput }, "the owner")
  expect(await answer).toEqual({ behavior: "allow", updatedInput })
  const { data } = (await permits.audit({ limit: 1 }))[0]!
  expect(data.updatedInput).toMatchObject({ command: "ls" })
  expect(JSON.stringify([data, await permits.recent(9)])).not.toContain("ghp_")
})

test("another input is refused where the agent would run its own all the same, and the question still waits", async () => {
  const answer = ask()
  const { id } = await asked()
  const other = { kind: "allow", updatedInput: { command: "ls" } } as const
  // The second one runs elsewhere, and knows nothing of the agent that asks.
  for (const decider of [permits, make({ home: "/other" })])
    await expect(decider.decide(id, other, "me")).rejects.toMatchObject({
      code: "bad_input",
      message: "Bash can be allowed or denied here, but not with another input",
      data: { parameter: "updatedInput" },
    })
  expect(await permits.waiting()).toHaveLength(1)
  await permits.decide(id, { kind: "deny" }, "me")
  expect(await answer).toMatchObject({ behavior: "deny" })
  expect(await permits.decide(id, other, "me"), "too late is no mistake").toMatchObject({ isFirst: false })
})

test("a rule that was not offered is refused, and the question still waits", async () => {
  const stop = new AbortController()
  const answer = ask({}, stop.signal)
  const { id } = await asked()
  await expect(permits.decide(id, { kind: "always", which: 2 }, "me")).rejects.toThrow(/one of 1 \(allow \/srv\), 2/)
  expect(await permits.waiting()).toHaveLength(1)
  stop.abort()
  await answer
  const other = ask({ suggestions: [] })
  const next = await asked()
  await expect(permits.decide(next.id, { kind: "always", which: 0 }, "me")).rejects.toThrow(/no rule is offered/)
  await permits.decide(next.id, { kind: "deny" }, "me")
  expect(await other).toEqual({ behavior: "deny", message: "Denied by me" })
})

test("of many answers at once the first counts, and the others are told whose that was", async () => {
  const answer = ask()
  const { id } = await asked()
  const answers = await Promise.all(
    ["ann", "bob", "cyd"].map((by, at) =>
      permits.decide(id, at === 0 ? { kind: "deny", reason: "not on a Friday" } : { kind: "allow" }, by),
    ),
  )
  expect(answers.filter(({ isFirst }) => isFirst)).toHaveLength(1)
  const first = answers.find(({ isFirst }) => isFirst)!.permission.answeredBy
  expect(answers.map(({ permission }) => permission.answeredBy)).toEqual([first, first, first])
  expect(await answer).toEqual(
    first === "ann" ? { behavior: "deny", message: "Denied by ann: not on a Friday" } : { behavior: "allow" },
  )
  expect(await permits.audit({ limit: 9 })).toHaveLength(1)
})

test("what nobody answers in time is denied with a reason", async () => {
  const answer = ask()
  const { id } = await asked()
  nowMs += 30 * 60_000
  expect(await answer).toEqual({ behavior: "deny", message: "Not allowed: nobody answered within 30 minutes" })
  expect(await store.permissions.byId(id)).toMatchObject({ state: "timed_out", answeredBy: "throughline" })
  expect(await permits.decide(id, { kind: "allow" }, "me")).toMatchObject({
    isFirst: false,
    permission: { state: "timed_out" },
  })
  expect((await permits.audit({ limit: 9 })).map(({ what }) => what)).toEqual(["permission.timed_out"])
})

test("a question that the agent takes back is stale, also when it did so before it was kept", async () => {
  const stop = new AbortController()
  const answer = ask({}, stop.signal)
  await asked()
  stop.abort()
  expect(await answer).toEqual({ behavior: "deny", message: "Not allowed: the agent asks no longer" })
  expect(await ask({}, AbortSignal.abort())).toMatchObject({ behavior: "deny" })
  expect((await permits.recent(9)).map(({ state }) => state)).toEqual(["stale", "stale"])
  expect(await permits.waiting()).toEqual([])
})

test("after a restart, requests of this data directory are stale, those of another are not", async () => {
  const stop = new AbortController()
  const answers = [ask({}, stop.signal), make({ home: "/other" }).permit(request, context, stop.signal)]
  await vi.waitFor(async () => expect(await permits.waiting()).toHaveLength(2), SOON)
  await make().leaveDead()
  expect((await permits.waiting()).map(({ home }) => home)).toEqual(["/other"])
  expect((await permits.recent(9)).map(({ state }) => state).sort()).toEqual(["stale", "waiting"])
  expect(await answers[0]).toEqual({ behavior: "deny", message: "Not allowed: the daemon was restarted" })
  stop.abort()
  await answers[1]
})

test("an answer that another daemon wrote is found, also when every wake-up is lost", async () => {
  const deaf = { ...store, onWake: () => () => {} }
  const answer = make({ store: deaf }).permit(request, context, new AbortController().signal)
  const { id } = await asked()
  await permits.decide(id, { kind: "allow" }, "me")
  expect(await answer).toEqual({ behavior: "allow" })
})

test("the beginning of an id is enough while it is the only one", async () => {
  const answer = ask()
  const { id } = await asked()
  await expect(permits.decide("q-none", { kind: "allow" }, "me")).rejects.toMatchObject({
    code: "permission_not_found",
    message: "there is no permission q-none",
    data: { id: "q-none" },
  })
  await permits.decide(id.slice(0, 6), { kind: "allow" }, "me")
  expect(await answer).toEqual({ behavior: "allow" })
})

test("a beginning that two have is refused", async () => {
  const stop = new AbortController()
  const answers = [ask({}, stop.signal), ask({}, stop.signal)]
  await vi.waitFor(async () => expect(await permits.waiting()).toHaveLength(2), SOON)
  const ids = (await permits.waiting()).map(({ id }) => id)
  await expect(permits.decide("q-", { kind: "allow" }, "me")).rejects.toMatchObject({
    code: "bad_input",
    message: `q- is the beginning of ${ids.join(" and ")}`,
    data: { parameter: "id" },
  })
  expect(await permits.waiting()).toHaveLength(2)
  stop.abort()
  await Promise.all(answers)
})

test("once it is decided, secrets are gone from what is kept, and from the audit", async () => {
  const key = `ghp_${"a1B2c3D4e5F6".repeat(3)}`
  const command = `curl -H "x-api-key: ${key}" https://example.com`
  const answer = ask({
    title: `Bash: ${command}`,
    input: { command, file: "notes.md" },
    suggestions: [{ label: `allow ${command}`, value: 1 }],
  })
  const { id, input } = await asked()
  expect(input).toEqual({ command, file: "notes.md" })
  await permits.decide(id, { kind: "deny", reason: `no ${key}` }, "me")
  await answer
  const kept = (await store.permissions.byId(id))!
  expect(kept.input.file).toBe("notes.md")
  expect(JSON.stringify([kept, await permits.audit({ limit: 9 })])).not.toContain(key)
})

test("where the question cannot be kept the answer is no, and somebody is told", async () => {
  const broken = { ...store, transaction: () => Promise.reject(new Failure("store_full", "the disk is full")) }
  const answer = await make({ store: broken as Store }).permit(request, context, new AbortController().signal)
  expect(answer).toEqual({ behavior: "deny", message: "Nobody could be asked: the disk is full" })
  expect(troubles).toEqual([expect.stringMatching(/for Bash: the disk is full/)])
})

test("a store that is away for a moment does not end the wait", async () => {
  let failures = 2
  const shaky = {
    ...store,
    permissions: {
      ...store.permissions,
      byId: (id: string) =>
        failures-- > 0 ? Promise.reject(new Failure("store_busy", "locked")) : store.permissions.byId(id),
    },
  }
  const answer = make({ store: shaky }).permit(request, context, new AbortController().signal)
  const { id } = await asked()
  await permits.decide(id, { kind: "allow" }, "me")
  expect(await answer).toEqual({ behavior: "allow" })
  expect(failures).toBeLessThan(0)
})

test("a store that fails for good while it waits makes the answer no, and so does a stop while it is away", async () => {
  const failing = (code: "store_full" | "store_busy") =>
    make({
      store: {
        ...store,
        permissions: { ...store.permissions, byId: () => Promise.reject(new Failure(code, "gone")) },
      },
    })
  const full = failing("store_full").permit(request, context, new AbortController().signal)
  expect(await full).toEqual({ behavior: "deny", message: "Nobody could be asked: gone" })
  const busy = failing("store_busy").permit(request, context, AbortSignal.abort())
  expect(await busy).toEqual({ behavior: "deny", message: "Nobody could be asked: gone" })
  expect(troubles).toHaveLength(2)
})

test("who waited for an answer listens no longer once it is there", async () => {
  let listeners = 0
  const counting: Store = {
    ...store,
    onWake(listener) {
      listeners++
      const forget = store.onWake(listener)
      return () => {
        listeners--
        forget()
      }
    },
  }
  const answer = make({ store: counting }).permit(request, context, new AbortController().signal)
  const { id } = await asked()
  await permits.decide(id, { kind: "allow" }, "me")
  await answer
  expect(listeners).toBeLessThanOrEqual(0)
})

test("somebody watches while what waits was looked at within fifteen seconds", async () => {
  expect(permits.isWatched()).toBe(false)
  await permits.waiting()
  nowMs += 14_999
  expect(permits.isWatched()).toBe(true)
  nowMs += 1
  expect(permits.isWatched()).toBe(false)
})

test("what was chosen so far is noted while a question waits, and not after", async () => {
  const { id } = await permits.ask(request, context, { key: "k1", mostMs: 60_000 })
  expect(permits.idOf("k1")).toBe(id)
  expect(await permits.note(id, { colour: ["red"] })).toBe(true)
  expect((await permits.named(id)).answers).toEqual({ colour: ["red"] })
  await permits.release(id, { by: "the terminal", reason: "answered there" })
  expect(await permits.note(id, { colour: ["blue"] })).toBe(false)
  expect(await permits.named(id)).toMatchObject({ state: "stale", answeredBy: "the terminal" })
})

test("a question of a hook ends when the hook says, or when the settings say so first", async () => {
  const lasting = async (key: string, mostMs: number) => {
    const { askedAtMs, expiresAtMs, via } = await permits.ask(request, context, { key, mostMs })
    return [expiresAtMs - askedAtMs, via]
  }
  expect(await lasting("k1", 60_000)).toEqual([60_000, "hook"])
  expect(await lasting("k2", 3_600_000)).toEqual([30 * 60_000, "hook"])
})

test("a restart that cannot look at what waited goes on, and somebody is told", async () => {
  const broken = {
    ...store,
    permissions: { ...store.permissions, waiting: () => Promise.reject(new Failure("store_full", "the disk is full")) },
  }
  const restarted = make({ store: broken })
  await restarted.leaveDead()
  restarted.close()
  expect(troubles).toEqual(["what waited before the restart: the disk is full"])
})

describe("questions with options", () => {
  const questions = [
    {
      key: "Which colour?",
      text: "Which colour?",
      options: [{ label: "red" }, { label: "blue" }],
      isMany: false,
      isOpen: true,
    },
    {
      key: "Which days?",
      text: "Which days?",
      options: [{ label: "Mon" }, { label: "Tue" }],
      isMany: true,
      isOpen: false,
    },
  ]
  const answer = (answers: Record<string, string[]>) => ({ kind: "answer", answers }) as const
  const asks = () =>
    permits.ask({ ...request, tool: "AskUserQuestion", questions }, context, { key: "k1", mostMs: 3_600_000 })

  test("are answered together, in own words where that is open, and kept without secrets", async () => {
    const { id } = await asks()
    const hook = permits.waitFor(id, new AbortController().signal).then(async (got) => {
      await permits.taken("k1")
      return got
    })
    const secret = `ghp_${"a1B2".repeat(9)}`
    const answers = { "Which colour?": [secret], "Which days?": ["Mon", "Tue"] }
    await permits.decide(id, answer(answers), "Ada")
    expect(await hook).toMatchObject({ answer: { behavior: "allow", answers } })
    const kept = { "Which colour?": ["[redacted:github-token]"], "Which days?": ["Mon", "Tue"] }
    expect((await store.permissions.byId(id))!.answers).toEqual(kept)
    expect((await permits.audit({ limit: 9 })).map(({ data }) => data.answers)).toEqual([kept])
    expect(JSON.stringify([await permits.recent(9), await permits.audit({ limit: 9 })])).not.toContain(secret)
  })

  test.each([
    ["a yes alone", { kind: "allow" } as const, /asks questions/],
    ["an answer that is missing", answer({ "Which colour?": ["red"] }), /no answer to "Which days\?"/],
    ["two where one is taken", answer({ "Which colour?": ["red", "blue"], "Which days?": ["Mon"] }), /takes one/],
    ["other words where only options are", answer({ "Which colour?": ["red"], "Which days?": ["Sun"] }), /none of the/],
  ])("refuse %s, and still wait", async (_, decision, why) => {
    const { id } = await asks()
    await expect(permits.decide(id, decision, "Ada")).rejects.toMatchObject({
      code: "bad_input",
      message: expect.stringMatching(why),
      data: { parameter: expect.stringMatching(/^answers?$/) },
    })
    expect((await permits.named(id)).state).toBe("waiting")
  })
})
