import { expect, test } from "vitest"
import { Failure } from "../../domain/failure.ts"
import type { Pair } from "../../domain/pair.ts"
import { loadConfig } from "../config/config.ts"
import { keepDeliveriesMs, pairKeeper } from "./pair-keeper.ts"

const pair: Pair = {
  ...{ id: "p-1", fromTeam: null, toTeam: "api", threadId: "main", platform: "claude-code", nativeId: "n" },
  ...{ isMade: true, madeAtMs: 1, status: "active", messageCount: 1, createdAtMs: 1, lastUsedAtMs: 1 },
}

/** A teams module that records each call, and rejects those it is told to reject. */
function stage({ refuses = {}, isOpen = false, isBusy = false, isKnown = true } = {}) {
  const told: string[] = []
  const keeper = pairKeeper({
    teams: {
      async control(caller, { operation, team, force }) {
        told.push(`${caller.surface} ${operation} ${team} ${force}`)
        const code = (refuses as Record<string, "agent_busy" | "bad_input" | "agent_failed">)[operation]
        if (code) throw new Failure(code, "no")
        return { changed: true, note: "", pair }
      },
      async whileAsleep({ toTeam }, work) {
        if (isBusy) throw new Failure("agent_busy", "no")
        told.push(`asleep ${toTeam}`)
        await work()
      },
    },
    records: { briefOf: async () => (isKnown ? "what was known" : undefined), isOpenElsewhere: async () => isOpen },
  })
  return { told, keeper }
}

test("a session that a person has open is left alone", async () => {
  const { told, keeper } = stage({ isOpen: true })
  expect([await keeper.compact(pair), await keeper.renew(pair, async () => {})]).toEqual(["busy", "busy"])
  expect(told).toEqual([])
})

test("nothing is forced: what is busy is busy, and what its agent cannot is told apart from what failed", async () => {
  const { told, keeper } = stage({ refuses: { compact: "agent_busy", sleep: "agent_busy" } })
  expect([await keeper.compact(pair), await keeper.rest(pair)]).toEqual(["busy", "busy"])
  expect(told).toEqual(["cli compact api false", "cli sleep api false"])
  expect(await stage({ refuses: { compact: "bad_input" } }).keeper.compact(pair)).toBe("unable")
  await expect(stage({ refuses: { compact: "agent_failed" } }).keeper.compact(pair)).rejects.toThrow("no")
})

test("a pair is marked to go on anew while its process sleeps, and not one of which nothing is known", async () => {
  const { told, keeper } = stage()
  const mark = async () => void told.push("marked")
  expect(await keeper.renew(pair, mark)).toBe("done")
  expect(told).toEqual(["asleep api", "marked"])
  expect(await stage({ isKnown: false }).keeper.renew(pair, mark)).toBe("unable")
  expect(await stage({ isBusy: true }).keeper.renew(pair, mark)).toBe("busy")
  expect(told).toHaveLength(2)
})

test("finished deliveries are stored for the configured time, and at least as long as their key can be used again", () => {
  const days = (...flags: string[]) =>
    keepDeliveriesMs(loadConfig({ path: "/nowhere/config.json", environment: {}, flags }).config) / (24 * 60 * 60_000)
  expect(days()).toBe(30)
  expect(days("queue.keepDays=90")).toBe(90)
  expect(days("queue.keepDays=0")).toBe(0)
  expect(days("queue.keepDays=7"), "what waits").toBe(30)
  const short = ["queue.keepDays=1", "queue.expireDays=1"]
  expect(days(...short), "what a messenger hands out again").toBe(2)
  expect(days(...short, "permissions.timeoutMinutes=10080"), "an approval request that can be answered").toBe(7)
  expect(days(...short, "queue.duplicateWindowSeconds=864000"), "a duplicate").toBe(10)
})
