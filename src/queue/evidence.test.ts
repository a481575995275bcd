import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { claudeCode } from "../agents/claude-code/console.ts"
import { codex } from "../agents/codex/console.ts"
import { newSessionId, promptHash, type SessionId } from "../domain/ids.ts"
import { AGENT_CHANNEL, type DeliveryRoute, laneOf } from "../domain/message.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeEvidence, makeOpenTurns } from "./evidence.ts"

let dir: string
let store: Store
let nowMs: number
let session: SessionId
const turns = makeOpenTurns()
const activity: string[] = []
const arrived: string[] = []

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "evidence-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = 1_800_000_000_000
  session = await addSession("s1")
  activity.length = 0
  arrived.length = 0
})
afterEach(async () => {
  turns.closed(session)
  await store.close()
  rmSync(dir, { recursive: true })
})

async function addSession(nativeId: string): Promise<SessionId> {
  const { session } = await store.sessions.create({
    id: newSessionId(),
    platform: "claude-code",
    nativeId,
    projectId: null,
    title: "t",
    tags: [],
    key: null,
    createdAtMs: nowMs,
  })
  return session.id
}

const consumer = () =>
  makeEvidence({
    clock: { nowMs: () => nowMs },
    host: "here",
    consoles: [codex, claudeCode],
    turns,
    onArrived: (key) => arrived.push(key),
    onActivity: (of, cwd) => activity.push(`${of === session} ${cwd}`),
  })

/** Handed over by a dispatcher that waits for the evidence. */
async function begun(
  id: string,
  text: string,
  { route = "pane" as DeliveryRoute, to = session, lane = laneOf({ team: "api" }, "normal"), isCommand = false } = {},
): Promise<void> {
  const payload = { team: "api", text, priority: "normal", sender: { kind: "owner", name: "o" }, isCommand }
  await store.deliveries.enqueue({ key: id, lane, channel: AGENT_CHANNEL, payload, repeatable: false }, nowMs)
  const request = { owner: "c", host: "here", leaseMs: 1_000, limit: 1, channels: [AGENT_CHANNEL] }
  const [leased] = await store.deliveries.lease(request, nowMs)
  await store.deliveries.startAttempt(leased!.seq, "c", nowMs, { sessionId: to, route })
}

let count = 0
async function hook(event: string, data: object = {}, { of = session, afterMs = 1 } = {}): Promise<void> {
  nowMs += afterMs
  const entry = {
    kind: "hook.received",
    key: `h${count++}`,
    sessionId: of,
    atMs: nowMs,
    data: { platform: "claude-code", event, cwd: "/w", ...data },
  }
  const last = await store.journal.last()
  await store.journal.append([entry])
  const entries = await store.journal.after(last, 10)
  await store.transaction((tx) => consumer().after(entries, tx, new AbortController().signal))
}

const prompt = (text: string, data: object = {}, of = session) =>
  hook("UserPromptSubmit", { prompt_hash: promptHash(text), ...data }, { of })
const pasted = (text: string, isCommand = false) => {
  const prepared = claudeCode.prepare(text, { isCommand })
  if ("refused" in prepared) throw new Error(prepared.refused)
  return prepared.text
}
const state = async (id: string) => (await store.deliveries.byKey(id))!.state
const told = async () =>
  (await store.journal.after(0, 100)).flatMap(({ kind }) => (kind.startsWith("message.") ? [kind.slice(8)] : []))

const ID = "m-00000000000000aa"
const OTHER = "m-00000000000000bb"

describe("what was pasted", () => {
  test("is delivered, seen and running when the prompt hook tells its hash, and done at the turn's end", async () => {
    await begun(ID, "/etc is a folder")
    await prompt("something else")
    expect(await state(ID)).toBe("queued")
    await hook("Stop")
    await prompt(pasted("/etc is a folder"))
    expect(await state(ID)).toBe("running")
    expect(arrived).toEqual([ID])
    await hook("Stop")
    expect(await told()).toEqual(["delivered", "seen", "running", "done"])
    expect(activity).toEqual(["true /w", "true /w"])
  })

  test("is not what one team asks another: that carries an id too, and is settled by who asked it", async () => {
    const payload = { pairId: "p", text: "x", toTeam: "api" }
    await store.deliveries.enqueue({ key: ID, lane: "pair:p", channel: "pair", payload, repeatable: false }, nowMs)
    const request = { owner: "c", host: "here", leaseMs: 1_000, limit: 1, channels: ["pair"] }
    const [leased] = await store.deliveries.lease(request, nowMs)
    await store.deliveries.startAttempt(leased!.seq, "c", nowMs)
    await prompt(`[Message ${ID} from web, via Throughline]`, { message_ids: ID })
    expect(await state(ID)).toBe("queued")
  })

  test("into a turn that runs is part of it after the next tool, or else begins the next turn", async () => {
    turns.opened(session, nowMs)
    await begun(ID, "steer")
    await prompt("steer")
    expect(await state(ID)).toBe("delivered")
    await hook("PostToolUse")
    expect(await state(ID)).toBe("running")
    await hook("Stop")
    expect(await state(ID)).toBe("done")

    turns.opened(session, nowMs)
    await begun(OTHER, "steer again")
    await prompt("steer again")
    await hook("Stop")
    expect(await state(OTHER)).toBe("running")
    await hook("Stop")
    expect(await state(OTHER)).toBe("done")
    expect(await told()).toEqual(["delivered", "seen", "running", "done", "delivered", "seen", "running", "done"])
  })

  test("twice in the same words, into two lanes, is one prompt each, the first one first", async () => {
    await begun(OTHER, "yes", { lane: `session:${session}` })
    nowMs += 5
    await begun(ID, "yes")
    await prompt("yes")
    expect([await state(OTHER), await state(ID)]).toEqual(["running", "queued"])
    await prompt("yes")
    expect(await state(ID)).toBe("delivered")
  })

  test("is known again in the session that the same process went on with", async () => {
    const route = { sessionId: session, host: "here", pid: 7, processStart: "1", pane: null, seenAtMs: nowMs }
    await store.routes.put(route)
    const next = await addSession("s2")
    await begun(ID, "after /clear")
    await hook("UserPromptSubmit", { prompt_hash: promptHash("after /clear"), pid: 8 }, { of: next })
    expect(await state(ID)).toBe("queued")
    await hook("UserPromptSubmit", { prompt_hash: promptHash("after /clear"), pid: 7 }, { of: next })
    expect(await state(ID)).not.toBe("queued")
  })

  test("is not what a hook spoke of that came before it", async () => {
    await begun(ID, "go on")
    await hook("UserPromptSubmit", { prompt_hash: promptHash("go on") }, { afterMs: -5 })
    expect(await state(ID)).toBe("queued")
  })

  test("is not what a sub-agent did, whatever that tells", async () => {
    await begun(ID, "go on")
    await prompt("go on", { agent_id: "sub" })
    expect(await state(ID)).toBe("queued")
    await prompt("go on")
    await hook("Stop", { agent_id: "sub" })
    expect(await state(ID)).toBe("running")
    expect(activity).toEqual([])
  })

  test("may be told in the millisecond in which it was begun", async () => {
    await begun(ID, "go on")
    await hook("UserPromptSubmit", { prompt_hash: promptHash("go on") }, { afterMs: 0 })
    expect(await state(ID)).toBe("running")
  })

  test("is compared as its agent's console would have it, a command as it is", async () => {
    await begun(ID, "/compact now", { isCommand: true })
    await prompt(pasted("/compact now"))
    expect(await state(ID)).toBe("queued")
    await prompt(pasted("/compact now", true))
    expect(await state(ID)).not.toBe("queued")
  })

  test("is compared word by word where the agent has no console", async () => {
    await begun(ID, "/etc is a folder")
    await prompt(pasted("/etc is a folder"), { platform: "other" })
    expect(await state(ID)).toBe("queued")
    await prompt("/etc is a folder", { platform: "other" })
    expect(await state(ID)).not.toBe("queued")
  })

  test("is not known by a prompt without a hash, also when it could not have been pasted", async () => {
    expect(claudeCode.prepare(" ", { isCommand: false })).toHaveProperty("refused")
    await begun(ID, " ")
    await hook("UserPromptSubmit")
    expect(await state(ID)).toBe("queued")
  })

  test("is not confirmed by a tool or by the end of a turn: these may have begun before it", async () => {
    await begun(ID, "go on")
    await hook("PostToolUse")
    await hook("Stop", { stop_hook_active: "true" })
    expect(await state(ID)).toBe("queued")
  })

  test("waits on when its session ends before it is confirmed", async () => {
    await begun(ID, "go on")
    await hook("SessionEnd", { end: "other" })
    expect(await state(ID)).toBe("queued")
  })

  test("goes by the order in which it was handed over, not by that in which it was sent", async () => {
    const lanes = { [ID]: laneOf({ team: "api" }, "normal"), [OTHER]: `session:${session}` }
    const payload = { team: "api", text: "yes", priority: "normal", sender: { kind: "owner", name: "o" } }
    for (const [key, lane] of Object.entries(lanes))
      await store.deliveries.enqueue({ key, lane, channel: AGENT_CHANNEL, payload, repeatable: false }, nowMs)
    const request = { owner: "c", host: "here", leaseMs: 1_000, limit: 2, channels: [AGENT_CHANNEL] }
    for (const { seq } of (await store.deliveries.lease(request, nowMs)).toSorted((a, b) => b.seq - a.seq))
      await store.deliveries.startAttempt(seq, "c", nowMs++, { sessionId: session, route: "pane" })
    await prompt("yes")
    expect([await state(ID), await state(OTHER)]).toEqual(["queued", "running"])
  })

  test("to this session comes before what was pasted to another one of its process", async () => {
    const next = await addSession("s2")
    for (const sessionId of [session, next])
      await store.routes.put({ sessionId, host: "here", pid: 7, processStart: "1", pane: null, seenAtMs: nowMs })
    await begun(ID, "yes")
    await begun(OTHER, "yes", { to: next, lane: `session:${next}` })
    await prompt("yes", { pid: 7 }, next)
    expect([await state(ID), await state(OTHER)]).toEqual(["queued", "running"])
  })

  test("fails when its session ends before the turn is over", async () => {
    await begun(ID, "go on")
    await prompt("go on")
    await hook("SessionEnd", { end: "other" })
    expect(await state(ID)).toBe("failed")
  })
})

test("a command that ends its session, as /clear does, has not failed by it", async () => {
  await begun(ID, "/clear", { isCommand: true })
  const { seq } = (await store.deliveries.byKey(ID))!
  await store.deliveries.settle(seq, "c", "delivered", null, nowMs)
  await hook("SessionEnd", { end: "clear" })
  expect(await state(ID)).toBe("done")
})

test("what woke an agent is known by its id in the prompt", async () => {
  await begun(ID, "mail", { route: "wake" })
  await prompt("<task-notification>…", { message_ids: `m-00000000000000ff,${ID}` })
  expect(await state(ID)).toBe("running")
})

test("what woke an agent is known by its id in a session that nobody knew of", async () => {
  await begun(ID, "mail", { route: "wake" })
  await prompt("<task-notification>…", { message_ids: ID }, await addSession("s2"))
  expect(await state(ID)).toBe("running")
})

describe("what a hook tells", () => {
  test.each(["PostToolUse", "PostToolUseFailure", "PreToolUse", "PreCompact", "PostCompact"])(
    "%s is a turn's own work",
    async (event) => {
      await begun(ID, "mail", { route: "turn" })
      await hook(event)
      expect(await state(ID)).toBe("running")
      expect(activity).toEqual([])
    },
  )

  test.each(["Notification", "SubagentStop", "SessionStart"])("%s is none", async (event) => {
    await begun(ID, "mail", { route: "turn" })
    await hook(event)
    expect(await state(ID)).toBe("queued")
  })

  test.each(["Stop", "SessionStart", "SessionEnd"])(
    "after %s there is no open turn, and others may go",
    async (event) => {
      turns.opened(session, nowMs)
      await hook(event)
      expect(turns.since(session)).toBeUndefined()
      expect(activity).toEqual(["true /w"])
    },
  )

  test("is not heard where something else is written in the journal, or no session is known", async () => {
    await begun(ID, "mail", { route: "turn" })
    const data = { platform: "claude-code", event: "Stop", stop_hook_active: "true" }
    const atMs = ++nowMs
    const last = await store.journal.last()
    await store.journal.append([
      { kind: "turn.ended", sessionId: session, atMs, data },
      { kind: "hook.received", sessionId: null, atMs, data },
    ])
    const entries = await store.journal.after(last, 10)
    expect(entries).toHaveLength(2)
    await store.transaction((tx) => consumer().after(entries, tx, new AbortController().signal))
    expect(await state(ID)).toBe("queued")
    expect(activity).toEqual([])
  })

  test("in another shape than text is passed over", async () => {
    await begun(ID, "yes")
    await prompt("yes", { message_ids: 5, cwd: 7, agent_id: null })
    expect(await state(ID)).toBe("running")
  })
})

describe("what a turn was told at its end", () => {
  test("is not what happened before that", async () => {
    await begun(ID, "mail", { route: "turn" })
    await hook("PostToolUse", {}, { afterMs: -2 })
    await hook("Stop", { stop_hook_active: "true" }, { afterMs: 0 })
    expect(await state(ID)).toBe("queued")
  })

  test("is not confirmed by a prompt that names it", async () => {
    await begun(ID, "mail", { route: "turn" })
    await prompt("about that", { message_ids: ID })
    expect(await state(ID)).toBe("queued")
  })

  test("has arrived when the turn went on, which its next end says, or a tool before that", async () => {
    await begun(ID, "mail", { route: "turn" })
    await hook("Stop", { stop_hook_active: "false" }, { afterMs: -1 })
    expect(await state(ID)).toBe("queued")
    nowMs += 5
    await hook("Stop", { stop_hook_active: "true" })
    expect(await told()).toEqual(["delivered", "seen", "running", "done"])
    await begun(OTHER, "more", { route: "turn" })
    await hook("PostToolUse")
    expect(await state(OTHER)).toBe("running")
  })

  test("has not when the turn ended all the same, or somebody said something else", async () => {
    await begun(ID, "mail", { route: "turn" })
    await hook("Stop", { stop_hook_active: "false" })
    await prompt("something else")
    expect(await state(ID)).toBe("queued")
  })
})
