import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { type DrawnPane, type DrawnScreen, drawnPane } from "../../test/fixtures/drawn-pane.ts"
import { type FakeAgents, makeFakeAgents } from "../../test/fixtures/fake-agents.ts"
import { consoles } from "../agents/list.ts"
import { parentOf, processStart } from "../daemon/process/process-identity.ts"
import type { AgentLine, TakenState } from "../domain/agent-line.ts"
import type { Delivery } from "../domain/delivery.ts"
import { newSessionId, type SessionId } from "../domain/ids.ts"
import type { LiveAgent } from "../domain/live.ts"
import { AGENT_CHANNEL, type DeliveryRoute, laneOf } from "../domain/message.ts"
import type { Store } from "../domain/store.ts"
import { isUnder } from "../lib/process-ancestry.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { EVIDENCE } from "./evidence.ts"
import { type MessageLeases, makeMessageLeases } from "./message-leases.ts"
import { makePaster } from "./paste.ts"
import { makeRecovery } from "./recovery.ts"

const NOW = 1_800_000_000_000
const KEY = "m-00000000000000aa"
const TEXT = "fix the DNS"
const RULE = "─".repeat(40)
const claude = (draft: string): DrawnScreen => ({
  lines: [RULE, `❯ ${draft}`, RULE, "  ? for shortcuts"],
  cursor: { column: 2 + draft.length, row: 1 },
})
const DIALOG: DrawnScreen = { lines: ["Do you want to proceed?", "❯ 1. Yes"], cursor: { column: 0, row: 1 } }
const NEVER = new AbortController().signal
/** The longest that a hook may be on its way. */
const GRACE_MS = 10_000
const PATIENCE_MS = 10 * 60_000

let agents: FakeAgents
let dir: string
let store: Store
let leases: MessageLeases
let nowMs: number
let sessionId: SessionId
/** What there is to be known. */
let agent: LiveAgent | undefined
let lines: AgentLine[]
let spooled: () => boolean | Promise<boolean>
let places: string[]
/** How long a screen may take to show what was typed; only a test in which it never does waits for that. */
let settleMs: number
/** How long somebody was to wait, one after another. */
let waits: number[]
beforeAll(() => {
  agents = makeFakeAgents()
})
afterAll(() => agents.end())
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "recovery-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = NOW
  leases = makeMessageLeases({ store, clock: { nowMs: () => nowMs }, host: "here", ownerPrefix: "c ", owner: "c 1" })
  sessionId = await addSession("claude-code")
  agent = undefined
  lines = []
  spooled = () => false
  places = []
  waits = []
  settleMs = 10_000
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

async function addSession(platform: string): Promise<SessionId> {
  const created = { id: newSessionId(), platform, nativeId: "s1", projectId: null, title: "t" }
  return (await store.sessions.create({ ...created, tags: [], key: null, createdAtMs: 1 })).session.id
}
const live = (more: Partial<LiveAgent> = {}, pane: DrawnPane["pane"] | null = null): LiveAgent => {
  const pid = pane?.panePid ?? process.pid
  const start = processStart(pid)!
  return {
    ...{ session: { id: sessionId, platform: "claude-code", nativeId: "s1" }, status: "idle", waitingFor: null },
    ...{ statusAtMs: null, pid, processStart: start, dir: null, isUnattended: false, isShown: undefined, teams: [] },
    route: {
      ...{ sessionId, platform: "claude-code", nativeId: "s1", host: "here", pid, processStart: start },
      ...{ pane, seenAtMs: 1 },
    },
    ...more,
  }
}

interface Begun {
  route?: DeliveryRoute
  text?: string
  isCommand?: boolean
  to?: SessionId | null
}
/** Handed over by a dispatcher that died over it; then the time that a hook may take has passed. */
async function begun({
  route = "pane",
  text = TEXT,
  isCommand = false,
  to = sessionId,
}: Begun = {}): Promise<Delivery> {
  const payload = { team: "api", text, priority: "normal", sender: { kind: "owner", name: "o" }, isCommand }
  const lane = laneOf({ team: "api" }, "normal")
  await store.deliveries.enqueue({ key: KEY, lane, channel: AGENT_CHANNEL, payload, repeatable: false }, nowMs)
  const dead = { owner: "c 0", host: "here", leaseMs: 1, limit: 1, channels: [AGENT_CHANNEL] }
  const [leased] = await store.deliveries.lease(dead, nowMs)
  await store.deliveries.startAttempt(leased!.seq, "c 0", nowMs, { sessionId, route })
  nowMs += 1
  const [cut] = await leases.takeCutOff(1)
  return { ...cut!, sessionId: to }
}

/** Waiting takes no time but the clock's. */
const hasty = (): MessageLeases => ({
  ...leases,
  async isConfirmed(delivery, withinMs, signal) {
    waits.push(withinMs)
    const isConfirmed = await leases.isConfirmed(delivery, 20, signal)
    if (!isConfirmed) nowMs += withinMs
    return isConfirmed
  },
})
/** Nobody looks so often: then patience is at its end, so that nothing goes on for ever. */
const MOST_READINGS = 60
const leaping = () => {
  let readings = 0
  return { nowMs: () => (++readings > MOST_READINGS ? nowMs + 2 * PATIENCE_MS : nowMs) }
}
const recovery = (known = consoles) =>
  makeRecovery({
    ...{ store, clock: leaping(), leases: hasty(), lines, consoles: known },
    live: {
      ofSession: async (id) => (id === sessionId ? agent : undefined),
      ...{ ofTeam: async () => [], all: async () => [], strangers: async () => [] },
    },
    paster: makePaster({ panes: agents.panes, consoles, settleMs }),
    machine: { os: "linux", homeDir: dir, env: {} },
    hasSpooled: async () => spooled(),
    inTurn(place, act) {
      places.push(place)
      return act()
    },
    isUnder: (pid, above) => isUnder(pid, above, parentOf),
    processStart,
    isStillThere: async () => true,
  })
const heardAll = async () => store.journal.advance(EVIDENCE, await store.journal.last())

/** After the time that hooks may take, with all of them heard. */
async function settled(delivery: Delivery, signal = NEVER): Promise<[string, string | null]> {
  await heardAll()
  const made = recovery()
  nowMs += GRACE_MS
  await made.settle(delivery, signal)
  const { state, outcome } = (await store.deliveries.byKey(KEY))!
  return [state, outcome]
}
const WAITED: [string, string] = ["uncertain", "there is no evidence of delivery"]
/** Looks once, and then a person's patience is at its end: what is not decided by then was waited for. */
async function afterOneLook(delivery: Delivery): Promise<[string, string | null]> {
  const before = spooled
  spooled = () => {
    nowMs += PATIENCE_MS + 1
    return before()
  }
  return settled(delivery)
}
const FOUND: [string, string] = ["delivered", "found in the agent's own records"]

describe("nothing is decided", () => {
  test("of what was settled already, which is no longer in hand", async () => {
    const delivery = await begun()
    await store.deliveries.settle(delivery.seq, "c 1", "done", "by a hook", nowMs)
    expect(await settled(delivery)).toEqual(["done", "by a hook"])
    expect(leases.held.size).toBe(0)
  })

  test("of what is settled while the last hooks are read", async () => {
    const delivery = await begun()
    spooled = async () => {
      await store.deliveries.settle(delivery.seq, "c 1", "done", "by a hook", nowMs)
      return false
    }
    expect(await settled(delivery)).toEqual(["done", "by a hook"])
    expect(leases.held.size).toBe(0)
  })

  test.each<[DeliveryRoute, number]>([
    ["pane", 5_000],
    ["line", 1_000],
    ["turn", 5_000],
    ["wake", 10_000],
  ])("before a hook had its time, by way of %s", async (route, graceMs) => {
    const delivery = await begun({ route })
    let looks = 0
    spooled = () => ++looks < 0
    await heardAll()
    const made = recovery()
    // Counted from when this began: what the agent said before could not be heard.
    nowMs += graceMs - 1
    const ending = new AbortController()
    const settling = made.settle(delivery, ending.signal)
    await vi.waitUntil(() => waits.length > 0, { timeout: 20_000, interval: 1 })
    ending.abort()
    await settling
    expect([looks, waits[0]]).toEqual([0, 300])
    nowMs = NOW + 1 + graceMs
    waits = []
    await made.settle(delivery, NEVER)
    expect([looks, waits]).toEqual([1, []])
  })

  test("before a hook had its time since the attempt, where that began later than this", async () => {
    const made = recovery()
    nowMs += GRACE_MS
    const delivery = await begun()
    const begunMs = delivery.attemptStartedAtMs!
    await heardAll()
    let looks = 0
    spooled = () => ++looks < 0
    nowMs = begunMs + 4_999
    const ending = new AbortController()
    const settling = made.settle(delivery, ending.signal)
    await vi.waitUntil(() => waits.length > 0, { timeout: 20_000, interval: 1 })
    ending.abort()
    await settling
    expect(looks).toBe(0)
  })

  test("while hooks have left something that was not read yet", async () => {
    spooled = () => true
    agent = live({ status: "gone" })
    expect(await afterOneLook(await begun())).toEqual(WAITED)
  })

  test("while the journal was not read to its end", async () => {
    const delivery = await begun()
    agent = live({ status: "gone" })
    await heardAll()
    const made = recovery()
    nowMs += GRACE_MS
    await store.journal.append([{ kind: "hook.received", atMs: nowMs, data: {} }])
    const settling = made.settle(delivery, NEVER)
    await expect.poll(async () => (await store.deliveries.byKey(KEY))!.outcome).toBeNull()
    await heardAll()
    await settling
    expect((await store.deliveries.byKey(KEY))!.outcome).toBe("the agent ended before accepting it")
  })

  test("for ever: whoever reads the journal may be stuck", async () => {
    const delivery = await begun()
    agent = live({ status: "gone" })
    const made = recovery()
    nowMs += GRACE_MS
    await store.journal.append([{ kind: "hook.received", atMs: nowMs, data: {} }])
    const ticking = setInterval(() => {
      nowMs += PATIENCE_MS
    }, 50)
    onTestFinished(() => clearInterval(ticking))
    await made.settle(delivery, NEVER)
    expect((await store.deliveries.byKey(KEY))!.outcome).toBe("there is no evidence of delivery")
  })

  test("when the program is to end", async () => {
    expect(await settled(await begun(), AbortSignal.abort())).toEqual(["queued", null])
    expect(leases.held.size).toBe(1)
  })

  test("while the agent is at work", async () => {
    agent = live({ status: "busy" })
    expect(await afterOneLook(await begun({ route: "wake" }))).toEqual(WAITED)
  })
})

describe("it has arrived", () => {
  const rest = { model: null, toolName: null, toolCallId: null, isError: false, isFallback: false, sourceId: null }
  const said = (kind: "prompt" | "reply", text: string, atMs: number, of = sessionId) =>
    store.turns.put([{ sessionId: of, nativeId: `${kind} ${atMs}`, kind, text, atMs, usage: null, ...rest }])
  beforeEach(() => {
    agent = live({ status: "gone" })
  })

  test("where a prompt since then is its text", async () => {
    const delivery = await begun()
    await said("prompt", "something else", NOW + 1)
    await said("prompt", TEXT, NOW)
    expect(await settled(delivery)).toEqual(FOUND)
    expect(leases.held.size).toBe(0)
  })

  test("where a prompt since then has its id", async () => {
    const delivery = await begun()
    await said("prompt", `[Message ${KEY} from o]\n> ${TEXT}`, NOW)
    expect(await settled(delivery)).toEqual(FOUND)
  })

  test.each([
    ["a prompt from before", "prompt", TEXT, NOW - 1],
    ["a reply", "reply", `${KEY} ${TEXT}`, NOW + 1],
    ["a prompt of other words", "prompt", `${TEXT} and more`, NOW + 1],
  ] as const)("but not where it is %s", async (_, kind, text, atMs) => {
    const delivery = await begun()
    await said(kind, text, atMs)
    expect(await settled(delivery)).toEqual(["queued", "the agent ended before accepting it"])
  })

  test("but not where its session is not kept any more", async () => {
    const delivery = await begun()
    expect(await settled({ ...delivery, sessionId: newSessionId() })).toEqual([
      "queued",
      "the agent ended before accepting it",
    ])
  })
})

describe("an agent that is not there any more", () => {
  test("has not taken it, where it says so of what it takes: it is tried again", async () => {
    expect(await settled(await begun())).toEqual(["queued", "the agent ended before accepting it"])
    expect(await store.deliveries.byKey(KEY)).toMatchObject({ attempts: 1, leaseOwner: null })
  })

  test("may have taken it, where it does not say so", async () => {
    const session = { id: sessionId, platform: "mute", nativeId: "s1" }
    const mute = { ...consoles[0]!, platform: "mute", can: { ...consoles[0]!.can, promptHook: false } }
    const delivery = await begun()
    agent = live({ status: "gone", session })
    await heardAll()
    const made = recovery([mute])
    nowMs += GRACE_MS
    await made.settle(delivery, NEVER)
    expect(await store.deliveries.byKey(KEY)).toMatchObject({
      ...{ state: "uncertain", outcome: "the agent ended before it was delivered" },
    })
  })
})

test("the receiving session is unknown", async () => {
  expect(await settled(await begun({ to: null }))).toEqual(["uncertain", "the receiving session is unknown"])
})

test.each<DeliveryRoute>(["wake", "turn", "pull"])(
  "an idle agent that did not take it by way of %s gets it again",
  async (route) => {
    agent = live()
    expect(await settled(await begun({ route }))).toEqual(["queued", "the agent did not accept it"])
  },
)

describe("by a line of the platform", () => {
  let asked: unknown[]
  let isClosed: boolean
  const line = (stateOf: () => Promise<TakenState>): AgentLine => ({
    platform: "claude-code",
    async open(_, session) {
      asked.push(session)
      return {
        ...{ status: "idle", isLive: true, submit: async () => {}, changed: async () => {}, interrupt: async () => {} },
        stateOf(id, sinceMs) {
          asked.push([id, sinceMs])
          return stateOf()
        },
        close() {
          isClosed = true
        },
      }
    },
  })
  beforeEach(() => {
    agent = live({ status: "busy" })
    asked = []
    isClosed = false
  })

  test("the platform says that it has it", async () => {
    lines.push({ platform: "other", open: () => Promise.reject(new Error("not this one")) })
    lines.push(line(async () => ({ kind: "completed" })))
    expect(await settled(await begun({ route: "line" }))).toEqual(FOUND)
    expect(asked).toEqual([{ nativeId: "s1" }, [KEY, NOW]])
    expect(isClosed).toBe(true)
  })

  test("the platform says that it does not have it: it is tried again", async () => {
    lines.push(line(async () => ({ kind: "none" })))
    expect(await settled(await begun({ route: "line" }))).toEqual(["queued", "the agent does not have it"])
  })

  test("the line is closed where the platform fails", async () => {
    lines.push(line(() => Promise.reject(new Error("no answer"))))
    await expect(settled(await begun({ route: "line" }))).rejects.toThrow("no answer")
    expect(isClosed).toBe(true)
  })

  test("nobody can be asked now, and it is waited for", async () => {
    lines.push({ platform: "claude-code", open: async () => undefined })
    expect(await afterOneLook(await begun({ route: "line" }))).toEqual(WAITED)
  })

  test("no platform has such a line, and it is waited for", async () => {
    expect(await afterOneLook(await begun({ route: "line" }))).toEqual(WAITED)
  })

  test("an agent that is gone has not taken it", async () => {
    agent = undefined
    expect(await settled(await begun({ route: "line" }))).toEqual(["queued", "the agent ended before accepting it"])
  })
})

describe("in a pane", () => {
  let count = 0
  async function pane(screen: DrawnScreen, more: Partial<LiveAgent> = {}): Promise<DrawnPane> {
    const one = await drawnPane(agents, `r${++count}`)
    await one.draw(screen)
    agent = live(more, one.pane)
    return one
  }

  test("what stands in the input line gets its Enter once, and its hook settles it", async () => {
    const delivery = await begun()
    const one = await pane(claude(TEXT))
    onTestFinished(
      one.follow((got) => {
        // As the prompt hook does.
        if (got !== "") void store.deliveries.settle(delivery.seq, "c 1", "delivered", "by its hook", nowMs)
        return claude(got === "" ? TEXT : "")
      }),
    )
    expect(await settled(delivery)).toEqual(["delivered", "by its hook"])
    expect(await one.all()).toBe("\r")
    expect(places).toEqual([`${one.pane.socket}\0${one.pane.pane}`])
    expect(leases.held.size).toBe(0)
  })

  test.each([
    ["is taken, and no hook tells of it", ""],
    ["is not taken at once", TEXT],
  ])("what stands in the input line is never typed again once Enter was pressed: it %s", async (_, shown) => {
    const delivery = await begun()
    const one = await pane(claude(TEXT), { statusAtMs: null })
    let looks = 0
    if (shown !== "") settleMs = 300
    const stop = one.follow((got) => claude(got === "" ? TEXT : shown))
    onTestFinished(stop)
    let enteredMs = 0
    spooled = async () => {
      looks++
      if (looks === 1) enteredMs = nowMs
      if (looks === 2) {
        await stop()
        await one.draw(claude(""))
      }
      // From when Enter was pressed, not from when the message was begun.
      if (looks > 2) nowMs = enteredMs + (looks === 3 ? 29_999 : 30_000)
      return false
    }
    expect(await settled(delivery)).toEqual(["uncertain", "it was submitted but the agent never acknowledged it"])
    expect(looks).toBe(4)
    expect(await one.all()).toBe("\r")
    expect(waits[0]).toBe(shown === "" ? 5_000 : 300)
  })

  test("a command that stands there gets its Enter, and no hook is waited for", async () => {
    const one = await pane(claude("/compact"))
    onTestFinished(one.follow((got) => claude(got === "" ? "/compact" : "")))
    expect(await settled(await begun({ text: "/compact", isCommand: true }))).toEqual(FOUND)
    expect(await one.all()).toBe("\r")
  })

  test("an empty input line of an agent that did nothing since has not got it: it is tried again", async () => {
    const one = await pane(claude(""), { statusAtMs: NOW })
    expect(await settled(await begun())).toEqual(["queued", "it never reached the input line"])
    expect(await one.all()).toBe("")
  })

  test("so has one of which nothing was heard", async () => {
    const one = await pane(claude(""), { statusAtMs: null })
    expect(await settled(await begun())).toEqual(["queued", "it never reached the input line"])
    expect(await one.all()).toBe("")
  })

  test("an agent that did something since, and said nothing of it, is waited for, and then it is not known", async () => {
    const delivery = await begun()
    const one = await pane(claude(""), { statusAtMs: NOW + 1 })
    let looks = 0
    spooled = () => {
      if (++looks === 2) nowMs = NOW + 30_000
      return false
    }
    expect(await settled(delivery)).toEqual([
      "uncertain",
      "the agent has been active since but never acknowledged this message",
    ])
    expect(looks).toBe(2)
    expect(await one.all()).toBe("")
  })

  test("an empty input line tells nothing of a command, which is never typed twice", async () => {
    const one = await pane(claude(""))
    expect(await settled(await begun({ text: "/compact", isCommand: true }))).toEqual([
      ...["uncertain", "the agent does not acknowledge commands"],
    ])
    expect(await one.all()).toBe("")
  })

  test("a text that cannot be typed is not known to have arrived", async () => {
    await pane(claude(""))
    expect(await settled(await begun({ isCommand: true }))).toEqual([
      ...["uncertain", "a command is one line that starts with /"],
    ])
  })

  test.each([
    ["a dialog", DIALOG, {}],
    ["somebody's draft", claude("half a thought"), {}],
    ["a pane that another process is in now", claude(TEXT), { processStart: "another" }],
  ])("%s is waited for, and no key is pressed", async (_, screen, more) => {
    const one = await pane(screen, more)
    expect(await afterOneLook(await begun())).toEqual(WAITED)
    expect(await one.all()).toBe("")
  })

  test("a terminal that is not known any more tells nothing", async () => {
    agent = live({ route: undefined })
    expect(await settled(await begun())).toEqual(["uncertain", "the agent's terminal is no longer known"])
  })
})
