import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { claudeCode } from "../agents/claude-code/console.ts"
import { agentSetups as agents } from "../agents/list.ts"
import { makeIntake } from "../capture/store/intake.ts"
import type { SessionId } from "../domain/ids.ts"
import { isUnreachable, makeResolveTarget } from "../queue/resolve-target.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeRoster } from "../teams/roster.ts"
import { makeWatching } from "./module.ts"
import { updatesConsumer } from "./updates/consumer.ts"

/** A team's folder on a machine of which every process, hook and loop moves only when the test says so. */
async function makeWorld() {
  const dir = mkdtempSync(join(tmpdir(), "takeover-"))
  const store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
  const project = join(dir, "api")
  const registryDir = join(dir, ".claude", "sessions")
  for (const folder of [project, registryDir]) mkdirSync(folder, { recursive: true })
  const clock = { nowMs: () => nowMs }
  let nowMs = Date.now()
  let count = 0
  /** Process → the session that it has. */
  const running = new Map<number, string>()
  const roster = makeRoster({ read: () => ({ api: { project, platform: "claude-code" } }) as never })
  const onTrouble = (error: unknown) => {
    throw error
  }
  const intake = makeIntake({
    store,
    clock,
    agents,
    host: "here",
    spoolDir: join(dir, "spool"),
    rules: { excluded: () => false, projectOf: (path) => store.projects.ensure(`file://${path}`, nowMs) },
    capturing: { nudge: async () => {} },
    onTrouble,
  })
  const processStart = (pid: number) => (running.has(pid) ? `${pid}0` : undefined)
  const machine = { os: "linux" as const, homeDir: dir, env: {} }
  const { watch, live, hookless } = makeWatching({
    ...{ store, clock, roster, machine, processStart, onTrouble },
    consoles: [claudeCode],
    parentOf: () => 1,
    host: "here",
    panes: { identify: async () => undefined },
    meet: (found) => intake.meet(found),
    paneOf: async () => undefined,
    taskFile: () => undefined,
  })
  const resolveTarget = makeResolveTarget({ store, roster, live, host: "here", watch, hookless })
  const consumer = updatesConsumer(roster, watch)

  const hook = (name: string, session: string, pid: number, words: object) =>
    intake.receive({
      platform: "claude-code",
      key: `k${count++}`,
      atMs: nowMs,
      env: { CLAUDE_PID: String(pid), PPID: String(pid) },
      body: JSON.stringify({ hook_event_name: name, session_id: session, cwd: project, ...words }),
    })
  const has = (pid: number, sessionId: string) => {
    running.set(pid, sessionId)
    const entry = { pid, sessionId, cwd: project, procStart: `${pid}0`, status: "idle", entrypoint: "cli" }
    writeFileSync(join(registryDir, `${pid}.json`), JSON.stringify(entry))
  }
  const delivered = async (sessionId: SessionId) => {
    const data = { id: `m-${String(count++).padStart(16, "0")}`, team: "api", state: "delivered", rung: "pane" }
    await store.journal.append([{ kind: "message.delivered", sessionId, atMs: nowMs, data }])
  }

  return {
    store,
    watch,
    running,
    nowMs: clock.nowMs,
    pass: (ms: number) => {
      nowMs += ms
    },
    async begin(session: string, { hooks }: { hooks: boolean }) {
      const pid = 100 + count++
      has(pid, session)
      if (hooks) await hook("SessionStart", session, pid, { source: "startup" })
      return pid
    },
    /** What its hooks say may come later than its registry. */
    async clear(pid: number, next: string, { hooks }: { hooks: boolean }): Promise<() => Promise<unknown>> {
      if (hooks) await hook("SessionEnd", running.get(pid)!, pid, { reason: "clear" })
      has(pid, next)
      return async () => hooks && running.get(pid) === next && hook("SessionStart", next, pid, { source: "clear" })
    },
    async exit(pid: number, { hooks }: { hooks: boolean }) {
      if (hooks) await hook("SessionEnd", running.get(pid)!, pid, { reason: "prompt_input_exit" })
      running.delete(pid)
    },
    /** A message goes to whom it would go to now. */
    async send() {
      const found = await resolveTarget({ team: "api" })
      if (!isUnreachable(found)) await delivered(found.session.id)
      return isUnreachable(found) ? undefined : found.session.nativeId
    },
    /** The agent fetches. */
    async pull(pid: number) {
      const agent = (await live.ofTeam(roster.byName("api")!)).find((one) => one.pid === pid)
      if (!agent) return
      await watch.reportTakeovers([{ sessionId: agent.session.id, isGiven: true, atMs: nowMs }])
      if (!(await watch.mayReturn("api", agent))) await delivered(agent.session.id)
    },
    async reply(pid: number) {
      const session = await store.sessions.byNative("claude-code", running.get(pid) ?? "")
      if (!session) return
      const none = { model: null, toolName: null, toolCallId: null, usage: null, sourceId: null }
      const said = { kind: "reply" as const, text: "Read.", atMs: nowMs, isError: false, isFallback: false }
      const put = await store.turns.put([{ sessionId: session.id, nativeId: `t${count++}`, ...said, ...none }])
      const data = { seqs: put.map(({ seq }) => seq) }
      await store.journal.append([{ kind: "turns.kept", sessionId: session.id, atMs: nowMs, data }])
    },
    /** The journal's consumer has its turn, as the daemon gives it one. */
    async report() {
      const entries = await store.journal.after(await store.journal.position(consumer.name), 200)
      if (entries.length === 0) return
      await consumer.before!(entries)
      await store.transaction(async (tx) => {
        await consumer.after(entries, tx, AbortSignal.timeout(60_000))
        await tx.journal.advance(consumer.name, entries.at(-1)!.seq)
      })
    },
    /** What a reader of updates gets, in order: what it is, and of which session. */
    async read(): Promise<[string, string | null][]> {
      const names = new Map<string | null, string>()
      for (const session of await store.sessions.list({ limit: 99 })) names.set(session.id, session.nativeId)
      const nameOf = (id: unknown) => names.get(id as string) ?? null
      return (await store.updates.after("api", { limit: 999 })).map(({ type, sessionId, data }) => {
        if (type === "message_state") return ["delivered", nameOf(data.session)]
        return type === "reply" ? [type, nameOf(sessionId)] : [type, data.new as string | null]
      })
    },
    async end() {
      await store.close()
      rmSync(dir, { recursive: true })
    },
  }
}

type World = Awaited<ReturnType<typeof makeWorld>>

const inWorld = (story: (world: World) => Promise<void>) => async () => {
  const world = await makeWorld()
  await story(world).finally(world.end)
}
const LOOK_MS = 2_000
/** As in the daemon's round, which always takes what hooks said before it looks. */
async function look(world: World, times = 1) {
  for (let time = 0; time < times; time++) {
    world.pass(LOOK_MS)
    await world.watch.hear()
    await world.watch.look()
  }
}

describe("a session that takes over from one that was killed is reported before what it gets and says", () => {
  test(
    "although the watch has not come to its hook yet",
    inWorld(async (world) => {
      const old = await world.begin("A", { hooks: true })
      await world.watch.hear()
      world.running.delete(old)
      const pid = await world.begin("B", { hooks: true })
      await world.reply(pid)
      await world.report()
      expect(await world.read()).toEqual([
        ["session_started", "A"],
        ["session_restart", "B"],
        ["reply", "B"],
      ])
    }),
  )

  test(
    "although it has no hooks of ours",
    inWorld(async (world) => {
      const old = await world.begin("A", { hooks: true })
      await world.watch.hear()
      await look(world)
      world.running.delete(old)
      await world.begin("B", { hooks: false })
      await look(world)
      expect(await world.send()).toBe("B")
      await world.report()
      await look(world, 6)
      expect(await world.read()).toEqual([
        ["session_started", "A"],
        ["session_restart", "B"],
        ["delivered", "B"],
      ])
    }),
  )

  test(
    "although it is another session of the same process, of which no hook tells",
    inWorld(async (world) => {
      const pid = await world.begin("A", { hooks: false })
      await look(world, 3)
      await world.clear(pid, "B", { hooks: false })
      await look(world)
      expect(await world.send()).toBe("B")
      await world.report()
      await look(world, 6)
      expect(await world.read()).toEqual([
        ["session_started", "A"],
        ["session_restart", "B"],
        ["delivered", "B"],
      ])
    }),
  )

  test(
    "and to one that ran beside it nothing goes until it is known that nobody comes back",
    inWorld(async (world) => {
      const old = await world.begin("A", { hooks: true })
      const other = await world.begin("B", { hooks: true })
      await world.watch.hear()
      await look(world)
      world.running.delete(old)
      world.pass(100)
      expect(await world.send()).toBeUndefined()
      await world.pull(other)
      await look(world, 2)
      await world.report()
      expect(await world.read()).toEqual([["session_started", "A"]])
      await look(world, 3)
      expect(await world.send()).toBe("B")
      await world.report()
      expect(await world.read()).toEqual([
        ["session_started", "A"],
        ["session_restart", "B"],
        ["delivered", "B"],
      ])
    }),
  )
})

const steps = fc.oneof(
  fc.record({ kind: fc.constantFrom("begin" as const, "clear" as const), which: fc.nat(3), hooks: fc.boolean() }),
  fc.record({ kind: fc.constantFrom("kill" as const, "exit" as const), which: fc.nat(3), hooks: fc.boolean() }),
  fc.record({ kind: fc.constantFrom("reply" as const, "pull" as const), which: fc.nat(3), hooks: fc.boolean() }),
  fc.record({
    kind: fc.constantFrom(...(["send", "send", "arrive", "hear", "look", "look", "report", "report", "wait"] as const)),
    which: fc.nat(3),
    hooks: fc.boolean(),
  }),
)

test("in any order of deaths, beginnings, hooks, looks, messages and replies, a replacement is reported first", async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(steps, { minLength: 6, maxLength: 30 }), async (isDaemonFirst, story) => {
      const world = await makeWorld()
      /** The step of the first look. Whoever is there already may have been there beside the team's own. */
      let lookedAt = isDaemonFirst ? -1 : Number.POSITIVE_INFINITY
      /** When each session began and ended, counted in steps. */
      const begun = new Map<string, number>()
      /** Sessions that began in the process of another: what they say by themselves may come before the watch is sure. */
      const inPlace = new Set<string>()
      const ended = new Map<string, { at: number; atMs: number }>()
      let arriving: (() => Promise<unknown>)[] = []
      let names = 0
      try {
        if (isDaemonFirst) await look(world)
        for (const [at, { kind, which, hooks }] of story.entries()) {
          world.pass(100)
          const pids = [...world.running.keys()]
          const pid = pids[which % Math.max(pids.length, 1)]
          const session = pid === undefined ? undefined : world.running.get(pid)
          if (kind === "begin") {
            begun.set(`S${names}`, at)
            await world.begin(`S${names++}`, { hooks })
          } else if (kind === "send") await world.send()
          else if (kind === "hear") await world.watch.hear()
          else if (kind === "look") {
            lookedAt = Math.min(lookedAt, at)
            for (const end of ended.values()) end.atMs = Math.min(end.atMs, world.nowMs())
            await look(world)
          } else if (kind === "report") await world.report()
          else if (kind === "wait") world.pass(3_000)
          else if (kind === "arrive") {
            for (const arrive of arriving.splice(0)) await arrive()
          } else if (pid !== undefined && session !== undefined) {
            if (kind === "reply") await world.reply(pid)
            else if (kind === "pull") await world.pull(pid)
            else {
              // Nobody can know of a change in place without hooks before the next look.
              const isUnseen = kind === "clear" && !hooks
              ended.set(session, { at, atMs: isUnseen ? Number.POSITIVE_INFINITY : world.nowMs() })
              if (kind === "kill") world.running.delete(pid)
              else if (kind === "exit") await world.exit(pid, { hooks })
              else {
                begun.set(`S${names}`, at)
                inPlace.add(`S${names}`)
                arriving = [...arriving, await world.clear(pid, `S${names++}`, { hooks })]
              }
            }
          }
        }
        await world.report()
        await look(world, 6)
        const read = await world.read()
        const reported = await world.store.updates.after("api", { limit: 999 })
        for (const [index, [type, name]] of read.entries()) {
          if (!type.startsWith("session_") || type === "session_ended" || name === null) continue
          const old = reported[index]!.data.old as string | null
          const end = old === null ? undefined : ended.get(old)
          const before = read.slice(0, index).flatMap(([what, of], nth) => (of === name ? [{ what, nth }] : []))
          // One that ran beside the team's own may have fetched a message while that one was there.
          const isSince = ({ nth }: { nth: number }) => end === undefined || reported[nth]!.atMs > end.atMs
          expect(before.filter((one) => one.what === "delivered" && isSince(one))).toEqual([])
          const isBeside = old === null || begun.get(name)! < Math.max(end?.at ?? Number.POSITIVE_INFINITY, lookedAt)
          if (!isBeside && !inPlace.has(name)) expect(before.filter(({ what }) => what === "reply")).toEqual([])
        }
      } finally {
        await world.end()
      }
    }),
    { numRuns: 25, endOnFailure: true },
  )
}, 240_000)
