import { describe, expect, test } from "vitest"
import { because, plainWords, REASONS, type ReasonCode, reasonIn, shownReason, workedOnBy, workerIn } from "./reason.ts"

/** Of how it is built, and names of tools that people do not have. */
const INTERNAL =
  /dispatcher|desk|ladder|rung|lane\b|lease|parking|waiter\b|nobody|foundling|pool\b|follower|outcome|pull_updates|queue_status|undefined|null|\bpid\b|process \d/i
const SPECIAL = /[_{}<>]|[a-z][A-Z]|^[A-Z](?!hroughline)|[.;]$/

describe("every reason", () => {
  for (const code of Object.keys(REASONS) as ReasonCode[])
    test(`is in plain words: ${code}`, () => {
      const say = REASONS[code] as (...values: string[]) => string
      const words = say("shop")
      expect(words, "says something").not.toBe("")
      expect(words).not.toMatch(INTERNAL)
      expect(words, "goes on in a sentence").not.toMatch(SPECIAL)
      expect(words.length, "fits on a line of a phone or two").toBeLessThan(110)
    })

  test("has words of its own, but for those that others chose", () => {
    const said = Object.values(REASONS).map((say) => (say as (value: string) => string)("shop"))
    const given = said.filter((words) => words === "shop")
    expect(given).toHaveLength(3)
    expect(new Set(said).size).toBe(said.length - given.length + 1)
  })

  test("is made with its words", () => {
    expect(because("session_ended")).toEqual({ code: "session_ended", words: "the session has ended" })
    expect(because("pool_full", "4").words).toBe("all 4 allowed processes are busy")
  })
})

describe("the words that are kept", () => {
  const own = (Object.keys(REASONS) as ReasonCode[]).filter(
    (code) => !["refused", "agent_said", "failed"].includes(code),
  )
  // Which of two says a state does not matter: nothing waits for either.
  const same = { state_is_already: "state_is" } as Partial<Record<ReasonCode, ReasonCode>>
  for (const code of own)
    test(`tell which reason it was, and its values: ${code}`, () => {
      const say = REASONS[code] as (...values: string[]) => string
      const found = reasonIn(say("a (b) $1"))
      expect(found?.code).toBe(same[code] ?? code)
      if (say.length > 0 && !same[code]) expect(found?.values).toEqual(["a (b) $1"])
    })

  test("of somebody else are no reason of ours", () => {
    expect(reasonIn("the disk is full")).toBeUndefined()
    expect(reasonIn("")).toBeUndefined()
  })
})

describe("what an agent waits for", () => {
  test.each([
    ["waitingOnApproval", "waiting on approval"],
    ["permission_prompt", "permission prompt"],
    ["permission prompt", "permission prompt"],
    ["Do you want to proceed?", "Do you want to proceed?"],
  ])("%s is said as %s", (name, words) => {
    expect(plainWords(name)).toBe(words)
    expect(because("agent_waits", name).words).toBe(`the agent is waiting for its user (${words})`)
  })
})

test("which process has a question is known to us, and not shown", () => {
  const outcome = workedOnBy(10_835, "738874")
  expect(workerIn(outcome)).toEqual({ pid: 10_835, start: "738874" })
  expect(shownReason(outcome)).toBe("the agent is working on it")
  expect(shownReason("the agent is busy")).toBe("the agent is busy")
  expect(shownReason(null)).toBeNull()
  expect(workerIn("the agent is busy")).toBeUndefined()
  expect(workerIn('{"pid":"10835"}')).toBeUndefined()
  expect(workerIn("{ not JSON")).toBeUndefined()
})
