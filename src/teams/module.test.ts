import { existsSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type DrivenHome, fakeHome } from "../../test/fixtures/driven.ts"
import { createClaudeCodeDriver } from "../agents/claude-code/driver.ts"
import { processStart } from "../daemon/process/process-identity.ts"
import type { Caller } from "../domain/caller.ts"
import { makeClients } from "../domain/caller.ts"
import type { DriveOptions, Driver, PermissionRequest } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import { CONTROLS, PAIR_CHANNEL } from "../domain/pair.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeTeams, type PermitContext, type TeamsDeps, type TeamsModule } from "./module.ts"
import type { Whereabouts } from "./pairs.ts"
import { makeRoster } from "./roster.ts"

const OWNER: Caller = { surface: "cli" }
const NAMES = { team: "team", text: "question" }

let agent: DrivenHome
let store: Store
let teams: TeamsModule
let troubles: unknown[]
let stop: () => Promise<void>
beforeEach(async () => {
  agent = fakeHome("2.1.325")
  store = await openStore(sqlite({ path: join(agent.dir, "t.db") }))
  troubles = []
})
afterEach(async () => {
  await stop()
  await store.close()
  await agent.close()
})

/** The module with a real store and a real driver of the fake agent. */
function begin(more: Partial<TeamsDeps> = {}): void {
  const project = realpathSync(join(agent.dir, "work"))
  const setting = { description: "", platform: "claude-code", permissionMode: "default", whenAway: "keep" as const }
  const web = { ...setting, project, program: agent.program, skipPermissions: false, taskStateFile: false }
  teams = makeTeams({
    store,
    clock: { nowMs: () => Date.now() },
    roster: makeRoster({ read: () => ({ web }) }),
    clients: makeClients({ platforms: [], others: [], redact: (text) => text }),
    file: {
      read: () => ({ web }),
      check: () => web,
      setting: () => undefined,
      checkSetting: () => undefined,
      change() {},
      parse: () => ({}),
    },
    drivers: [createClaudeCodeDriver()],
    machine: agent.machine,
    settings: {
      maxProcesses: 4,
      idleTimeout: 60_000,
      healthCheckInterval: 60_000,
      prestart: 0,
      maxMessageBytes: 100_000,
    },
    host: "here",
    home: agent.dir,
    mcp: () => null,
    permit: async () => ({ behavior: "deny", message: "no" }),
    redact: (text) => text.replaceAll("s3cret", "***"),
    briefOf: async () => undefined,
    whereIs: async () => undefined,
    sendTo: () => Promise.reject(new Error("nobody has it open")),
    takeBack: async () => false,
    isIdle: async () => false,
    sessionsIn: async () => [],
    isInUse: async () => false,
    isOpenElsewhere: async () => false,
    readRecords: async () => true,
    processStart,
    onTrouble: (error, what) => void troubles.push([what, error]),
    ...more,
  })
  const over = new AbortController()
  const running = teams.run(over.signal)
  stop = async () => {
    over.abort()
    await running
  }
}

const ask = (text: string, timeoutMs = 60_000, more: object = {}) =>
  teams.ask(OWNER, { team: "web", text, names: NAMES, timeoutMs, ...more })

/** A driver whose starts are counted, and may be refused. */
function watched(refuse: (session: DriveOptions["session"], nth: number) => Failure | undefined) {
  const driver = createClaudeCodeDriver()
  const started: DriveOptions["session"][] = []
  const start: Driver["start"] = async (input) => {
    started.push(input.session)
    const failure = refuse(input.session, started.length)
    if (failure) throw failure
    return driver.start(input)
  }
  return { driver: { ...driver, start }, started }
}

describe("a session that begins", () => {
  test("is tried once more under another id, and then the agent's own words are told", async () => {
    let refusals = 1
    const failed = () => (refusals-- > 0 ? new Failure("agent_failed", "Session ID is already in use") : undefined)
    const { driver, started } = watched(failed)
    begin({ drivers: [driver] })
    const answer = await ask("<<SAY plum>>")
    expect(answer).toMatchObject({ status: "done", answer: "plum", isContextNew: false })
    expect(started.map(({ kind }) => kind)).toEqual(["new", "new"])
    expect(started[0]!.id).not.toBe(started[1]!.id)
    expect(answer.sessionId).toBe(started[1]!.id)
    expect(await store.pairs.sessions((await store.pairs.list())[0]!.id)).toHaveLength(1)

    refusals = 2
    const other = await ask("<<SAY fig>>", 10_000, { threadId: "other" })
    expect(other).toMatchObject({ status: "failed", reason: "Session ID is already in use" })
    expect(started).toHaveLength(4)
  })

  test("after one that is lost has a brief of it before the question, and is told of", async () => {
    const { driver } = watched(({ kind }) => (kind === "resume" ? new Failure("cannot_resume", "gone") : undefined))
    const asked: string[] = []
    const briefOf = async (nativeId: string) => {
      asked.push(nativeId)
      return "It was about harbours."
    }
    begin({ drivers: [driver], briefOf })
    const first = await ask("<<SAY one>>")
    await teams.control(OWNER, {
      operation: "sleep",
      team: "web",
      threadId: undefined,
      messageId: undefined,
      force: false,
    })
    const second = await ask("<<SAY two>>")
    expect(second).toMatchObject({ status: "done", answer: "two", isContextNew: true })
    expect(asked).toEqual([first.sessionId])
    expect(agent.heard().at(-1)).toMatch(
      /harbours\.[\s\S]*\[Message m-\w+ from the owner to web, via Throughline\]\n<<SAY two>>/,
    )
    const [pair] = await store.pairs.list()
    expect((await store.pairs.sessions(pair!.id)).map(({ why }) => why)).toEqual(["first", "lost"])
    expect((await ask("<<SAY three>>")).isContextNew).toBe(false)
    expect(
      agent
        .heard()
        .at(-1)!
        .match(/harbours/g),
    ).toHaveLength(1)
  })

  test("of a team that the platform no longer has is marked when the program starts", async () => {
    begin()
    await ask("<<SAY x>>")
    await stop()
    let where: Whereabouts = "gone"
    begin({ whereIs: async () => where })
    await expect.poll(async () => (await store.pairs.list())[0]!.status).toBe("missing")
    expect(String(troubles.at(-1))).toContain("no longer has the session")
    where = "here"
    expect((await ask("<<RECALL y>>")).answer, "it was there after all").toBe("heard: x y")
    expect((await store.pairs.list())[0]!.status).toBe("active")
    await stop()
    where = "elsewhere"
    begin({ whereIs: async () => where })
    await expect.poll(async () => (await store.pairs.list())[0]!.status).toBe("missing")
    expect(String(troubles.at(-1))).toContain("in another folder")
    expect(await ask("<<RECALL z>>")).toMatchObject({ answer: "heard: z", isContextNew: true })
    expect((await store.pairs.list())[0]!.status).toBe("active")
  })
})

describe("a person has the session open", () => {
  const opened = async () => {
    let isOpen = false
    begin({ isOpenElsewhere: async () => isOpen })
    const first = await ask("<<SAY x>>")
    await teams.control(OWNER, {
      operation: "sleep",
      team: "web",
      threadId: undefined,
      messageId: undefined,
      force: false,
    })
    isOpen = true
    return { first, close: () => (isOpen = false) }
  }

  test("it is waited for, and not resumed a second time", async () => {
    const { first, close } = await opened()
    const waits = await ask("<<RECALL y>>", 300)
    expect(waits).toMatchObject({ status: "queued", reason: "a person has this pair's session open" })
    expect((await teams.status()).processes).toEqual([])
    close()
    expect((await ask("<<RECALL z>>")).answer).toBe("heard: x y z")
    expect((await teams.message(waits.messageId)).sessionId).toBe(first.sessionId)
  })

  test("or a copy of it continues, on request", async () => {
    const { first } = await opened()
    const copy = await ask("<<RECALL y>>", 10_000, { ifOpen: "fork" })
    expect(copy).toMatchObject({ status: "done", answer: "heard: x y", isContextNew: false })
    expect(copy.sessionId).not.toBe(first.sessionId)
  })
})

describe("an agent that wants to act", () => {
  test("asks with the tool, all of its input and whose question it is at, and does what it is told", async () => {
    const asked: [PermissionRequest, PermitContext][] = []
    begin({
      permit: async (request, context) => {
        asked.push([request, context])
        return asked.length === 1 ? { behavior: "allow" } : { behavior: "deny", message: "not that" }
      },
    })
    const first = await ask("<<RUN echo harbour>>")
    expect(first.answer).toBe("ran: harbour")
    expect(asked[0]![0]).toMatchObject({ tool: "Bash", input: { command: "echo harbour" } })
    expect(asked[0]![1]).toMatchObject({ team: "web", messageId: first.messageId, nativeId: first.sessionId })
    expect((await ask("<<RUN touch pwned>>")).answer).toBe("ran: not that")
    expect(existsSync(join(agent.dir, "work", "pwned"))).toBe(false)
  })

  test("waits as long as it takes, and is let go when the question is cancelled", async () => {
    const seen: string[] = []
    begin({
      permit: (_, __, signal) =>
        new Promise(() => {
          seen.push("asked")
          signal.addEventListener("abort", () => void seen.push("let go"))
        }),
    })
    const { messageId } = await ask("<<RUN echo x>>", 0)
    await expect.poll(() => seen, { timeout: 60_000 }).toEqual(["asked"])
    expect((await teams.message(messageId)).reason, "no word of the process").toBe("the agent is working on it")
    const startMs = Date.now()
    await teams.control(OWNER, { operation: "cancel", team: undefined, threadId: undefined, messageId, force: false })
    expect(Date.now() - startMs).toBeLessThan(20_000)
    expect((await teams.message(messageId)).status).toBe("cancelled")
    expect(seen).toEqual(["asked", "let go"])
    expect((await ask("<<SAY next>>")).answer).toBe("next")
  })
})

describe("whoever belongs to no team", () => {
  const AGENT: Caller = { surface: "mcp" }
  const CLIENT: Caller = { surface: "http", isRemote: true, client: { name: "script", version: "1" } }
  const onThread = { team: "web", threadId: undefined, messageId: undefined, force: true }

  test.each([
    ["an agent", AGENT],
    ["a client with the token", CLIENT],
  ])("does nothing to the owner's conversation: %s", async (_, caller) => {
    begin()
    const { sessionId, messageId } = await ask("<<SAY plum>>", 60_000)
    for (const operation of CONTROLS) {
      const refused = teams.control(caller, { operation, ...onThread })
      await expect(refused, operation).rejects.toMatchObject({ code: "person_needed" })
      const byMessage = teams.control(caller, { operation, ...onThread, team: undefined, messageId })
      await expect(byMessage, operation).rejects.toMatchObject({ code: "person_needed" })
    }
    const again = await ask("<<RECALL x>>", 60_000)
    expect(again.sessionId).toBe(sessionId)
    expect(again.answer).toContain("plum")
  })

  test("takes back a question that the owner did not ask", async () => {
    begin({ permit: () => new Promise(() => {}) })
    const { messageId } = await teams.ask(CLIENT, { team: "web", text: "<<RUN echo x>>", names: NAMES, timeoutMs: 0 })
    await teams.control(AGENT, { operation: "cancel", ...onThread, team: undefined, messageId })
    expect((await teams.message(messageId)).status).toBe("cancelled")
  })
})

test("a notice is not read by a session that another team asks in", async () => {
  begin()
  const { sessionId } = await ask("<<SAY x>>")
  await teams.notify(OWNER, { team: "web", text: "for its own session", ttlMs: 60_000 })
  expect(await teams.startNotices("web", sessionId!)).toEqual([])
  expect(await teams.startNotices("web", "another")).toHaveLength(1)
  expect(await teams.pull("web")).toEqual([])
})

test("waiting callers are answered at shutdown", async () => {
  begin()
  const waiting = ask("<<HOLD x>>", 60_000)
  await expect.poll(async () => (await teams.status()).pairs[0]?.running, { timeout: 60_000 }).toBe(1)
  teams.endWaiting()
  expect((await waiting).status).toMatch(/delivered|running/)
})

describe("what is kept", () => {
  test("secrets are taken out of an answer", async () => {
    begin()
    expect((await ask("<<SAY the s3cret>>")).answer).toBe("the ***")
  })

  test("an answer survives a full disk", async () => {
    let isFull = false
    const full: Store = new Proxy(store, {
      get(target, key) {
        if (key !== "transaction") return Reflect.get(target, key) as unknown
        return (work: never, options: never) => {
          if (isFull) throw new Failure("store_full", "the disk is full")
          return target.transaction(work, options)
        }
      },
    })
    begin({ store: full })
    await ask("<<SAY x>>")
    const asked = ask("<<SLOW 400>>")
    await expect
      .poll(async () => (await store.deliveries.counts(PAIR_CHANNEL)).some(({ state }) => state === "delivered"))
      .toBe(true)
    isFull = true
    await expect(ask("y")).rejects.toMatchObject({ code: "store_full" })
    await sleep(800)
    isFull = false
    expect(await asked).toMatchObject({ status: "done", answer: "400" })
    expect(agent.heard().filter((heard) => heard.includes("400"))).toHaveLength(1)
  })

  test("a question that never arrived before a crash is asked after the restart", async () => {
    begin()
    await ask("<<SAY x>>")
    await stop()
    // As a dispatcher leaves it that dies between the two.
    const [pair] = await store.pairs.list()
    const payload = { pairId: pair!.id, text: "<<SAY back>>", sender: "the owner" }
    const more = { fromTeam: null, toTeam: "web", threadId: "main", chain: [], ifOpen: "wait" }
    const nowMs = Date.now()
    await store.deliveries.enqueue(
      {
        key: "m-0123456789abcdef",
        lane: `pair:${pair!.id}`,
        channel: PAIR_CHANNEL,
        payload: { ...payload, ...more },
        repeatable: false,
      },
      nowMs,
    )
    const owner = `pairs here ${agent.dir} dead`
    const lease = { owner, host: "here", leaseMs: 60_000, limit: 1, channels: [PAIR_CHANNEL] }
    const [leased] = await store.deliveries.lease(lease, nowMs)
    await store.deliveries.startAttempt(leased!.seq, owner, nowMs)
    begin()
    await expect.poll(async () => (await teams.message("m-0123456789abcdef")).status, { timeout: 60_000 }).toBe("done")
    expect((await teams.message("m-0123456789abcdef")).answer).toBe("back")
  })
})
