import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Caller } from "../../domain/caller.ts"
import type { LiveAgent } from "../../domain/live.ts"
import type { Presence } from "../../domain/presence.ts"
import { because } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import { plainTeam } from "../../domain/team.ts"
import { makeHookless } from "../../live/hookless.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeMessageLeases } from "../message-leases.ts"
import { makeMessages } from "./messages.ts"
import { makePulling } from "./pulling.ts"

const GRACE_MS = 6_000
const owner = { kind: "owner", name: "the owner" } as const
const web = { kind: "agent", name: "web" } as const
let dir: string
let store: Store
let nowMs: number
let agents: LiveAgent[]
let dispatchers: number
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "pulling-")))
  mkdirSync(join(dir, "api"))
  store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
  nowMs = 1_800_000_000_000
  agents = []
  dispatchers = 0
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

const file = () => join(dir, "api", ".claude-session")
const team = () => ({ ...plainTeam("api", join(dir, "api")), sessionFile: file() })
const clock = { nowMs: () => nowMs }
const live = { ofTeam: async () => agents }
const newLeases = () => {
  const owner = `c ${dispatchers++}`
  return makeMessageLeases({ store, clock, host: "here", ownerPrefix: "c ", owner })
}
/** As after a start of the daemon. */
const pulling = async () => {
  const leases = newLeases()
  await leases.open()
  const watch = { mayReturn: async () => false, reportTakeovers: async () => {}, readName: async () => {} }
  const hookless = makeHookless({ store, clock, live, host: "here" })
  return makePulling({ store, clock, leases, live: live as never, host: "here", watch, hookless })
}
const pull = async (idempotencyKey: string, more: Partial<Caller> = {}, of = team()) => {
  const caller: Caller = { surface: "mcp", cwd: join(dir, "api"), idempotencyKey, ...more }
  return (await pulling()).pull(of, caller)
}
const words = ({ mail }: { mail: { text: string }[] }) => mail.map(({ text }) => /^> (.*)$/m.exec(text)?.[1])
const send = async (text: string, more: { priority?: "urgent" | "stop"; sender?: typeof owner | typeof web } = {}) => {
  const one = team()
  const roster = { list: () => [one], byName: () => one, at: () => [one], onChange: () => () => {} }
  const settings = { duplicateWindowSeconds: 0, maxMessageBytes: 200_000, expireDays: 30 }
  const interrupt = async () => ({ interrupted: false as const, reason: because("agent_idle").words })
  const messages = makeMessages({ store, clock, roster, settings, interrupt })
  return ((await messages.send({ target: "api", text, sender: web, ...more })) as { id: string }).id
}
const shown = async (id: string) => {
  const { state, route, outcome } = (await store.deliveries.byKey(id))!
  return { state, route, outcome }
}
const presence = (more: Partial<Presence>): Presence => ({
  ...{ team: "api", host: "here", sessionId: null, nativeId: "A", pid: 7, processStart: "s", sinceMs: nowMs },
  ...{ goneAtMs: null, cause: null, isTold: false, isSupervised: false, ...more },
})

describe("a team whose agent has no hooks", () => {
  test("fetches what waits, each once: the most urgent first, the owner's words in their place", async () => {
    const ids = [
      await send("one"),
      await send("two", { sender: owner }),
      await send("three", { priority: "urgent" }),
      await send("four", { priority: "stop", sender: owner }),
      await send(`five\n${"x".repeat(30_000)}`),
      await send("six"),
    ]
    const fetched = await pull("k1")
    expect(words(fetched)).toEqual(["four", "three", "one", "two", "five", "six"])
    expect(fetched.hasMore).toBe(false)
    expect(fetched.mail[0]!.text).toMatch(/from the owner, via Throughline\][\s\S]*answers no request for permission/)
    expect(fetched.mail[1]!.text).toMatch(/from web, via Throughline\][\s\S]*not written by the person/)
    for (const id of ids) expect(await shown(id)).toMatchObject({ state: "delivered", route: "pull" })
    expect(words(await pull("k2"))).toEqual([])
  })

  test("gets the same again when it repeats a call that a killed daemon did not answer, and the rest with it", async () => {
    await send("one")
    await send("two", { priority: "urgent" })
    await pull("k1")
    await send("three")
    expect(words(await pull("k1"))).toEqual(["two", "one", "three"])
    expect(words(await pull("k1"))).toEqual(["two", "one", "three"])
    expect(words(await pull("k2"))).toEqual([])
  })

  test("is done with what it had when it asks for more; another session since makes that uncertain", async () => {
    const first = await send("one")
    await pull("k1")
    nowMs += 1_000
    await pull("k2")
    expect(await shown(first)).toMatchObject({ state: "done", outcome: "the agent has fetched again since" })
    const second = await send("two")
    await pull("k3")
    nowMs += 1_000
    await store.updates.add([
      {
        ...{ team: "api", key: "r", type: "session_restart", messageId: null, sessionId: null, turnSeq: null },
        ...{ data: { old: "A", new: "B", cause: "session file", task: null, pending: [] }, atMs: nowMs },
      },
    ])
    await pull("k4")
    expect(await shown(second)).toMatchObject({ state: "uncertain" })
  })

  test("gets much in parts, in order, and is told that there is more", async () => {
    for (let n = 0; n < 23; n++) await send(`m${n}`, n % 2 === 0 ? { sender: owner } : {})
    const parts = [await pull("k1"), await pull("k2"), await pull("k3")]
    expect(parts.flatMap(words)).toEqual(Array.from({ length: 23 }, (_, n) => `m${n}`))
    expect(parts.map(({ mail, hasMore }) => [mail.length, hasMore])).toEqual([
      [20, true],
      [3, false],
      [0, false],
    ])
  })

  test("gets what the dispatcher is just looking at, after a moment", async () => {
    await send("one")
    const leases = newLeases()
    const [taken] = await leases.take({}, 1)
    const fetched = pull2("k1")
    await leases.giveBack(taken!, because("team_away", "api"))
    expect(words(await fetched)).toEqual(["one"])
  })
  /** Without the end of others' leases that a start brings. */
  const pull2 = async (idempotencyKey: string) => {
    const watch = { mayReturn: async () => false, reportTakeovers: async () => {}, readName: async () => {} }
    const hookless = makeHookless({ store, clock, live, host: "here" })
    const leases = newLeases()
    return makePulling({ store, clock, leases, live: live as never, host: "here", watch, hookless }).pull(team(), {
      surface: "mcp",
      idempotencyKey,
    })
  }
})

describe("nothing is fetched without hooks", () => {
  const instance: LiveAgent = {
    session: { id: "s-1" as never, platform: "claude-code", nativeId: "seen" },
    ...{ route: undefined, status: "idle", waitingFor: null, statusAtMs: null, pid: 7, processStart: "s", dir: null },
    ...{ isUnattended: false, isShown: undefined, teams: ["api"] },
  }
  beforeEach(() => send("one"))

  test("of a team that names no session file", async () => {
    expect(words(await pull("k", {}, { ...team(), sessionFile: null as never }))).toEqual([])
  })

  test("while a session of the team is seen, by a caller that is another one, whatever the file says", async () => {
    agents = [instance]
    writeFileSync(file(), '{"id":"mine"}')
    expect(words(await pull("k", { nativeSession: { platform: "claude-code", id: "mine" } }))).toEqual([])
  })

  test("by the agent of a pair: what two teams say to each other is no place for mail", async () => {
    expect(words(await pull("k", { pair: "p-1" }))).toEqual([])
  })

  test.each([
    ["whose process was just seen", {}],
    ["that may come back", { goneAtMs: 1_800_000_000_000 - GRACE_MS + 1 }],
    ["that was seen on another machine", { host: "elsewhere" }],
  ])("in the place of a session %s", async (_, more) => {
    await store.presence.put(presence(more))
    expect(words(await pull("k"))).toEqual([])
  })

  test("once that session is gone for long, or only the file named it, it is", async () => {
    await store.presence.put(presence({ goneAtMs: nowMs - GRACE_MS }))
    expect(words(await pull("k"))).toEqual(["one"])
    await send("two")
    await store.presence.put(presence({ pid: 0, nativeId: "in the file" }))
    expect(words(await pull("k2"))).toEqual(["two"])
  })
})
