import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { keepConversation, type Spoken } from "../../../test/fixtures/conversation.ts"
import { newSessionId, promptHash, type SessionId } from "../../domain/ids.ts"
import { approvalCopyKey, chatLane, type Outgoing } from "../../domain/outgoing.ts"
import type { Permission } from "../../domain/permission.ts"
import type { Session } from "../../domain/session.ts"
import type { NewTurn, Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeRender } from "../render/render.ts"
import { MIRROR, type Mirror, type MirrorSettings, makeMirror } from "./mirror.ts"

const NOW = 1_800_000_000_000
const CHAT = "-1001234567890"
let dir: string
let store: Store
let nowMs: number
let mirror: Mirror
const stopping = new AbortController().signal

const open = (settings: Partial<MirrorSettings> = {}, chatId: string | null = CHAT) =>
  makeMirror({
    store,
    clock: { nowMs: () => nowMs },
    roster: { at: () => [], onChange: () => () => {} },
    settings: { mirror: "all", verbosity: "normal", atEnd: "archive", approvals: true, ...settings },
    channel: "telegram",
    consoles: [],
    redact: (text) => text.replaceAll("hunter2", "[redacted]"),
    place: async () =>
      chatId === null
        ? undefined
        : { channel: "telegram", chatId, sharedThreadId: null, home: "h", host: "box.lan", maxNameUnits: 128 },
    hasPlace: async () => chatId !== null,
    onTrouble: (error) => {
      throw error
    },
  })

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "mirror-"))
  store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
  nowMs = NOW + 60_000
  mirror = open()
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

/** As the daemon does it: what the consumer writes commits with its number. */
async function follow(one = mirror): Promise<void> {
  await store.transaction(async (tx) => {
    const entries = await tx.journal.after(await tx.journal.position(MIRROR), 999)
    await one.consumer.after(entries, tx, stopping)
    if (entries.length > 0) await tx.journal.advance(MIRROR, entries.at(-1)!.seq)
  })
}
/** Tells what is due, as its loop does. */
async function tick(one = mirror): Promise<void> {
  const ending = new AbortController()
  const running = one.run(ending.signal)
  await new Promise((resolve) => setTimeout(resolve, 40))
  ending.abort()
  await running
}

const DIR = "/w/app"
async function session(turns: Spoken[] = [], more: { title?: string; startMs?: number; platform?: string } = {}) {
  const project = await store.projects.ensure(`file://${DIR}`, NOW)
  return keepConversation(store, { projectId: project.id, startMs: NOW, projectPath: DIR, ...more }, turns)
}
const kept = async (of: Session, seqs: number[], more: Record<string, unknown> = {}) => {
  await store.sessions.grow(of.id, { turns: 0, prompts: 0, lastAtMs: nowMs })
  await store.journal.append([{ kind: "turns.kept", sessionId: of.id, atMs: nowMs, data: { seqs, ...more } }])
}
let turnCount = 0
/** Keeps turns as capture does, and says so. */
async function says(of: Session, turns: Spoken[], startMs = nowMs): Promise<number[]> {
  const put = await store.turns.put(
    turns.map(
      ([kind, text, more], index): NewTurn => ({
        ...{ sessionId: of.id, nativeId: `n${turnCount++}`, kind, text, atMs: startMs + index, model: null },
        ...{
          toolName: null,
          toolCallId: null,
          isError: false,
          isFallback: false,
          usage: null,
          sourceId: null,
          ...more,
        },
      }),
    ),
  )
  const seqs = put.map(({ seq }) => seq)
  await kept(of, seqs)
  return seqs
}
const hook = (of: Session, event: string, data: Record<string, unknown> = {}, atMs = nowMs + 20) =>
  store.journal.append([
    {
      kind: "hook.received",
      sessionId: of.id,
      atMs,
      data: { platform: of.platform, event, session: of.nativeId, env: { CLAUDE_CODE_ENTRYPOINT: "cli" }, ...data },
    },
  ])

/** Everything that is to be shown, in order, as it reads. */
async function told(): Promise<string[]> {
  const can = { maxTextUnits: 4096, maxFileBytes: 1e6 }
  const render = makeRender({ store, can, redact: (text) => text })
  const said: string[] = []
  for (const topic of await store.topics.list({ channel: "telegram" }))
    for (const { payload } of await store.deliveries.ofLanes([`topic:${topic.id}!first`, `topic:${topic.id}`])) {
      const outgoing = payload as unknown as Outgoing
      const parts = await render.parts(outgoing)
      const text =
        parts?.map(({ body }) => body.text).join("|") ?? JSON.stringify("change" in outgoing && outgoing.change)
      said.push(`${parts?.some(({ isSilent }) => !isSilent) ? "🔔 " : ""}${text}`)
    }
  return said
}
const topics = () => store.topics.list({ channel: "telegram" })

const TURN: Spoken[] = [
  ["prompt", "Mend it"],
  ["tool_call", '{"command":"npm test"}', { toolName: "Bash", toolCallId: "c1" }],
  ["tool_result", "Exit code 1", { toolCallId: "c1", isError: true }],
  ["reply", "**Mended.**"],
]
const TOLD = ["🧑‍💻 Mend it", "💻 Bash: npm test", "   ✗ Bash: Exit code 1", "Mended."]

describe("what was said", () => {
  test("comes into a topic of the session's own, in order, and one word when it is done", async () => {
    const one = await session([], { title: "Mend the DNS" })
    await says(one, TURN)
    await follow()
    expect((await topics()).map(({ name, state, chatId }) => [name, state, chatId])).toEqual([
      ["box • app • Mend the DNS", "wanted", CHAT],
    ])
    nowMs += 5_000
    await hook(one, "Stop", { reply_hash: promptHash("**Mended.**") })
    await follow()
    expect(await told()).toEqual([...TOLD, "🔔 ✅ done in 5 s · 1 tool"])
  })

  test("entries seen twice, and by another daemon of the same data directory, change nothing", async () => {
    const one = await session()
    await says(one, TURN)
    await hook(one, "Stop", { reply_hash: promptHash("**Mended.**") })
    await hook(one, "SessionEnd", { end: "logout" })
    for (const again of [mirror, open(), open()]) {
      await store.transaction(async (tx) => again.consumer.after(await tx.journal.after(0, 999), tx, stopping))
      nowMs += 20_000
      await tick(again)
    }
    expect(await told()).toEqual([
      ...TOLD,
      "🔔 ✅ done in 0 s · 1 tool",
      "⏹ The session ended. The agent was logged out.",
      '{"isArchived":true}',
    ])
    expect(await topics()).toHaveLength(1)
  })

  test("the reply may reach its file after the hook that says it is done: done is told behind it", async () => {
    const one = await session()
    await says(one, TURN.slice(0, 3))
    await says(one, [["reply", "Let me look further."]])
    await hook(one, "Stop", { reply_hash: promptHash("**Mended.**") }, nowMs + 10)
    await follow()
    expect((await told()).at(-1)).toBe("Let me look further.")
    await says(one, [["reply", "**Mended.**"]])
    await follow()
    await tick()
    expect((await told()).slice(-2)).toEqual(["Mended.", "🔔 ✅ done in 0 s · 1 tool"])
  })

  test("the reply may be kept already, but stand behind that hook in the journal: done is told behind it all the same", async () => {
    for (const platform of ["claude-code", "codex"]) {
      const one = await session([], { platform })
      await says(one, TURN.slice(0, 3))
      await follow()
      await hook(one, "Stop", platform === "codex" ? {} : { reply_hash: promptHash("**Mended.**") })
      await says(one, TURN.slice(3))
      await follow()
      expect((await told()).slice(-2)).toEqual(["Mended.", "🔔 ✅ done in 0 s · 1 tool"])
    }
  })

  test("a reply that never comes keeps done waiting for seconds only", async () => {
    const one = await session()
    await says(one, TURN.slice(0, 2))
    await hook(one, "Stop", { reply_hash: promptHash("somewhere else") })
    await follow()
    await tick()
    expect((await told()).at(-1)).toBe("💻 Bash: npm test")
    nowMs += 3_100
    await tick()
    expect((await told()).at(-1)).toBe("🔔 ✅ done in 0 s · 1 tool")
  })

  test("agents that do not say which reply is the last are done behind the newest one", async () => {
    const one = await session([], { platform: "codex" })
    await says(one, TURN.slice(0, 3))
    await hook(one, "Stop", {}, nowMs + 10)
    await follow()
    await says(one, TURN.slice(3))
    await follow()
    expect(await told()).toEqual([...TOLD, "🔔 ✅ done in 0 s · 1 tool"])
  })

  test("and not behind the one that the turn before ended with, while their own is still to come", async () => {
    const one = await session([], { platform: "codex" })
    await says(one, TURN)
    await hook(one, "Stop")
    await follow()
    nowMs += 60_000
    await hook(one, "Stop")
    await follow()
    expect((await told()).filter((words) => words.includes("done"))).toHaveLength(1)
    await says(one, [
      ["prompt", "And the other"],
      ["reply", "Mended, too."],
    ])
    await follow()
    expect((await told()).slice(-2)).toEqual(["Mended, too.", "🔔 ✅ done in 0 s"])
  })

  test("after an hour away, turns and their ends are told in the order in which they were", async () => {
    const one = await session()
    await says(one, [["prompt", "Zero"]])
    await follow()
    const began = nowMs
    nowMs += 60 * 60_000
    for (const index of [1, 2, 3])
      await hook(one, "Stop", { reply_hash: promptHash(`Reply ${index}`) }, began + index * 60_000)
    await follow()
    const turns = [1, 2, 3].flatMap((index): Spoken[] => [
      ["prompt", `Prompt ${index}`, { atMs: began + index * 60_000 - 2_000 }],
      ["reply", `Reply ${index}`, { atMs: began + index * 60_000 - 1_000 }],
    ])
    await says(one, turns)
    await follow()
    const done = "🔔 ✅ done in 2 s"
    expect((await told()).slice(1)).toEqual(
      [1, 2, 3].flatMap((index) => [`🧑‍💻 Prompt ${index}`, `Reply ${index}`, done]),
    )
  })

  test("what waited for its last word when the daemon died is told by the next one", async () => {
    const one = await session()
    await says(one, TURN.slice(0, 3))
    await hook(one, "Stop", { reply_hash: promptHash("**Mended.**") })
    await follow()
    const next = open()
    await says(one, TURN.slice(3))
    await follow(next)
    expect((await told()).at(-1)).toBe("🔔 ✅ done in 0 s · 1 tool")
  })

  test("a turn that a hook lets go on is done once, at its real end", async () => {
    const one = await session()
    await says(one, TURN.slice(0, 3))
    await hook(one, "Stop", { reply_hash: promptHash("not yet kept") })
    await hook(one, "Stop", { reply_hash: promptHash("**Mended.**"), stop_hook_active: "true" }, nowMs + 5)
    await follow()
    await says(one, TURN.slice(3))
    await follow()
    nowMs += 30_000
    await tick()
    expect((await told()).filter((text) => text.includes("done"))).toHaveLength(1)
  })

  test("superseded, changed and fallback turns are not shown", async () => {
    const one = await session()
    const [seq] = await says(one, [["prompt", "Take this back"]])
    await store.turns.supersede([seq!], nowMs)
    const again = await says(one, [["reply", "Said before"]])
    await says(one, [["prompt", "typed", { isFallback: true }]])
    await store.transaction(async (tx) => {
      const entries = await tx.journal.after(0, 99)
      const changed = entries.map((entry) =>
        JSON.stringify(entry.data.seqs) === JSON.stringify(again)
          ? { ...entry, data: { seqs: again, changed: again } }
          : entry,
      )
      await mirror.consumer.after(changed, tx, stopping)
    })
    expect(await topics()).toEqual([])
  })

  test("a turn that is forgotten before it is sent is not sent", async () => {
    const one = await session()
    const seqs = await says(one, [["reply", "secret plans"]])
    await follow()
    expect(await told()).toEqual(["secret plans"])
    await store.forgetting.turns(seqs, nowMs)
    expect(await told()).toEqual(["false"])
  })
})

describe("who is told", () => {
  test("an import of old turns makes no topic", async () => {
    for (let index = 0; index < 3; index++) {
      const old = await session(
        Array.from({ length: 200 }, (_, at): Spoken => [at % 2 ? "reply" : "prompt", `old ${at}`]),
        { startMs: NOW - 40 * 86_400_000 },
      )
      await store.journal.append([
        { kind: "turns.kept", sessionId: old.id, atMs: nowMs, data: { seqs: await store.turns.seqs(old.id) } },
      ])
    }
    await follow()
    expect(await topics()).toEqual([])
  })

  test("what the journal had before there was a messenger is no news", async () => {
    const one = await session()
    await says(one, TURN)
    await follow(open({}, null))
    await mirror.begin()
    await follow()
    expect(await topics()).toEqual([])
    const fresh = await session()
    await says(fresh, TURN)
    await follow()
    expect(await told()).toEqual(TOLD)
  })

  test("a start tells nothing again of sessions whose topics were deleted, and nothing of those that had none", async () => {
    const gone = open({ atEnd: "delete" })
    const one = await session()
    await says(one, TURN)
    await hook(one, "Stop", { reply_hash: promptHash("**Mended.**") })
    await hook(one, "SessionEnd", { end: "other" })
    await follow(gone)
    nowMs += 7_000
    await tick(gone)
    const [topic] = await topics()
    await store.topics.change(topic!.id, { state: "gone" })
    const two = await session()
    await says(two, TURN)
    await hook(two, "Stop", { reply_hash: promptHash("**Mended.**") })
    await follow(open({}, null))
    const next = open()
    await tick(next)
    nowMs += 20_000
    await tick(next)
    expect((await topics()).map(({ id }) => id)).toEqual([topic!.id])
  })

  test("a messenger that is set up on an old journal begins with what comes next", async () => {
    await says(await session(), TURN)
    await mirror.begin()
    await follow()
    expect(await topics()).toEqual([])
  })

  test("nobody is told of programs' own sessions, of sub-agents, or of those that are switched off", async () => {
    const printed = await session()
    await hook(printed, "SessionStart", { start: "startup", env: { CLAUDE_CODE_ENTRYPOINT: "sdk-cli" } })
    await says(printed, TURN)
    const child = await session()
    await store.sessions.describe(child.id, { isSubagent: true })
    await says(child, TURN)
    await follow()
    // Also when it was said before this daemon began.
    await says(printed, TURN)
    await hook(printed, "Stop", { env: { CLAUDE_CODE_ENTRYPOINT: "sdk-cli" } })
    await follow(open())
    await says(await session(), TURN)
    for (const settings of [{ mirror: "off" }, { mirror: "teams" }] as const)
      await store.transaction(async (tx) => open(settings).consumer.after(await tx.journal.after(0, 99), tx, stopping))
    expect(await topics()).toEqual([])
  })

  test("the topic of another data directory is left alone", async () => {
    const one = await session()
    await says(one, TURN)
    await follow()
    const other = makeMirrorOf("other")
    await says(one, [["reply", "More"]])
    await store.transaction(async (tx) => other.consumer.after(await tx.journal.after(0, 99), tx, stopping))
    expect(await told()).toEqual(TOLD)
  })
  const makeMirrorOf = (home: string) =>
    makeMirror({
      store,
      clock: { nowMs: () => nowMs },
      roster: { at: () => [], onChange: () => () => {} },
      settings: { mirror: "all", verbosity: "normal", atEnd: "archive", approvals: true },
      ...{ channel: "telegram", consoles: [], redact: (text: string) => text, onTrouble: () => {} },
      place: async () => ({
        channel: "telegram",
        chatId: CHAT,
        home,
        host: "box",
        maxNameUnits: 128,
        sharedThreadId: null,
      }),
      hasPlace: async () => true,
    })
})

test("a session whose chat is another one now is told there: what was still to be sent moves along, what was left stays known", async () => {
  const one = await session()
  await says(one, [["reply", "Before"]])
  await follow()
  const [topic] = await store.topics.ofSession(one.id)
  await store.topics.change(topic!.id, { threadId: 5, state: "open" })
  mirror = open({}, "-200")
  await says(one, [["reply", "After"]])
  await follow()
  expect(await told()).toEqual(["Before", "After"].map((text) => expect.stringContaining(text)))
  const topics = await store.topics.ofSession(one.id)
  expect(topics.find(({ id }) => id === topic!.id)).toMatchObject({ chatId: "-200", threadId: null, state: "wanted" })
  expect(await store.topics.byThread("telegram", CHAT, 5)).toMatchObject({ sessionId: one.id, state: "left" })
  const waiting = await store.deliveries.ofChannel("telegram", ["queued"])
  expect(new Set(waiting.map(({ lane }) => lane))).toEqual(new Set([`topic:${topic!.id}`]))
  mirror = open()
  await says(one, [["reply", "Back"]])
  await follow()
  expect(await store.topics.byId(topic!.id)).toMatchObject({ chatId: CHAT, threadId: 5, state: "open" })
})

describe("no echo", () => {
  const sent = async (of: Session, text: string, origin: string | null, key: string) => {
    const payload = {
      ...{ sessionId: of.id, text, priority: "normal", sender: { kind: "owner", name: "Ann" } },
      ...(origin && { origin: { channel: origin, chatId: CHAT, messageId: 7 } }),
    }
    await store.deliveries.enqueue(
      { key, lane: `session:${of.id}`, channel: "agent", payload, repeatable: false },
      nowMs,
    )
    const [taken] = await store.deliveries.lease(
      { owner: "o", host: "x", leaseMs: 1000, limit: 1, channels: ["agent"] },
      nowMs,
    )
    await store.deliveries.startAttempt(taken!.seq, "o", nowMs, { sessionId: of.id, route: "pane" })
    await store.deliveries.settle(taken!.seq, "o", "delivered", null, nowMs)
  }

  test("what came from the messenger is not told there; the same words typed at the desk later are", async () => {
    const one = await session()
    await sent(one, "Go on with hunter2  ", "telegram", "k1")
    await says(one, [["prompt", "Go on with [redacted]"]], nowMs + 800)
    await follow()
    expect(await told()).toEqual([])
    nowMs += 20 * 60_000
    await says(one, [["prompt", "Go on with [redacted]"]])
    await sent(one, "By the desk's own queue", null, "k2")
    await says(one, [["prompt", "By the desk's own queue"]])
    await follow()
    expect(await told()).toEqual(["🧑‍💻 Go on with [redacted]", "🧑‍💻 By the desk's own queue"])
  })

  test("however many messages wait behind it", async () => {
    const one = await session()
    await sent(one, "The first of many", "telegram", "k0")
    for (let n = 0; n < 60; n++) {
      const payload = {
        sessionId: one.id,
        text: `behind ${n}`,
        priority: "normal",
        sender: { kind: "owner", name: "A" },
      }
      const row = { key: `b${n}`, lane: `session:${one.id}`, channel: "agent", payload, repeatable: false }
      await store.deliveries.enqueue(row, nowMs)
    }
    await says(one, [["prompt", "The first of many"]], nowMs + 800)
    await follow()
    expect(await told()).toEqual([])
  })
})

describe("how much is told", () => {
  const all: Spoken[] = [
    ...TURN.slice(0, 2),
    ["reasoning", "Hmm."],
    ["tool_result", "12 tests\nfine", { toolCallId: "c1" }],
    ["reply", "Mended."],
    ["reset", ""],
    ["summary", "All of it"],
  ]
  const run = async (verbosity: MirrorSettings["verbosity"]) => {
    mirror = open({ verbosity })
    const one = await session()
    const child = await session()
    await store.sessions.describe(child.id, { isSubagent: true })
    await store.sessions.addEdge(child.id, {
      kind: "subagent",
      parentPlatform: one.platform,
      parentNativeId: one.nativeId,
      atMs: NOW,
    })
    await says(one, all)
    await says(child, [
      ["tool_call", '{"pattern":"x"}', { toolName: "Grep" }],
      ["reply", "Found it"],
    ])
    await hook(one, "Stop", { reply_hash: promptHash("Mended.") })
    await hook(one, "Notification", { notification_type: "elicitation_dialog" })
    await hook(one, "Notification", { notification_type: "idle_prompt" })
    await follow()
    nowMs += 4_000
    await tick()
    return told()
  }
  const pings = ["🔔 ✅ done in 0 s · 1 tool", "🔔 ✋ It needs your answer\nA tool asks for something at the desk."]

  test("quiet: only what needs a person", async () => expect(await run("quiet")).toEqual(pings))
  test("normal: also prompts, replies, a line for each tool, compaction", async () => {
    const said = ["🧑‍💻 Mend it", "💻 Bash: npm test", "Mended.", "🗜 The conversation was compacted"]
    expect(await run("normal")).toEqual([...said, ...pings])
  })
  test("verbose: also what tools answered, reasoning, and sub-agents' tools", async () => {
    expect(await run("verbose")).toEqual([
      ...[
        "🧑‍💻 Mend it",
        "💻 Bash: npm test",
        "💭 Hmm.",
        "   ↳ 12 tests",
        "Mended.",
        "🗜 The conversation was compacted",
      ],
      "⤷ 🔎 Grep: x",
      ...pings,
    ])
  })
})

describe("what happens to a session", () => {
  test("a turn that broke off pings and says why", async () => {
    const one = await session()
    await says(one, TURN.slice(0, 1))
    await hook(one, "StopFailure", { error: "rate_limit" })
    await follow()
    nowMs += 2_000
    await tick()
    expect((await told()).at(-1)).toMatch(/^🔔 🪫 Usage limit reached/)
  })

  test("its end archives the topic, behind the last words; one that comes back at once keeps it", async () => {
    const one = await session()
    await says(one, TURN.slice(0, 3))
    await hook(one, "SessionEnd", { end: "prompt_input_exit" })
    await follow()
    await says(one, TURN.slice(3))
    await follow()
    nowMs += 6_100
    await tick()
    expect(await told()).toEqual([...TOLD, "⏹ The session ended. The agent was closed.", '{"isArchived":true}'])
    const two = await session()
    await says(two, [["reply", "Here"]])
    await hook(two, "SessionEnd", { end: "other" })
    await follow()
    await hook(two, "SessionStart", { start: "resume" }, nowMs + 100)
    await follow()
    nowMs += 10_000
    await tick()
    expect((await told()).at(-1)).toBe("Here")
  })

  test("a process that is gone ends it too; settings say whether topics are kept or deleted", async () => {
    for (const [atEnd, change] of [
      ["keep", undefined],
      ["delete", '{"isRemoved":true}'],
    ] as const) {
      const ours = open({ atEnd })
      const one = await session()
      await says(one, [["reply", `Here, ${atEnd}`]])
      await store.journal.append([{ kind: "session.gone", sessionId: one.id, atMs: nowMs, data: {} }])
      await follow(ours)
      nowMs += 6_100
      await tick(ours)
      const said = [`Here, ${atEnd}`, "⏹ The session ended. Its process is gone.", ...(change ? [change] : [])]
      expect((await told()).slice(-said.length)).toEqual(said)
    }
  })

  test("one that goes on after /clear has its own topic, with a way back", async () => {
    const old = await session([], { title: "Old work" })
    await says(old, [["reply", "Old"]])
    await follow()
    const [before] = await topics()
    await store.topics.change(before!.id, { threadId: 42, state: "open" })
    nowMs += 1_000
    const next = await session([], { title: "New work" })
    const edge = { kind: "clear", parentPlatform: old.platform, parentNativeId: old.nativeId, atMs: nowMs } as const
    await store.sessions.addEdge(next.id, edge)
    await store.journal.append([
      { kind: "session.edge", sessionId: next.id, atMs: nowMs, data: { edge: "clear", parent: old.nativeId } },
    ])
    await says(next, [["prompt", "New"]])
    await follow()
    expect(await told()).toEqual(["Old", "🔗 After /clear of box • app • Old work", "🧑‍💻 New"])
    const note = await store.deliveries.ofLanes([`topic:${(await topics())[1]!.id}`], { first: 1 })
    expect(JSON.stringify(note[0]!.payload)).toContain("https://t.me/c/1234567890/42")
  })

  test("a restart of a team is told with its cause, its task and what waits; a death without a replacement pings", async () => {
    const one = await session()
    await says(one, [["reply", "Here"]])
    const task = { current_task: "Mend hunter2", current_task_id: null, last_completed_step: null }
    const restart = async (next: string | null, key: string) => {
      const names = { old: "11111111-aaaa", new: next, cause: "killed" }
      await store.updates.add([
        {
          team: "api",
          key,
          type: "session_restart",
          messageId: null,
          sessionId: one.id,
          turnSeq: null,
          data: { ...names, task, pending: ["m-1", "m-2"] },
          atMs: nowMs,
        },
      ])
      await store.journal.append([
        { kind: "team.restarted", sessionId: one.id, atMs: nowMs, data: { team: "api", ...names } },
      ])
    }
    await restart("22222222-bbbb", "a")
    await restart(null, "b")
    await follow()
    expect((await told()).slice(1)).toEqual([
      "🔄 api was restarted\n11111111 → 22222222 (killed)\nLast task: Mend [redacted]\n2 messages wait",
      "🔔 ❌ api is gone\n11111111 → nobody (killed)\nLast task: Mend [redacted]\n2 messages wait",
    ])
  })

  test("the topic follows the title, calmly, and leaves a name that a person gave", async () => {
    const one = await session()
    await says(one, [["reply", "Here"]])
    await follow()
    const [topic] = await topics()
    expect(topic!.name).toBe("box • app")
    await store.topics.change(topic!.id, { threadId: 5, state: "open" })
    const retitled = async (title: string) => {
      await store.sessions.update(one.id, { title })
      await says(one, [["reply", title]])
      await follow()
    }
    await retitled("First")
    await retitled("Second")
    expect((await told()).filter((text) => text.startsWith("{"))).toEqual(['{"name":"box • app • First"}'])
    await store.topics.change(topic!.id, { name: "box • app • First" })
    nowMs += 4 * 60_000
    await retitled("Third")
    expect((await told()).filter((text) => text.startsWith("{")).at(-1)).toBe('{"name":"box • app • Third"}')
    await store.topics.change(topic!.id, { name: "My own" })
    nowMs += 4 * 60_000
    await retitled("Fourth")
    expect((await told()).filter((text) => text.startsWith("{"))).toHaveLength(2)
  })
})

describe("permissions", () => {
  const ask = async (of: SessionId | null, id: string) => {
    const permission: Permission = {
      ...{ id, home: "h", asker: "app", team: null, sessionId: of, tool: "Bash", title: "", input: { command: "ls" } },
      ...{ suggestions: [], state: "waiting", always: null, reason: null, answeredBy: null },
      ...{ via: "process", questions: [], answers: {}, takenAtMs: null },
      ...{ askedAtMs: nowMs, answeredAtMs: null, expiresAtMs: nowMs + 60_000 },
    }
    await store.permissions.ask(permission)
    await store.journal.append([{ kind: "permission.asked", sessionId: of, atMs: nowMs, data: { id } }])
  }
  test("are approval requests before everything else, and say later what became of them", async () => {
    const one = await session()
    await says(one, TURN)
    await ask(one.id, "q-1")
    await hook(one, "Notification", { notification_type: "permission_prompt" })
    await follow()
    const [topic] = await topics()
    const [approval] = await store.deliveries.ofLanes([`topic:${topic!.id}!first`])
    expect(approval!.payload).toMatchObject({ kind: "approval", permissionId: "q-1" })
    expect((await told()).filter((text) => text.includes("✋"))).toEqual([])
    await store.permissions.decide("q-1", { state: "allowed", by: "Ann", atMs: nowMs })
    await store.journal.append([{ kind: "permission.decided", sessionId: one.id, atMs: nowMs, data: { id: "q-1" } }])
    await follow()
    expect((await store.deliveries.ofLanes([`topic:${topic!.id}!first`])).map(({ payload }) => payload.kind)).toEqual([
      "approval",
      "decided",
    ])
  })
  test("say it in private, too, to whoever got a copy there", async () => {
    const one = await session()
    await says(one, TURN)
    await ask(one.id, "q-1")
    await follow()
    const [topic] = await topics()
    for (const chatId of ["7", "8"])
      await store.people.put({ channel: topic!.channel, userId: chatId, name: "Ann", chatId, pairedAtMs: nowMs })
    const payload: Outgoing = { kind: "approval", chatId: "7", threadId: null, permissionId: "q-1" }
    const copy = { key: approvalCopyKey("q-1", "7"), lane: chatLane("7"), channel: topic!.channel, repeatable: false }
    await store.deliveries.enqueue({ ...copy, payload: { ...payload } }, nowMs)
    await store.permissions.decide("q-1", { state: "allowed", by: "Ann", atMs: nowMs })
    await store.journal.append([{ kind: "permission.decided", sessionId: one.id, atMs: nowMs, data: { id: "q-1" } }])
    await follow()
    const inPrivate = await store.deliveries.ofLanes([chatLane("7"), chatLane("8")])
    expect(inPrivate.map((delivery) => delivery.payload)).toEqual([payload, { ...payload, kind: "decided" }])
  })
  test("that somebody is needed is told also while the request for it is stuck, or was refused", async () => {
    const one = await session()
    await says(one, TURN)
    await ask(one.id, "q-1")
    await follow()
    const needs = async () => (await told()).filter((text) => text.includes("✋")).length
    nowMs += 60_000
    await hook(one, "Notification", { notification_type: "permission_prompt" })
    await follow()
    expect(await needs()).toBe(1)
    const approval = (await store.deliveries.byKey("tg:card:q-1"))!
    await store.deliveries.move(approval.seq, ["queued"], "failed", "refused", nowMs)
    await hook(one, "Notification", { notification_type: "permission_prompt" })
    await follow()
    expect(await needs()).toBe(2)
    await store.deliveries.move(approval.seq, ["failed"], "done", null, nowMs)
    await hook(one, "Notification", { notification_type: "permission_prompt" })
    await follow()
    expect(await needs()).toBe(2)
  })
  test("are not shown where they are switched off; that somebody must come to the desk is", async () => {
    mirror = open({ approvals: false })
    const one = await session()
    await ask(one.id, "q-2")
    await hook(one, "Notification", { notification_type: "permission_prompt" })
    await follow()
    expect(await told()).toEqual(["🔔 ✋ It waits for a permission\nIt can be given at the desk."])
    await ask(null, "q-3")
    await ask(newSessionId(), "q-4").catch(() => {})
    await follow()
    expect(await topics()).toHaveLength(1)
  })
})
