import { expect, test } from "vitest"
import { Failure } from "../domain/failure.ts"
import type { Pair } from "../domain/pair.ts"
import { pairKeeper } from "./pair-keeper.ts"

const pair: Pair = {
  ...{ id: "p-1", fromTeam: null, toTeam: "api", threadId: "main", platform: "claude-code", nativeId: "n" },
  ...{ isMade: true, madeAtMs: 1, status: "active", messageCount: 1, createdAtMs: 1, lastUsedAtMs: 1 },
}

/** A teams' room that writes down what it is told, and refuses what it is to refuse. */
function stage({ refuses = {}, isOpen = false, status = "done" as "done" | "failed" } = {}) {
  const told: string[] = []
  const keeper = pairKeeper({
    teams: {
      async control(caller, { operation, team, force }) {
        told.push(`${caller.surface} ${operation} ${team} ${force}`)
        const code = (refuses as Record<string, "agent_busy" | "bad_input" | "agent_failed">)[operation]
        if (code) throw new Failure(code, "no")
        return { changed: true, note: "", pair }
      },
      async ask(_caller, { team, text }) {
        told.push(`ask ${team}: ${text.split("\n").at(-1)}`)
        const rest = { messageId: "m", from: null, to: team, threadId: "main", answer: "ok", sessionId: "n2" }
        return { ...rest, status, isContextNew: true, durationMs: 1, reason: null }
      },
    },
    records: { briefOf: async () => "what was known", isOpenElsewhere: async () => isOpen },
  })
  return { told, keeper }
}

test("a session that a person has open is left alone", async () => {
  const { told, keeper } = stage({ isOpen: true })
  expect([await keeper.compact(pair), await keeper.renew(pair)]).toEqual(["busy", "busy"])
  expect(told).toEqual([])
})

test("nothing is forced: what is busy is busy, and what its agent cannot is told apart from what failed", async () => {
  const { told, keeper } = stage({ refuses: { compact: "agent_busy", reset: "bad_input", sleep: "agent_busy" } })
  expect([await keeper.compact(pair), await keeper.renew(pair), await keeper.rest(pair)]).toEqual([
    "busy",
    "unable",
    "busy",
  ])
  expect(told).toEqual(["cli compact api false", "cli reset api false", "cli sleep api false"])
  await expect(stage({ refuses: { compact: "agent_failed" } }).keeper.compact(pair)).rejects.toThrow("no")
})

test("a new session reads the brief before anything else, and one that has not is a failure", async () => {
  const { told, keeper } = stage()
  expect(await keeper.renew(pair)).toBe("done")
  expect(told).toEqual(["cli reset api false", "ask api: what was known"])
  await expect(stage({ status: "failed" }).keeper.renew(pair)).rejects.toThrow(/has not read its brief/)
})
