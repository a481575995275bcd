import { expect, test } from "vitest"
import type { Post } from "../domain/post.ts"
import { decide, type Evidence, GRACE_MS, KILLED, type Seat, type Verdict } from "./posts.ts"

const NOW = 1_800_000_000_000
const GONE = NOW + 10
const LATER = GONE + GRACE_MS

const seat = (nativeId: string, pid: number): Seat => ({
  sessionId: null,
  nativeId,
  pid,
  processStart: pid === 0 ? null : `s${pid}`,
})
const present: Post = {
  ...seat("A", 1),
  ...{ team: "api", host: "here", sinceMs: NOW, goneAtMs: null, cause: null, isTold: false, isKept: false },
}
const gone: Post = { ...present, goneAtMs: GONE, cause: "other" }
const told: Post = { ...gone, cause: KILLED, isTold: true }
/** An agent that only writes its session's name into a file. */
const fromFile: Post = { ...present, ...seat("A", 0) }

const began = (of: Seat, start: string, atMs = LATER): Evidence => ({ kind: "began", seat: of, start, atMs })
const heard = (of: Seat, atMs = LATER): Evidence => ({ kind: "heard", seat: of, atMs })
const ended = (nativeId: string, pid: number, atMs = LATER): Evidence => ({
  ...{ kind: "ended", nativeId, pid, reason: "logout", atMs },
})
const looked = (live: Seat[], atMs = LATER): Evidence => ({
  ...{ kind: "looked", live: live.map((one) => ({ ...one, isSteady: true })), atMs },
})
const named = (id: string, writtenAtMs = LATER, atMs = LATER): Evidence => ({
  ...{ kind: "named", id, sessionId: null, writtenAtMs, atMs },
})

interface World {
  alive?: number[]
  isBeside?: boolean
}
const verdict = (post: Post | undefined, evidence: Evidence, { alive = [1, 2], isBeside = false }: World = {}) =>
  decide(post, evidence, {
    ...{ team: "api", host: "here", isAlive: ({ pid }) => alive.includes(pid), isBeside: () => isBeside },
  })

const STAYS: Verdict = {}
const takenBy = (of: Seat, atMs = LATER): Post => ({ ...present, ...of, sinceMs: atMs })
/** Quietly: nobody was told that the session was away. */
const goesOn = (of: Seat, atMs = LATER): Verdict => ({ post: takenBy(of, atMs) })
const started = (of: Seat, cause: string): Verdict => ({
  post: takenBy(of),
  notice: {
    type: "session_started",
    key: `started:api:${of.nativeId}:${of.pid}:${of.processStart ?? ""}:${LATER}`,
    ...{ old: null, new: of, cause, atMs: LATER },
  },
})
const restarted = (of: Seat, cause: string, old = seat("A", 1), atMs = LATER): Verdict => ({
  post: takenBy(of, atMs),
  notice: {
    type: "session_restart",
    key: `restart:api:${old.nativeId}:${old.pid}:${old.processStart ?? ""}:${NOW}`,
    ...{ old, new: of, cause, atMs },
  },
})

type Case = [what: string, before: Post | undefined, evidence: Evidence, after: Verdict, world?: World]
const check = ([, before, evidence, after, world]: Case) => expect(verdict(before, evidence, world)).toEqual(after)
const cases = (list: Case[]) => list.map((one) => [one[0], one] as const)

test.each(
  cases([
    ["a session that begins", undefined, began(seat("B", 2), "startup"), started(seat("B", 2), "startup")],
    [
      "one that is dead by now",
      undefined,
      began(seat("B", 2), "startup"),
      started(seat("B", 2), "startup"),
      { alive: [] },
    ],
    ["a hook of a process that lives", undefined, heard(seat("B", 2)), started(seat("B", 2), "seen")],
    ["a hook of a process that is dead", undefined, heard(seat("B", 2)), STAYS, { alive: [] }],
    ["the first that is live", undefined, looked([seat("B", 2), seat("C", 3)]), started(seat("B", 2), "seen")],
    ["nobody that is live", undefined, looked([]), STAYS],
    ["a name in a file", undefined, named("x"), started(seat("x", 0), "seen")],
    ["an end", undefined, ended("B", 2), STAYS],
    ["a post without a session", { ...gone, nativeId: null }, heard(seat("B", 2)), started(seat("B", 2), "seen")],
  ]),
)("a post that nobody has had: %s", (_, one) => check(one))

test.each(
  cases([
    ["goes on in its process", present, began(seat("A", 1), "resume"), STAYS],
    ["its process not being seen", present, began(seat("A", 1), "resume"), STAYS, { alive: [] }],
    ["in a second process beside it", present, began(seat("A", 2), "resume"), STAYS],
    ["after its process died", present, began(seat("A", 2), "resume"), goesOn(seat("A", 2)), { alive: [2] }],
    [
      "again in the process that it left",
      gone,
      began(seat("A", 1), "resume", GONE + 1),
      goesOn(seat("A", 1), GONE + 1),
    ],
    ["after it was said to be gone", told, began(seat("A", 2), "resume"), started(seat("A", 2), "resume")],
    ["after the time to come back", gone, began(seat("A", 2), "resume"), started(seat("A", 2), "resume")],
    [
      "killed, after that time, with nobody told",
      { ...gone, cause: KILLED },
      began(seat("A", 2), "resume"),
      goesOn(seat("A", 2)),
    ],
    [
      "a moment before that time is over",
      gone,
      began(seat("A", 2), "resume", LATER - 1),
      goesOn(seat("A", 2), LATER - 1),
    ],
  ]),
)("the session itself begins: %s", (_, one) => check(one))

test.each(
  cases([
    ["by compaction, in the same process", present, began(seat("A2", 1), "compact"), goesOn(seat("A2", 1))],
    ["by compaction, in another process", present, began(seat("A2", 2), "compact"), STAYS],
    ["in its place", present, began(seat("B", 1), "clear"), restarted(seat("B", 1), "clear")],
    ["in its place, as a new one", present, began(seat("B", 1), "startup"), restarted(seat("B", 1), "new")],
    ["in its place, as a fork", present, began(seat("B", 1), "fork"), restarted(seat("B", 1), "branch")],
    ["in the same process beside it", present, began(seat("B", 1), "startup"), STAYS, { isBeside: true }],
    ["in another pane", present, began(seat("B", 2), "startup"), STAYS],
    ["after its death", present, began(seat("B", 2), "startup"), restarted(seat("B", 2), KILLED), { alive: [2] }],
    ["in the process that ended it", gone, began(seat("B", 1), "fork"), restarted(seat("B", 1), "branch")],
    ["in another process after its end", gone, began(seat("B", 2), "fork"), restarted(seat("B", 2), "other")],
    ["where the end has no cause", { ...gone, cause: null }, began(seat("B", 2), "x"), restarted(seat("B", 2), KILLED)],
    ["after nobody came", told, began(seat("B", 2), "startup"), started(seat("B", 2), "startup")],
    ["where only a file was known", fromFile, began(seat("B", 2), "startup"), goesOn(seat("B", 2))],
    [
      "in a file, where only a file was known",
      fromFile,
      began(seat("B", 0), "startup"),
      restarted(seat("B", 0), "startup", seat("A", 0)),
    ],
  ]),
)("another session begins: %s", (_, one) => check(one))

test.each(
  cases([
    ["of the session in its process", present, heard(seat("A", 1)), STAYS],
    ["of a process that is dead by now", present, heard(seat("A", 2)), STAYS, { alive: [] }],
    ["of the session in a second process", present, heard(seat("A", 2)), STAYS],
    ["of the session, its first process dead", present, heard(seat("A", 2)), goesOn(seat("A", 2)), { alive: [2] }],
    ["of the process that said it ends", gone, heard(seat("A", 1)), STAYS],
    ["of the session in another process since", gone, heard(seat("A", 2), GONE + 1), goesOn(seat("A", 2), GONE + 1)],
    ["of the session in another process until then", gone, heard(seat("A", 2), GONE), STAYS],
    ["of the session that was said to be gone", told, heard(seat("A", 2)), started(seat("A", 2), "resume")],
    ["of another session", present, heard(seat("B", 2)), STAYS],
    ["of another session while this one may return", gone, heard(seat("B", 2), LATER - 1), STAYS],
    ["of another session after that", gone, heard(seat("B", 2)), restarted(seat("B", 2), "other")],
    ["where the end has no cause", { ...gone, cause: null }, heard(seat("B", 2)), restarted(seat("B", 2), KILLED)],
    ["of another after nobody came", { ...told, goneAtMs: LATER }, heard(seat("B", 2)), started(seat("B", 2), "seen")],
    ["where only a file was known", fromFile, heard(seat("B", 2)), goesOn(seat("B", 2))],
    ["of another that only a file names", fromFile, heard(seat("B", 0)), STAYS, { alive: [0] }],
    ["where only a file was known that ended", { ...fromFile, goneAtMs: LATER }, heard(seat("B", 2)), STAYS],
  ]),
)("a hook: %s", (_, one) => check(one))

const left: Verdict = { post: { ...present, goneAtMs: LATER, cause: "logout" } }
test.each(
  cases([
    ["of the session", present, ended("A", 1), left],
    ["of the session, the process unknown", present, ended("A", 0), left],
    [
      "of the session, only known from a file",
      fromFile,
      ended("A", 1),
      { post: { ...left.post!, pid: 0, processStart: null } },
    ],
    ["of the session in another process", present, ended("A", 2), STAYS],
    ["of another session in its process", present, ended("B", 1), STAYS],
    ["a second time", gone, ended("A", 1), STAYS],
    ["from before it began", present, ended("A", 1, NOW - 1), STAYS],
    ["in the moment it began", present, ended("A", 1, NOW), { post: { ...left.post!, goneAtMs: NOW } }],
  ]),
)("an end: %s", (_, one) => check(one))

const unnoticed: Post = { ...gone, cause: KILLED }
test.each(
  cases([
    ["it lives", present, looked([seat("A", 1)]), STAYS],
    ["another beside it", present, looked([seat("A", 1), seat("B", 2)]), STAYS],
    ["another in its process", present, looked([seat("B", 1)]), restarted(seat("B", 1), "switched")],
    ["another in its process, beside it", present, looked([seat("B", 1)]), STAYS, { isBeside: true }],
    ["both in its process", present, looked([seat("A", 1), seat("B", 1)]), STAYS],
    ["another process, its own still there", present, looked([seat("B", 2)]), STAYS],
    ["it has died", present, looked([]), { post: { ...present, goneAtMs: LATER, cause: KILLED } }, { alive: [] }],
    ["it lives elsewhere", present, looked([seat("A", 2)]), goesOn(seat("A", 2)), { alive: [2] }],
    ["only a file knows it", fromFile, looked([]), STAYS, { alive: [] }],
    ["its process takes its time to end", gone, looked([seat("A", 1)], LATER - 1), STAYS],
    ["another, while it may return", gone, looked([seat("B", 2)], LATER - 1), STAYS],
    ["another, after that", gone, looked([seat("B", 2)]), restarted(seat("B", 2), "other")],
    [
      "another, the end having no cause",
      { ...gone, cause: null },
      looked([seat("B", 2)]),
      restarted(seat("B", 2), KILLED),
    ],
    [
      "another, nobody having come",
      { ...told, goneAtMs: LATER },
      looked([seat("B", 2)]),
      started(seat("B", 2), "seen"),
    ],
    ["nobody, which was said", told, looked([]), STAYS],
  ]),
)("a look: %s", (_, one) => check(one))

test("a process that took the number of the one before is another process", () => {
  const reused = { ...seat("B", 1), processStart: "later" }
  expect(verdict(present, began(reused, "startup"))).toEqual(STAYS)
  expect(verdict(present, looked([reused]))).toEqual(STAYS)
})

test("a process whose start is not known agrees with any start", () => {
  expect(verdict(present, began({ ...seat("B", 1), processStart: null }, "clear")).notice?.cause).toBe("clear")
  expect(verdict({ ...present, processStart: null }, began(seat("B", 1), "clear")).notice?.cause).toBe("clear")
})

test("a session that was killed is said to be gone once, one that ended each time in the same words", () => {
  const nobody = { old: seat("A", 1), new: null, atMs: LATER }
  expect(verdict(unnoticed, looked([]))).toEqual({
    post: { ...unnoticed, isTold: true },
    notice: { type: "session_restart", key: `restart:api:A:1:s1:${NOW}`, cause: KILLED, ...nobody },
  })
  expect(verdict(gone, looked([]))).toEqual({
    notice: { type: "session_ended", key: `ended:api:A:1:s1:${NOW}`, cause: "other", ...nobody },
  })
  expect(verdict({ ...gone, cause: null }, looked([])).notice?.cause).toBe("other")
  // Its process is still there: that is nobody who came in its place.
  expect(verdict(gone, looked([seat("A", 1)])).notice?.type).toBe("session_ended")
})

test.each(
  cases([
    ["the same name", fromFile, named("A"), STAYS],
    ["the same name after its end", { ...gone, pid: 1 }, named("A"), STAYS],
    ["another name", fromFile, named("x"), restarted(seat("x", 0), "session file", seat("A", 0))],
    ["another name while an agent with hooks is there", present, named("x"), STAYS],
    ["another name while that agent may return", gone, named("x", LATER - 1, LATER - 1), STAYS],
    ["another name while a session is seen", fromFile, looked([seat("B", 2)]), goesOn(seat("B", 2))],
    ["the same name of a session that is seen", fromFile, looked([seat("A", 1)]), goesOn(seat("A", 1))],
    ["nobody is seen beside it", fromFile, looked([]), STAYS],
    ["another name, written since", gone, named("x", GONE + 1), restarted(seat("x", 0), "other")],
    ["another name, written by the time it ended", gone, named("x", GONE), STAYS],
    ["another name, the end having no cause", { ...gone, cause: null }, named("x"), restarted(seat("x", 0), KILLED)],
  ]),
)("a session's file: %s", (_, one) => check(one))

test("what else is known of a live process is not written down", () => {
  const more = { ...seat("B", 2), isSteady: true, title: "not for the post" }
  const { post, notice } = verdict(undefined, began(more, "startup"))
  expect(Object.keys(post!).sort()).toEqual(Object.keys(present).sort())
  expect(notice!.new).toEqual(seat("B", 2))
})
