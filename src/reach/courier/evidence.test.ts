import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { newSessionId, promptHash, type SessionId } from "../../domain/ids.ts"
import { AGENT_CHANNEL, laneOf, type Rung } from "../../domain/message.ts"
import type { Store } from "../../domain/store.ts"
import { openStore } from "../../store/open.ts"
import { sqlite } from "../../store/sqlite.ts"
import { makeEvidence } from "./evidence.ts"
import { makeOpenTurns } from "./open-turns.ts"

let dir: string
let store: Store
let nowMs: number
let session: SessionId
const turns = makeOpenTurns()
const activity: string[] = []
const console_ = {
  platform: "claude-code",
  prepare: (text: string) => ({ text: text.startsWith("/") ? ` ${text}` : text }),
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "evidence-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = 1_800_000_000_000
  session = await addSession("s1")
  activity.length = 0
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

const follower = () =>
  makeEvidence({
    clock: { nowMs: () => nowMs },
    host: "here",
    consoles: [console_ as never],
    turns,
    onArrived: () => {},
    onActivity: (of, cwd) => activity.push(`${of === session} ${cwd}`),
  })

/** Handed over by a courier that waits for the evidence. */
async function begun(
  id: string,
  text: string,
  { rung = "pane" as Rung, to = session, lane = laneOf({ team: "api" }, "normal"), isCommand = false } = {},
): Promise<void> {
  const payload = { team: "api", text, priority: "normal", sender: { kind: "owner", name: "o" }, isCommand }
  await store.deliveries.enqueue({ key: id, lane, channel: AGENT_CHANNEL, payload, repeatable: false }, nowMs)
  const request = { owner: "c", host: "here", leaseMs: 1_000, limit: 1, channels: [AGENT_CHANNEL] }
  const [leased] = await store.deliveries.lease(request, nowMs)
  await store.deliveries.startAttempt(leased!.seq, "c", nowMs, { sessionId: to, rung })
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
  await store.transaction((tx) => follower().after(entries, tx, new AbortController().signal))
}

const prompt = (text: string, data: object = {}) => hook("UserPromptSubmit", { prompt_hash: promptHash(text), ...data })
const state = async (id: string) => (await store.deliveries.byKey(id))!.state
const told = async () =>
  (await store.journal.after(0, 100)).flatMap(({ kind }) => (kind.startsWith("message.") ? [kind.slice(8)] : []))

const ID = "m-00000000000000aa"

describe("what was pasted", () => {
  test("is delivered, seen and running when the prompt hook tells its hash, and done at the turn's end", async () => {
    await begun(ID, "/etc is a folder")
    await prompt("something else")
    expect(await state(ID)).toBe("queued")
    await hook("Stop")
    await prompt(" /etc is a folder")
    expect(await state(ID)).toBe("running")
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
    await begun("m-00000000000000bb", "steer again")
    await prompt("steer again")
    await hook("Stop")
    expect(await state("m-00000000000000bb")).toBe("running")
    await hook("Stop")
    expect(await state("m-00000000000000bb")).toBe("done")
  })

  test("twice in the same words, into two lanes, is one prompt each, the first one first", async () => {
    const other = "m-00000000000000bb"
    await begun(other, "yes", { lane: `session:${session}` })
    nowMs += 5
    await begun(ID, "yes")
    await prompt("yes")
    expect([await state(other), await state(ID)]).toEqual(["running", "queued"])
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

  test("is not what a hook spoke of that came before it, and not what a sub-agent did", async () => {
    await begun(ID, "go on")
    await hook("UserPromptSubmit", { prompt_hash: promptHash("go on") }, { afterMs: -5 })
    await prompt("go on", { agent_id: "sub" })
    expect(await state(ID)).toBe("queued")
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
  await begun(ID, "mail", { rung: "wake" })
  await prompt("<task-notification>…", { message_ids: `m-00000000000000ff,${ID}` })
  expect(await state(ID)).toBe("running")
})

describe("what a turn was told at its end", () => {
  test("has arrived when the turn went on, which its next end says, or a tool before that", async () => {
    await begun(ID, "mail", { rung: "turn" })
    await hook("Stop", { stop_hook_active: "false" }, { afterMs: -1 })
    expect(await state(ID)).toBe("queued")
    nowMs += 5
    await hook("Stop", { stop_hook_active: "true" })
    expect(await told()).toEqual(["delivered", "seen", "running", "done"])
    await begun("m-00000000000000bb", "more", { rung: "turn" })
    await hook("PostToolUse")
    expect(await state("m-00000000000000bb")).toBe("running")
  })

  test("has not when the turn ended all the same, or somebody said something else", async () => {
    await begun(ID, "mail", { rung: "turn" })
    await hook("Stop", { stop_hook_active: "false" })
    await prompt("something else")
    expect(await state(ID)).toBe("queued")
  })
})
