import { expect, test } from "vitest"
import type { Presence } from "../domain/presence.ts"
import { decide, type Evidence, GRACE_MS, type PresenceNotice, type SessionInstance } from "./presence.ts"

const NOW = 1_800_000_000_000

/** A team's terminal, and what is noticed of it. */
class World {
  presence: Presence | undefined
  told: string[] = []
  keys = new Set<string>()
  atMs = NOW
  /** Process → session, as a registry lists it. */
  live = new Map<number, string>()
  steady = new Set<string>()

  instance(pid: number, nativeId: string): SessionInstance {
    return { sessionId: null, nativeId, pid, processStart: pid === 0 ? null : `s${pid}` }
  }
  notice(evidence: Evidence) {
    const isAlive = ({ pid }: SessionInstance) => this.live.has(pid)
    // Twice: whoever was killed in between begins again with what was written.
    for (let time = 0; time < 2; time++) {
      const { presence, notice } = decide(this.presence, evidence, {
        team: "api",
        host: "here",
        isAlive,
        isBeside: () => false,
      })
      if (notice && !this.keys.has(notice.key)) {
        this.keys.add(notice.key)
        this.told.push(shown(notice))
      }
      if (presence) this.presence = presence
    }
  }
  began(pid: number, nativeId: string, start: string) {
    this.live.set(pid, nativeId)
    this.notice({ kind: "began", instance: this.instance(pid, nativeId), start, atMs: ++this.atMs })
  }
  heard(pid: number, nativeId: string) {
    this.notice({ kind: "heard", instance: this.instance(pid, nativeId), atMs: ++this.atMs })
  }
  ended(pid: number, nativeId: string, reason: string, atMs = ++this.atMs) {
    this.notice({ kind: "ended", nativeId, pid, reason, atMs })
  }
  kill(pid: number) {
    this.live.delete(pid)
  }
  /** In-place, seen by the registry alone. */
  lists(pid: number, nativeId: string) {
    this.live.set(pid, nativeId)
  }
  look(times = 1) {
    for (let time = 0; time < times; time++) {
      this.atMs += 2_000
      const live = [...this.live].map(([pid, nativeId]) => ({
        ...this.instance(pid, nativeId),
        isSteady: this.steady.has(`${pid} ${nativeId}`),
      }))
      this.steady = new Set([...this.live].map(([pid, nativeId]) => `${pid} ${nativeId}`))
      this.notice({ kind: "looked", live, atMs: this.atMs })
    }
  }
  named(id: string) {
    this.notice({ kind: "named", id, sessionId: null, writtenAtMs: this.atMs, atMs: ++this.atMs })
  }
}

const WORDS = { session_restart: "restart", session_started: "started", session_ended: "ended" }
const shown = ({ type, old, new: next, cause }: PresenceNotice) =>
  `${WORDS[type]} ${old?.nativeId ?? "-"}→${next?.nativeId ?? "-"} ${cause}`

const STARTED = "started -→A startup"
const LONG = Math.ceil(GRACE_MS / 2_000) + 2

test.each<[what: string, story: (world: World) => void, told: string[]]>([
  ["a thousand looks at a session that lives", (w) => w.look(1_000), []],
  ["compaction", (w) => w.began(1, "A", "compact"), []],
  ["an agent that compacts into another name", (w) => w.began(1, "A2", "compact"), []],
  ["hooks of the same session", (w) => [w.heard(1, "A"), w.look(), w.heard(1, "A")], []],
  ["/clear", (w) => [w.ended(1, "A", "clear"), w.began(1, "B", "clear"), w.look(9)], ["restart A→B clear"]],
  ["/branch", (w) => [w.ended(1, "A", "resume"), w.began(1, "B", "fork"), w.look(9)], ["restart A→B branch"]],
  ["/resume of another", (w) => [w.ended(1, "A", "resume"), w.began(1, "B", "resume")], ["restart A→B resume"]],
  [
    "/clear whose first hook was lost",
    (w) => [w.began(1, "B", "clear"), w.ended(1, "A", "clear"), w.look(9)],
    ["restart A→B clear"],
  ],
  ["/clear of an agent without hooks", (w) => [w.lists(1, "B"), w.look(1)], []],
  ["/clear of an agent without hooks, later", (w) => [w.lists(1, "B"), w.look(9)], ["restart A→B switched"]],
  [
    "back and forth in one process",
    (w) => [w.began(1, "B", "resume"), w.began(1, "A", "resume"), w.began(1, "B", "resume"), w.look(9)],
    ["restart A→B resume", "restart B→A resume", "restart A→B resume"],
  ],
  [
    "exit, and a new one at once",
    (w) => [w.ended(1, "A", "prompt_input_exit"), w.kill(1), w.began(2, "B", "startup"), w.look(9)],
    ["restart A→B prompt_input_exit"],
  ],
  [
    "exit, and a new one the day after",
    (w) => [w.ended(1, "A", "prompt_input_exit"), w.kill(1), w.look(99), w.began(2, "B", "startup"), w.look(9)],
    ["ended A→- prompt_input_exit", "restart A→B prompt_input_exit"],
  ],
  ["exit, and resumed at once", (w) => [w.ended(1, "A", "other"), w.kill(1), w.began(2, "A", "resume"), w.look(9)], []],
  [
    "exit, and resumed the day after",
    (w) => [w.ended(1, "A", "other"), w.kill(1), w.look(99), w.began(2, "A", "resume"), w.look(9)],
    ["ended A→- other", "started -→A resume"],
  ],
  [
    "a process that takes its time to end",
    (w) => [w.ended(1, "A", "other"), w.look(2), w.kill(1), w.look(9)],
    ["ended A→- other"],
  ],
  [
    "killed, and a new one before anybody looked",
    (w) => [w.kill(1), w.began(2, "B", "startup"), w.look(9)],
    ["restart A→B killed"],
  ],
  [
    "killed, noticed, and a new one",
    (w) => [w.kill(1), w.look(), w.began(2, "B", "startup"), w.look(9)],
    ["restart A→B killed"],
  ],
  [
    "killed, and a fork of it",
    (w) => [w.kill(1), w.look(), w.began(2, "B", "fork"), w.look(9)],
    ["restart A→B killed"],
  ],
  ["killed, and nobody", (w) => [w.kill(1), w.look(99)], ["restart A→- killed"]],
  [
    "killed, nobody, and a new one the day after",
    (w) => [w.kill(1), w.look(LONG), w.began(2, "B", "startup"), w.look(9)],
    ["restart A→- killed", "started -→B startup"],
  ],
  ["killed, and resumed before anybody looked", (w) => [w.kill(1), w.began(2, "A", "resume"), w.look(9)], []],
  ["killed, noticed, and resumed", (w) => [w.kill(1), w.look(2), w.began(2, "A", "resume"), w.look(9)], []],
  ["killed, and resumed without hooks", (w) => [w.kill(1), w.look(), w.lists(2, "A"), w.look(9)], []],
  [
    "killed, nobody, and resumed the day after",
    (w) => [w.kill(1), w.look(LONG), w.began(2, "A", "resume"), w.look(9)],
    ["restart A→- killed", "started -→A resume"],
  ],
  [
    "killed, and a new one without hooks",
    (w) => [w.kill(1), w.look(), w.lists(2, "B"), w.look(9)],
    ["restart A→B killed"],
  ],
  [
    "killed, resumed, and killed again",
    (w) => [w.kill(1), w.began(2, "A", "resume"), w.kill(2), w.look(99)],
    ["restart A→- killed"],
  ],
  [
    "a second one beside it",
    (w) => [w.began(2, "B", "startup"), w.look(9), w.heard(2, "B"), w.ended(2, "B", "other"), w.look(9)],
    [],
  ],
  ["a fork of it beside it", (w) => [w.began(2, "B", "fork"), w.look(9)], []],
  ["the same session in a second process", (w) => [w.began(2, "A", "resume"), w.ended(2, "A", "other"), w.look(9)], []],
  [
    "killed, with a second one beside it",
    (w) => [w.began(2, "B", "startup"), w.look(9), w.kill(1), w.look(), w.heard(2, "B"), w.look(99)],
    ["restart A→B killed"],
  ],
  [
    "a terminal that is killed slowly, the new one being faster",
    (w) => [w.began(2, "B", "startup"), w.ended(1, "A", "other"), w.look(), w.kill(1), w.look(9)],
    ["restart A→B other"],
  ],
  [
    "an end that comes after it went on",
    (w) => [w.kill(1), w.began(2, "A", "resume"), w.ended(1, "A", "other"), w.look(9)],
    [],
  ],
  [
    "an end from before it was resumed in the same process, told late",
    (w) => [
      w.look(),
      w.began(1, "B", "resume"),
      w.began(1, "A", "resume"),
      w.ended(1, "A", "resume", NOW + 2),
      w.look(9),
    ],
    ["restart A→B resume", "restart B→A resume"],
  ],
  [
    "an end from before it was resumed, told late by a hook that knows no process",
    (w) => [w.look(), w.kill(1), w.began(2, "A", "resume"), w.ended(0, "A", "other", NOW + 2), w.look(9)],
    [],
  ],
  [
    "a hook that comes after the end",
    (w) => [w.ended(1, "A", "other"), w.heard(1, "A"), w.kill(1), w.look(9)],
    ["ended A→- other"],
  ],
  [
    "two restarts in a row",
    (w) => [w.kill(1), w.began(2, "B", "startup"), w.kill(2), w.began(3, "C", "startup"), w.look(9)],
    ["restart A→B killed", "restart B→C killed"],
  ],
  ["a file that an agent with hooks writes too", (w) => [w.named("x"), w.look(9), w.named("x")], []],
])("%s", (_, story, told) => {
  const world = new World()
  world.began(1, "A", "startup")
  expect(world.told).toEqual([STARTED])
  story(world)
  expect(world.told.slice(1)).toEqual(told)
})

test("an agent that only writes a file has restarted when the name in it is another", () => {
  const world = new World()
  for (const id of ["x", "x", "y", "y", "z"]) {
    world.named(id)
    world.look(9)
  }
  expect(world.told).toEqual(["started -→x seen", "restart x→y session file", "restart y→z session file"])
})

test("a team whose agent begins to have hooks is not said to have restarted", () => {
  const world = new World()
  world.named("x")
  world.began(1, "A", "startup")
  world.named("x")
  expect(world.told).toEqual(["started -→x seen"])
  expect(world.presence).toMatchObject({ nativeId: "A", pid: 1 })
})

test("a supervised team stays supervised, whichever session comes or goes", () => {
  const world = new World()
  world.began(1, "A", "startup")
  world.presence = { ...world.presence!, isSupervised: true }
  world.kill(1)
  world.look(9)
  expect(world.presence).toMatchObject({ isTold: true, isSupervised: true })
  world.began(2, "B", "startup")
  expect(world.presence).toMatchObject({ nativeId: "B", isTold: false, isSupervised: true })
})

test("processes of another machine are believed, and one here does not take their place", () => {
  const world = new World()
  world.began(1, "A", "startup")
  world.presence = { ...world.presence!, host: "there" }
  world.kill(1)
  world.look(9)
  world.began(1, "B", "startup")
  expect(world.told).toEqual([STARTED])
})
