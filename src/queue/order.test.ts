import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import fc from "fast-check"
import { expect, test } from "vitest"
import { claudeCode } from "../agents/claude-code/console.ts"
import { parentOf, processStart } from "../daemon/process/process-identity.ts"
import type { AgentLine } from "../domain/agent-line.ts"
import { makeClients } from "../domain/caller.ts"
import { newSessionId } from "../domain/ids.ts"
import type { LiveStatus } from "../domain/live.ts"
import { PRIORITIES, type Priority } from "../domain/message.ts"
import type { Panes } from "../domain/panes.ts"
import type { Store } from "../domain/store.ts"
import { makeLive } from "../live/live.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeRoster } from "../teams/roster.ts"
import { makeMessageQueue } from "./module.ts"

const PLATFORM = "line-agent"
const SENDERS = [
  { kind: "owner", name: "the owner" },
  { kind: "agent", name: "web" },
] as const
const WITHIN_MS = 30_000

interface Sent {
  text: string
  priority: Priority
}

type Crash = "before" | "after" | undefined

/** An agent that is reached by a line of its own: takes messages as Codex does, and can take the daemon down over one. */
class LineAgent {
  status: LiveStatus = "idle"
  readonly taken: string[] = []
  /** What happens to the daemon at the next submits. */
  crashes: Crash[] = []
  isDaemonDead = false
  readonly #ids = new Map<string, string>()

  line(): AgentLine {
    const agent = this
    const check = () => {
      if (agent.isDaemonDead) throw new Error("the daemon is dead")
    }
    return {
      platform: PLATFORM,
      async open() {
        check()
        return {
          get status() {
            return agent.status
          },
          isLive: true,
          async submit({ id, text }) {
            check()
            const crash = agent.crashes.shift()
            if (crash !== "before") {
              if (agent.status === "waiting") throw new Error(`${text} was submitted to a dialog`)
              agent.taken.push(/\d+-(?:stop|urgent|normal)/.exec(text)?.[0] ?? text)
              agent.#ids.set(id, text)
              agent.status = "busy"
            }
            agent.isDaemonDead = crash !== undefined
            check()
          },
          stateOf: async (id) => ({ kind: agent.#ids.has(id) ? "completed" : "none" }),
          changed: (withinMs, signal) => sleep(Math.min(withinMs, 5), undefined, { signal }).catch(() => {}),
          interrupt: async () => {},
          close() {},
        }
      },
    }
  }
}

/** What runs in the daemon: reach, and the consumer that hears evidence. Started again after each crash. */
function startReach(store: Store, dir: string, agent: LineAgent, clock: { nowMs(): number }) {
  const roster = makeRoster({ read: () => ({ api: { project: dir, platform: PLATFORM } }) as never })
  const machine = { os: "linux" as const, homeDir: dir, env: {} }
  const deps = { store, clock, roster, machine, consoles: [claudeCode], processStart, host: "here" }
  const reach = makeMessageQueue({
    ...deps,
    clients: makeClients({ platforms: [], others: [], redact: (text) => text }),
    live: makeLive(deps),
    panes: {} as Panes,
    lines: [agent.line()],
    settings: { duplicateWindowSeconds: 0, maxMessageBytes: 200_000, expireDays: 30 },
    home: dir,
    parentOf,
    // Nobody comes or goes in these stories.
    watch: { mayReturn: async () => false, reportTakeovers: async () => {}, readName: async () => {} },
    hookless: { fetches: async () => false, named: async () => undefined },
    wake: async () => false,
    redact: (text) => text,
    labelOf: (platform) => ({ "gemini-cli": "Gemini CLI" })[platform] ?? platform,
    hasSpooled: async () => false,
    onTrouble: (error) => {
      if (!agent.isDaemonDead) throw error
    },
  })
  const ending = new AbortController()
  const hear = async () => {
    for (; !ending.signal.aborted; await sleep(5))
      for (const consumer of reach.consumers) {
        const entries = await store.journal.after(await store.journal.position(consumer.name), 100)
        if (entries.length === 0) continue
        await store.transaction(async (tx) => {
          await consumer.after(entries, tx, ending.signal)
          await tx.journal.advance(consumer.name, entries.at(-1)!.seq)
        })
      }
  }
  const running = [reach.run(ending.signal), hear()]
  return {
    messages: reach.messages,
    async end() {
      ending.abort()
      await Promise.all(running)
    },
  }
}

const message = fc.record({
  priority: fc.constantFrom(...PRIORITIES),
  sender: fc.constantFrom(...SENDERS),
  isToTeam: fc.boolean(),
})
const round = fc.record({
  burst: fc.array(message, { minLength: 1, maxLength: 5 }),
  /** What the agent is once its dialog is answered. */
  answered: fc.constantFrom("idle" as const, "busy" as const),
  crashes: fc.array(fc.option(fc.constantFrom("before" as const, "after" as const), { nil: undefined }), {
    maxLength: 2,
  }),
  /** So many turns end before the next dialog comes up. */
  finishes: fc.integer({ min: 0, max: 4 }),
})

test("waiting messages arrive once each: stop, then urgent, then normal, oldest first, whatever crashes in between", async () => {
  const property = fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 3 }), async (rounds) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), "order-")))
    const store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
    const agent = new LineAgent()
    let aheadMs = 0
    const clock = { nowMs: () => Date.now() + aheadMs }
    const created = { id: newSessionId(), platform: PLATFORM, nativeId: "s1", projectId: null, title: "t" }
    const { session } = await store.sessions.create({ ...created, tags: [], key: null, createdAtMs: 1 })
    await store.sessions.describe(session.id, { projectPath: dir })
    const at = { host: "here", pid: process.pid, processStart: processStart(process.pid)!, pane: null, seenAtMs: 1 }
    await store.routes.put({ sessionId: session.id, ...at })
    let daemon = startReach(store, dir, agent, clock)
    const restartIfDead = async () => {
      if (!agent.isDaemonDead) return
      await daemon.end()
      agent.isDaemonDead = false
      daemon = startReach(store, dir, agent, clock)
      // A hook may be on its way for a while after a crash; none is.
      aheadMs += 20_000
    }

    const pending: Sent[] = []
    const expected: string[] = []
    const next = () => {
      const ranks = agent.status === "idle" ? (["stop", "urgent", "normal"] as const) : (["stop", "urgent"] as const)
      for (const rank of ranks) {
        const found = pending.find(({ priority }) => priority === rank)
        if (found) return found
      }
      return undefined
    }
    /** All that can go, with so many ends of turns. */
    const drain = async (finishes: number) => {
      for (let left = finishes; pending.length > 0; ) {
        const due = next()
        if (!due) {
          if (left-- === 0) return
          agent.status = "idle"
          continue
        }
        pending.splice(pending.indexOf(due), 1)
        expected.push(due.text)
        for (const untilMs = Date.now() + WITHIN_MS; agent.taken.length < expected.length; await sleep(5)) {
          await restartIfDead()
          if (Date.now() > untilMs) throw new Error(`${due.text} did not arrive; taken: ${agent.taken.join(", ")}`)
        }
        expect(agent.taken.slice(0, expected.length)).toEqual(expected)
      }
    }

    try {
      let number = 0
      for (const { burst, answered, crashes, finishes } of rounds) {
        agent.status = "waiting"
        agent.crashes = [...crashes]
        for (const { priority, sender, isToTeam } of burst) {
          const to = isToTeam ? { target: "api" } : { sessionId: session.id }
          const text = `${++number}-${priority}`
          await restartIfDead()
          await daemon.messages.send({ ...to, text, priority, sender })
          pending.push({ text, priority })
        }
        agent.status = answered
        await drain(finishes)
        await restartIfDead()
      }
      await drain(Number.POSITIVE_INFINITY)
      expect(agent.taken).toEqual(expected)
    } finally {
      agent.crashes = []
      await daemon.end()
      await store.close()
      rmSync(dir, { recursive: true })
    }
  })
  // Nearly all of the time is spent waiting: several at once cost no more.
  await Promise.all(Array.from({ length: 6 }, () => fc.assert(property, { numRuns: 2, endOnFailure: true })))
}, 300_000)
