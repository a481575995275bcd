import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Spoken } from "../../../test/fixtures/conversation.ts"
import { keepConversation } from "../../../test/fixtures/conversation.ts"
import type { Caller } from "../../domain/caller.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeRoster } from "../../teams/roster.ts"
import { updatesConsumer } from "./consumer.ts"
import { type Mail, makeUpdates } from "./pull.ts"

const NOW = 1_800_000_000_000
const ID = "m-0123456789abcdef"
let dir: string
let store: Store
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "updates-")))
  store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
  for (const name of ["api", "web", "api/inner"]) mkdirSync(join(dir, name))
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

const roster = () => {
  const more = { description: "", platform: "claude-code", skipPermissions: false, permissionMode: "default" }
  const setting = (name: string) => ({
    project: join(dir, name),
    whenAway: "keep" as const,
    taskStateFile: false,
    ...more,
  })
  return makeRoster({ read: () => ({ api: setting("api"), web: setting("web"), inner: setting("api/inner") }) })
}
/** Read from the beginning, as after a rebuild. */
const follow = () =>
  store.transaction(async (tx) =>
    updatesConsumer(roster(), { reportTakeovers: async () => {} }).after(
      await tx.journal.after(0, 999),
      tx,
      new AbortController().signal,
    ),
  )
const module = (mail: Mail[] = []) =>
  makeUpdates({
    store,
    roster: roster(),
    beforeMail: async () => {},
    takeMail: async () => ({ mail: mail.splice(0), hasMore: false }),
  })
const pull = (
  query: { target?: string; since?: string | number; limit?: number } = {},
  caller: Caller = { surface: "cli" },
) => module().pull({ target: "api", limit: 50, ...query }, caller)

async function said(
  turns: Spoken[],
  { keptAtMs = NOW, changed = [] as number[], isSubagent = false } = {},
): Promise<Session> {
  const project = await store.projects.ensure(`file://${join(dir, "api")}`, NOW)
  const of = { projectId: project.id, startMs: NOW, projectPath: join(dir, "api") }
  const session = await keepConversation(store, of, turns)
  if (isSubagent) await store.sessions.describe(session.id, { isSubagent })
  await kept(session.id, await store.turns.seqs(session.id), keptAtMs, changed)
  return session
}
const kept = (sessionId: SessionId, seqs: number[], atMs = NOW, changed: number[] = []) =>
  store.journal.append([
    { kind: "turns.kept", sessionId, atMs, data: { seqs, ...(changed.length > 0 ? { changed } : {}) } },
  ])

describe("what becomes an update", () => {
  test("replies and announcements of the team's sessions, once, however often they are seen", async () => {
    const session = await said([
      ["prompt", "Mend it."],
      ["tool_call", "{}"],
      ["reply", "[New message received: DNS]"],
      ["reply", `[Responding to: ${ID}] I am at it.`],
      ["reply", "Mended."],
    ])
    await kept(session.id, await store.turns.seqs(session.id), NOW, await store.turns.seqs(session.id))
    await follow()
    await follow()
    const { updates } = await pull()
    expect(updates.map(({ type, content, message_id }) => [type, content, message_id])).toEqual([
      ["announcement", "[New message received: DNS]", null],
      ["announcement", `[Responding to: ${ID}] I am at it.`, ID],
      ["reply", "Mended.", null],
    ])
    expect(updates[0]).toMatchObject({ session_id: session.nativeId, created_at: new Date(NOW + 2_000).toISOString() })
    expect((await pull({ target: "web" })).updates).toEqual([])
  })

  test("neither what sub-agents say nor what an import brings", async () => {
    await said([["reply", "Of a sub-agent."]], { isSubagent: true })
    await said([["reply", "Of last week."]], { keptAtMs: NOW + 7 * 24 * 3_600_000 })
    await follow()
    expect((await pull()).updates).toEqual([])
  })

  test("a reply names the message that the session was given before it", async () => {
    const session = await said([["prompt", "hello"]])
    const payload = { team: "api", text: "hello", priority: "normal", sender: { kind: "owner", name: "o" } }
    await store.deliveries.enqueue({ key: ID, lane: "team:api", channel: "agent", repeatable: false, payload }, NOW)
    const request = { owner: "me", host: "here", leaseMs: 1_000, limit: 1, channels: ["agent"] }
    const [delivery] = await store.deliveries.lease(request, NOW)
    await store.deliveries.startAttempt(delivery!.seq, "me", NOW, { sessionId: session.id, route: "pane" })
    await store.deliveries.settle(delivery!.seq, "me", "done", null, NOW + 500)
    const reply = (nativeId: string, atMs: number) => ({
      ...{ sessionId: session.id, nativeId, kind: "reply" as const, text: nativeId, atMs, model: null, toolName: null },
      ...{ toolCallId: null, isError: false, isFallback: false, usage: null, sourceId: null },
    })
    const put = await store.turns.put([reply("before", NOW - 1), reply("its", NOW + 900), reply("later", NOW + 60_000)])
    await kept(
      session.id,
      put.map(({ seq }) => seq),
    )
    await follow()
    expect((await pull()).updates.map(({ content, message_id }) => [content, message_id])).toEqual([
      ["before", null],
      ["its", ID],
      ["later", null],
    ])
  })

  test("a reply names every message that was fetched in its turn, and none of an earlier one", async () => {
    const session = await said([["prompt", "hello"]])
    const [prompt] = await store.turns.ofSession(session.id, { kinds: ["prompt"], limit: 1 })
    const turnMs = prompt!.atMs
    const ids = ["m-00000000000000a1", "m-00000000000000a2", "m-00000000000000a3"]
    for (const [index, key] of ids.entries()) {
      const payload = { team: "api", text: key, priority: "normal", sender: { kind: "agent", name: "web" } }
      await store.deliveries.enqueue({ key, lane: "team:api", channel: "agent", repeatable: false, payload }, turnMs)
      const request = { owner: "me", host: "here", leaseMs: 1_000, limit: 1, channels: ["agent"] }
      const [delivery] = await store.deliveries.lease(request, turnMs + 1)
      // The first was fetched in a turn whose end nobody told.
      const atMs = index === 0 ? turnMs - 10_000 : turnMs + index
      await store.deliveries.startAttempt(delivery!.seq, "me", atMs, { sessionId: session.id, route: "pull" })
      await store.deliveries.settle(delivery!.seq, "me", "running", null, atMs)
    }
    const reply = {
      ...{
        sessionId: session.id,
        nativeId: "both",
        kind: "reply" as const,
        text: "Both are done.",
        atMs: turnMs + 900,
      },
      ...{
        model: null,
        toolName: null,
        toolCallId: null,
        isError: false,
        isFallback: false,
        usage: null,
        sourceId: null,
      },
    }
    const put = await store.turns.put([reply])
    await kept(
      session.id,
      put.map(({ seq }) => seq),
    )
    await follow()
    const replies = (await pull()).updates.filter(({ type }) => type === "reply")
    expect(replies.map(({ content, message_id }) => [content, message_id])).toEqual([
      ["Both are done.", ids[1]],
      ["Both are done.", ids[2]],
    ])
  })

  test("states of messages, each as it came", async () => {
    const state = (state: string, more: object = {}) => ({
      kind: `message.${state}`,
      atMs: NOW,
      data: { id: ID, team: "api", state, ...more },
    })
    await store.journal.append([
      state("queued"),
      state("delivered", { rung: "pane" }),
      state("failed", { reason: "too long" }),
    ])
    await store.journal.append([
      { kind: "message.queued", atMs: NOW, data: { id: ID, team: "nobody", state: "queued" } },
    ])
    await follow()
    await follow()
    const { updates } = await pull()
    expect(updates).toMatchObject([
      { type: "message_state", message_id: ID, state: "queued", content: `${ID} is queued` },
      { state: "delivered", rung: "pane" },
      { state: "failed", reason: "too long", content: `${ID} is failed: too long` },
    ])
  })
})

describe("reading", () => {
  const TEXTS = ["one", "two", "three", "four", "five"]
  const contents = async (query: Parameters<typeof pull>[0]) =>
    (await pull(query)).updates.map(({ content }) => content)
  beforeEach(async () => {
    await said(TEXTS.map((text) => ["reply", text]))
    await follow()
  })

  test("from a cursor all is read once, in pages, and again the same", async () => {
    const first = await pull({ since: "u0", limit: 2 })
    expect(first).toMatchObject({ has_more: true, updates: [{ content: "one" }, { content: "two" }] })
    const second = await pull({ since: first.next_since, limit: 2 })
    expect(second.updates.map(({ content }) => content)).toEqual(["three", "four"])
    const third = await pull({ since: second.next_since, limit: 2 })
    expect(third).toMatchObject({ has_more: false, updates: [{ content: "five" }] })
    expect(await pull({ since: third.next_since })).toEqual({ ...third, updates: [] })
    expect(await pull({ since: first.next_since, limit: 2 })).toEqual(second)
  })

  test("from a time, however it is written; without one the newest", async () => {
    const atMs = NOW + 2_000
    for (const since of [new Date(atMs).toISOString(), atMs, atMs / 1_000, String(atMs / 1_000)])
      expect(await contents({ since })).toEqual(["four", "five"])
    expect(await contents({ limit: 2 })).toEqual(["four", "five"])
    const { next_since, has_more } = await pull({ limit: 2 })
    expect([has_more, await contents({ since: next_since })]).toEqual([false, []])
  })

  test("a time at which nothing happened since leads to a cursor that misses nothing", async () => {
    const { next_since } = await pull({ since: NOW + 99_000 })
    await said([["reply", "six"]])
    await follow()
    expect(await contents({ since: next_since })).toEqual(["six"])
  })

  test("what is forgotten is not told, and the rest is", async () => {
    const [, two] = await store.updates.after("api", { limit: 9 })
    await store.forgetting.turns([two!.turnSeq!], NOW)
    expect(await contents({ since: "u0" })).toEqual(["one", "three", "four", "five"])
  })

  test("a page that would be too long to read ends earlier, and the next one goes on there", async () => {
    await said([
      ["reply", "x".repeat(50_000)],
      ["reply", "y".repeat(50_000)],
      ["reply", "z".repeat(90_000)],
    ])
    await follow()
    let since = "u0"
    const lengths: number[][] = []
    for (let more = true; more; ) {
      const page = await pull({ since })
      lengths.push(page.updates.map(({ content }) => content.length))
      since = page.next_since
      more = page.has_more
    }
    expect(lengths).toEqual([[3, 3, 5, 4, 4, 50_000], [50_000], [90_000]])
  })

  test.each(["yesterday", "", "u", "-5", "2026-99-99", "u!"])("refuses %j as since, by its name", async (since) => {
    await expect(pull({ since })).rejects.toMatchObject({ code: "bad_input", data: { parameter: "since" } })
  })

  test("refuses a team that there is not", async () => {
    await expect(pull({ target: "nobody" })).rejects.toMatchObject({
      code: "bad_input",
      message: "unknown target: nobody",
    })
  })
})

describe("the team's own agent", () => {
  const asks = async (caller: Caller) => {
    const mail = [{ id: ID, text: "[Message …]\nhello", atMs: NOW }]
    const { updates } = await module(mail).pull({ target: "api", limit: 50 }, caller)
    return updates.filter(({ type }) => type === "message")
  }

  test("gets its messages with it, and nobody else does", async () => {
    const { nativeId } = await said([["reply", "hello"]])
    const message = {
      message_id: ID,
      type: "message",
      content: "[Message …]\nhello",
      created_at: new Date(NOW).toISOString(),
    }
    const nativeSession = { platform: "claude-code", id: nativeId }
    expect(await asks({ surface: "mcp", nativeSession })).toEqual([message])
    expect(await asks({ surface: "mcp", projectDir: join(dir, "api") })).toEqual([message])
    // Agents other than Claude Code name no folder in the environment: theirs is where they run our server.
    expect(await asks({ surface: "mcp", cwd: join(dir, "api") })).toEqual([message])
    const unknown = { platform: "claude-code", id: "not kept yet" }
    expect(await asks({ surface: "mcp", nativeSession: unknown, cwd: join(dir, "api") })).toEqual([message])
    expect(await asks({ surface: "mcp", nativeSession: unknown, projectDir: join(dir, "api") })).toEqual([message])
    const codex = { platform: "codex", id: "x" }
    for (const caller of [
      { surface: "cli" as const, nativeSession, projectDir: join(dir, "api") },
      { surface: "http" as const },
      { surface: "cli" as const, cwd: join(dir, "api") },
      { surface: "mcp" as const, projectDir: join(dir, "web") },
      { surface: "mcp" as const, cwd: join(dir, "web") },
      { surface: "mcp" as const, projectDir: join(dir, "web"), cwd: join(dir, "api") },
      { surface: "mcp" as const, nativeSession: codex, cwd: join(dir, "api") },
      { surface: "mcp" as const, nativeSession: codex, projectDir: join(dir, "api") },
      { surface: "mcp" as const },
      // Over TCP a session, even one that is known, is only a claim.
      { surface: "mcp" as const, nativeSession, isRemote: true },
      { surface: "mcp" as const, cwd: join(dir, "api", "inner") },
    ])
      expect(await asks(caller)).toEqual([])
  })
})
