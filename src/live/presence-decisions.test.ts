import { expect, test } from "vitest"
import type { Presence } from "../domain/presence.ts"
import { decide, type Evidence, GRACE_MS, KILLED, type SessionInstance, type Verdict } from "./presence.ts"

const NOW = 1_800_000_000_000
const GONE = NOW + 10
const LATER = GONE + GRACE_MS

const instance = (nativeId: string, pid: number): SessionInstance => ({
  sessionId: null,
  nativeId,
  pid,
  processStart: pid === 0 ? null : `s${pid}`,
})
const present: Presence = {
  ...instance("A", 1),
  ...{ team: "api", host: "here", sinceMs: NOW, goneAtMs: null, cause: null, isTold: false, isSupervised: false },
}
const gone: Presence = { ...present, goneAtMs: GONE, cause: "other" }
const told: Presence = { ...gone, cause: KILLED, isTold: true }
/** An agent that only writes its session's name into a file. */
const fromFile: Presence = { ...present, ...instance("A", 0) }

const began = (of: SessionInstance, start: string, atMs = LATER): Evidence => ({
  kind: "began",
  instance: of,
  start,
  atMs,
})
const heard = (of: SessionInstance, atMs = LATER): Evidence => ({ kind: "heard", instance: of, atMs })
const ended = (nativeId: string, pid: number, atMs = LATER): Evidence => ({
  ...{ kind: "ended", nativeId, pid, reason: "logout", atMs },
})
const looked = (live: SessionInstance[], atMs = LATER): Evidence => ({
  ...{ kind: "looked", live: live.map((one) => ({ ...one, isSteady: true })), atMs },
})
const named = (id: string, writtenAtMs = LATER, atMs = LATER): Evidence => ({
  ...{ kind: "named", id, sessionId: null, writtenAtMs, atMs },
})

interface World {
  alive?: number[]
  isBeside?: boolean
}
const verdict = (
  presence: Presence | undefined,
  evidence: Evidence,
  { alive = [1, 2], isBeside = false }: World = {},
) =>
  decide(presence, evidence, {
    ...{ team: "api", host: "here", isAlive: ({ pid }) => alive.includes(pid), isBeside: () => isBeside },
  })

const STAYS: Verdict = {}
const takenBy = (of: SessionInstance, atMs = LATER): Presence => ({ ...present, ...of, sinceMs: atMs })
/** Quietly: nobody was told that the session was away. */
const goesOn = (of: SessionInstance, atMs = LATER): Verdict => ({ presence: takenBy(of, atMs) })
const started = (of: SessionInstance, cause: string): Verdict => ({
  presence: takenBy(of),
  notice: {
    type: "session_started",
    key: `started:api:${of.nativeId}:${of.pid}:${of.processStart ?? ""}:${LATER}`,
    ...{ old: null, new: of, cause, atMs: LATER },
  },
})
const restarted = (of: SessionInstance, cause: string, old = instance("A", 1), atMs = LATER): Verdict => ({
  presence: takenBy(of, atMs),
  notice: {
    type: "session_restart",
    key: `restart:api:${old.nativeId}:${old.pid}:${old.processStart ?? ""}:${NOW}`,
    ...{ old, new: of, cause, atMs },
  },
})

type Case = [what: string, before: Presence | undefined, evidence: Evidence, after: Verdict, world?: World]
const check = ([, before, evidence, after, world]: Case) => expect(verdict(before, evidence, world)).toEqual(after)
const cases = (list: Case[]) => list.map((one) => [one[0], one] as const)

test.each(
  cases([
    ["a session that begins", undefined, began(instance("B", 2), "startup"), started(instance("B", 2), "startup")],
    [
      "one that is dead by now",
      undefined,
      began(instance("B", 2), "startup"),
      started(instance("B", 2), "startup"),
      { alive: [] },
    ],
    ["a hook of a process that lives", undefined, heard(instance("B", 2)), started(instance("B", 2), "seen")],
    ["a hook of a process that is dead", undefined, heard(instance("B", 2)), STAYS, { alive: [] }],
    [
      "the first that is live",
      undefined,
      looked([instance("B", 2), instance("C", 3)]),
      started(instance("B", 2), "seen"),
    ],
    ["nobody that is live", undefined, looked([]), STAYS],
    ["a name in a file", undefined, named("x"), started(instance("x", 0), "seen")],
    ["an end", undefined, ended("B", 2), STAYS],
    [
      "a presence without a session",
      { ...gone, nativeId: null },
      heard(instance("B", 2)),
      started(instance("B", 2), "seen"),
    ],
  ]),
)("a team without a session so far: %s", (_, one) => check(one))

test.each(
  cases([
    ["goes on in its process", present, began(instance("A", 1), "resume"), STAYS],
    ["its process not being seen", present, began(instance("A", 1), "resume"), STAYS, { alive: [] }],
    ["in a second process beside it", present, began(instance("A", 2), "resume"), STAYS],
    ["after its process died", present, began(instance("A", 2), "resume"), goesOn(instance("A", 2)), { alive: [2] }],
    [
      "again in the process that it left",
      gone,
      began(instance("A", 1), "resume", GONE + 1),
      goesOn(instance("A", 1), GONE + 1),
    ],
    ["after it was said to be gone", told, began(instance("A", 2), "resume"), started(instance("A", 2), "resume")],
    ["after the time to come back", gone, began(instance("A", 2), "resume"), started(instance("A", 2), "resume")],
    [
      "killed, after that time, with nobody told",
      { ...gone, cause: KILLED },
      began(instance("A", 2), "resume"),
      goesOn(instance("A", 2)),
    ],
    [
      "a moment before that time is over",
      gone,
      began(instance("A", 2), "resume", LATER - 1),
      goesOn(instance("A", 2), LATER - 1),
    ],
  ]),
)("the session itself begins: %s", (_, one) => check(one))

test.each(
  cases([
    ["by compaction, in the same process", present, began(instance("A2", 1), "compact"), goesOn(instance("A2", 1))],
    ["by compaction, in another process", present, began(instance("A2", 2), "compact"), STAYS],
    ["in its place", present, began(instance("B", 1), "clear"), restarted(instance("B", 1), "clear")],
    ["in its place, as a new one", present, began(instance("B", 1), "startup"), restarted(instance("B", 1), "new")],
    ["in its place, as a fork", present, began(instance("B", 1), "fork"), restarted(instance("B", 1), "branch")],
    ["in the same process beside it", present, began(instance("B", 1), "startup"), STAYS, { isBeside: true }],
    ["in another pane", present, began(instance("B", 2), "startup"), STAYS],
    [
      "after its death",
      present,
      began(instance("B", 2), "startup"),
      restarted(instance("B", 2), KILLED),
      { alive: [2] },
    ],
    ["in the process that ended it", gone, began(instance("B", 1), "fork"), restarted(instance("B", 1), "branch")],
    ["in another process after its end", gone, began(instance("B", 2), "fork"), restarted(instance("B", 2), "other")],
    [
      "where the end has no cause",
      { ...gone, cause: null },
      began(instance("B", 2), "x"),
      restarted(instance("B", 2), KILLED),
    ],
    ["after nobody came", told, began(instance("B", 2), "startup"), started(instance("B", 2), "startup")],
    ["where only a file was known", fromFile, began(instance("B", 2), "startup"), goesOn(instance("B", 2))],
    [
      "in a file, where only a file was known",
      fromFile,
      began(instance("B", 0), "startup"),
      restarted(instance("B", 0), "startup", instance("A", 0)),
    ],
  ]),
)("another session begins: %s", (_, one) => check(one))

test.each(
  cases([
    ["of the session in its process", present, heard(instance("A", 1)), STAYS],
    ["of a process that is dead by now", present, heard(instance("A", 2)), STAYS, { alive: [] }],
    ["of the session in a second process", present, heard(instance("A", 2)), STAYS],
    [
      "of the session, its first process dead",
      present,
      heard(instance("A", 2)),
      goesOn(instance("A", 2)),
      { alive: [2] },
    ],
    ["of the process that said it ends", gone, heard(instance("A", 1)), STAYS],
    [
      "of the session in another process since",
      gone,
      heard(instance("A", 2), GONE + 1),
      goesOn(instance("A", 2), GONE + 1),
    ],
    ["of the session in another process until then", gone, heard(instance("A", 2), GONE), STAYS],
    ["of the session that was said to be gone", told, heard(instance("A", 2)), started(instance("A", 2), "resume")],
    ["of another session", present, heard(instance("B", 2)), STAYS],
    ["of another session while this one may return", gone, heard(instance("B", 2), LATER - 1), STAYS],
    ["of another session after that", gone, heard(instance("B", 2)), restarted(instance("B", 2), "other")],
    [
      "where the end has no cause",
      { ...gone, cause: null },
      heard(instance("B", 2)),
      restarted(instance("B", 2), KILLED),
    ],
    [
      "of another after nobody came",
      { ...told, goneAtMs: LATER },
      heard(instance("B", 2)),
      started(instance("B", 2), "seen"),
    ],
    ["where only a file was known", fromFile, heard(instance("B", 2)), goesOn(instance("B", 2))],
    ["of another that only a file names", fromFile, heard(instance("B", 0)), STAYS, { alive: [0] }],
    ["where only a file was known that ended", { ...fromFile, goneAtMs: LATER }, heard(instance("B", 2)), STAYS],
  ]),
)("a hook: %s", (_, one) => check(one))

const left: Verdict = { presence: { ...present, goneAtMs: LATER, cause: "logout" } }
test.each(
  cases([
    ["of the session", present, ended("A", 1), left],
    ["of the session, the process unknown", present, ended("A", 0), left],
    [
      "of the session, only known from a file",
      fromFile,
      ended("A", 1),
      { presence: { ...left.presence!, pid: 0, processStart: null } },
    ],
    ["of the session in another process", present, ended("A", 2), STAYS],
    ["of another session in its process", present, ended("B", 1), STAYS],
    ["a second time", gone, ended("A", 1), STAYS],
    ["from before it began", present, ended("A", 1, NOW - 1), STAYS],
    ["in the moment it began", present, ended("A", 1, NOW), { presence: { ...left.presence!, goneAtMs: NOW } }],
  ]),
)("an end: %s", (_, one) => check(one))

const unnoticed: Presence = { ...gone, cause: KILLED }
test.each(
  cases([
    ["it lives", present, looked([instance("A", 1)]), STAYS],
    ["another beside it", present, looked([instance("A", 1), instance("B", 2)]), STAYS],
    ["another in its process", present, looked([instance("B", 1)]), restarted(instance("B", 1), "switched")],
    ["another in its process, beside it", present, looked([instance("B", 1)]), STAYS, { isBeside: true }],
    ["both in its process", present, looked([instance("A", 1), instance("B", 1)]), STAYS],
    ["another process, its own still there", present, looked([instance("B", 2)]), STAYS],
    ["it has died", present, looked([]), { presence: { ...present, goneAtMs: LATER, cause: KILLED } }, { alive: [] }],
    ["it lives elsewhere", present, looked([instance("A", 2)]), goesOn(instance("A", 2)), { alive: [2] }],
    ["only a file knows it", fromFile, looked([]), STAYS, { alive: [] }],
    ["its process takes its time to end", gone, looked([instance("A", 1)], LATER - 1), STAYS],
    ["another, while it may return", gone, looked([instance("B", 2)], LATER - 1), STAYS],
    ["another, after that", gone, looked([instance("B", 2)]), restarted(instance("B", 2), "other")],
    [
      "another, the end having no cause",
      { ...gone, cause: null },
      looked([instance("B", 2)]),
      restarted(instance("B", 2), KILLED),
    ],
    [
      "another, nobody having come",
      { ...told, goneAtMs: LATER },
      looked([instance("B", 2)]),
      started(instance("B", 2), "seen"),
    ],
    ["nobody, which was said", told, looked([]), STAYS],
  ]),
)("a look: %s", (_, one) => check(one))

test("a process that took the number of the one before is another process", () => {
  const reused = { ...instance("B", 1), processStart: "later" }
  expect(verdict(present, began(reused, "startup"))).toEqual(STAYS)
  expect(verdict(present, looked([reused]))).toEqual(STAYS)
})

test("a process whose start is not known agrees with any start", () => {
  expect(verdict(present, began({ ...instance("B", 1), processStart: null }, "clear")).notice?.cause).toBe("clear")
  expect(verdict({ ...present, processStart: null }, began(instance("B", 1), "clear")).notice?.cause).toBe("clear")
})

test("a session that was killed is said to be gone once, one that ended each time in the same words", () => {
  const nobody = { old: instance("A", 1), new: null, atMs: LATER }
  expect(verdict(unnoticed, looked([]))).toEqual({
    presence: { ...unnoticed, isTold: true },
    notice: { type: "session_restart", key: `restart:api:A:1:s1:${NOW}`, cause: KILLED, ...nobody },
  })
  expect(verdict(gone, looked([]))).toEqual({
    notice: { type: "session_ended", key: `ended:api:A:1:s1:${NOW}`, cause: "other", ...nobody },
  })
  expect(verdict({ ...gone, cause: null }, looked([])).notice?.cause).toBe("other")
  // Its process is still there: that is nobody who came in its place.
  expect(verdict(gone, looked([instance("A", 1)])).notice?.type).toBe("session_ended")
})

test.each(
  cases([
    ["the same name", fromFile, named("A"), STAYS],
    ["the same name after its end", { ...gone, pid: 1 }, named("A"), STAYS],
    ["another name", fromFile, named("x"), restarted(instance("x", 0), "session file", instance("A", 0))],
    ["another name while an agent with hooks is there", present, named("x"), STAYS],
    ["another name while that agent may return", gone, named("x", LATER - 1, LATER - 1), STAYS],
    ["another name while a session is seen", fromFile, looked([instance("B", 2)]), goesOn(instance("B", 2))],
    ["the same name of a session that is seen", fromFile, looked([instance("A", 1)]), goesOn(instance("A", 1))],
    ["nobody is seen beside it", fromFile, looked([]), STAYS],
    ["another name, written since", gone, named("x", GONE + 1), restarted(instance("x", 0), "other")],
    ["another name, written by the time it ended", gone, named("x", GONE), STAYS],
    [
      "another name, the end having no cause",
      { ...gone, cause: null },
      named("x"),
      restarted(instance("x", 0), KILLED),
    ],
  ]),
)("a session's file: %s", (_, one) => check(one))

test("what else is known of a live process is not written down", () => {
  const more = { ...instance("B", 2), isSteady: true, title: "not stored" }
  const { presence, notice } = verdict(undefined, began(more, "startup"))
  expect(Object.keys(presence!).sort()).toEqual(Object.keys(present).sort())
  expect(notice!.new).toEqual(instance("B", 2))
})
