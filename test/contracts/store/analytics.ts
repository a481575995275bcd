import { expect, test } from "vitest"
import { QUARTER_MS } from "../../../src/domain/analytics.ts"
import { PAIR_CHANNEL, pairLane } from "../../../src/domain/pair.ts"
import type { NewSession } from "../../../src/domain/session.ts"
import type { NewTurn, Store } from "../../../src/domain/store.ts"
import { addProject, addSession, leaseFor, NOW, newDelivery, range } from "./examples.ts"
import { newTurn } from "./turns.ts"

const ALL = { sinceMs: 0, untilMs: NOW * 2 }

export function analyticsContract(store: () => Store): void {
  /** A session as capture makes one: with its turns, and counted. */
  const talked = async (values: Partial<NewSession>, turns: [nativeId: string, values: Partial<NewTurn>][]) => {
    const { id } = await addSession(store(), { platform: "claude-code", ...values })
    await store().turns.put(turns.map(([nativeId, rest]) => newTurn(id, nativeId, rest)))
    await store().turns.recount([id])
    return id
  }

  test("what was used is summed by session and quarter of an hour, cost only where it is told", async () => {
    const quarter = Math.floor(NOW / QUARTER_MS) * QUARTER_MS
    const id = await talked({}, [
      ["a", { atMs: quarter }],
      ["b", { kind: "reply", atMs: quarter + 1, usage: { inputTokens: 5, outputTokens: 7, cachedTokens: 100 } }],
      ["c", { kind: "reply", atMs: quarter + 2, usage: { outputTokens: 3_000_000_000, costUsd: 0.25 } }],
      ["d", { atMs: quarter + QUARTER_MS }],
      ["e", { kind: "reply", atMs: quarter + QUARTER_MS + 5, usage: { inputTokens: 2 } }],
    ])
    const other = await talked({}, [["a", { atMs: quarter }]])
    expect(await store().analytics.spent([id], ALL)).toEqual([
      {
        sessionId: id,
        atMs: quarter,
        turns: 3,
        prompts: 1,
        inputTokens: 105,
        cachedTokens: 100,
        outputTokens: 3_000_000_007,
        costUsd: 0.25,
        firstAtMs: quarter,
        lastAtMs: quarter + 2,
      },
      {
        sessionId: id,
        atMs: quarter + QUARTER_MS,
        turns: 2,
        prompts: 1,
        inputTokens: 2,
        cachedTokens: 0,
        outputTokens: 0,
        costUsd: null,
        firstAtMs: quarter + QUARTER_MS,
        lastAtMs: quarter + QUARTER_MS + 5,
      },
    ])
    const then = { sinceMs: quarter + 1, untilMs: quarter + 2 }
    expect(await store().analytics.spent([id, other], then)).toMatchObject([{ turns: 1, prompts: 0, inputTokens: 105 }])
    expect(await store().analytics.spent([], ALL)).toEqual([])
  })

  test("what a fork took over counts in its original alone, and what was taken back was still paid for", async () => {
    const usage = { inputTokens: 10, outputTokens: 1 }
    const original = await talked({ nativeId: "one" }, [
      ["p1", {}],
      ["r1", { kind: "reply", usage }],
    ])
    const fork = await talked({ nativeId: "two" }, [
      ["p1", {}],
      ["r1", { kind: "reply", usage }],
      ["p2", {}],
      ["r2", { kind: "reply", usage }],
    ])
    const edge = { kind: "fork", parentPlatform: "claude-code", parentNativeId: "one", atMs: NOW } as const
    await store().sessions.addEdge(fork, edge)
    // An edge to itself must not make it vanish.
    await store().sessions.addEdge(original, { ...edge, kind: "resume" })
    await store().turns.supersedeFrom(original, { nativeId: "p1" }, NOW)
    const spent = await store().analytics.spent([original, fork], ALL)
    expect(spent.map(({ sessionId, prompts, inputTokens }) => [sessionId, prompts, inputTokens])).toEqual(
      expect.arrayContaining([
        [original, 0, 10],
        [fork, 1, 10],
      ]),
    )
    expect(spent).toHaveLength(2)
  })

  test("sessions are picked by time, project and agent, those in the archive too", async () => {
    const projectId = await addProject(store(), "web")
    const old = await talked({ createdAtMs: NOW - 50, title: "old", projectId }, [["a", { atMs: NOW - 40 }]])
    const young = await talked({ platform: "codex", createdAtMs: NOW, nativeId: "n" }, [["a", { atMs: NOW + 10 }]])
    await addSession(store(), { title: "in which nothing was said" })
    await store().sessions.update(old, { archivedAtMs: NOW })
    const ids = async (request: object) =>
      (await store().analytics.sessions({ ...ALL, ...request })).map(({ id }) => id)
    expect(await ids({})).toEqual([old, young])
    expect(await ids({ sinceMs: NOW })).toEqual([young])
    expect(await ids({ untilMs: NOW })).toEqual([old])
    expect(await ids({ platform: "codex" })).toEqual([young])
    expect(await ids({ projectId })).toEqual([old])
    expect(await store().analytics.sessions({ ...ALL, projectId })).toMatchObject([
      { platform: "claude-code", title: "old", rootUri: "file:///web" },
    ])
  })

  test("asks come with their answers, and pairs with all sessions that they had", async () => {
    const pair = {
      id: "p-1",
      fromTeam: "web",
      toTeam: "api",
      threadId: "main",
      platform: "codex",
      nativeId: "n2",
      isMade: true,
      madeAtMs: NOW,
      status: "active" as const,
      messageCount: 2,
      createdAtMs: NOW,
      lastUsedAtMs: NOW,
    }
    await store().pairs.ensure(pair)
    for (const n of range(2))
      await store().pairs.addSession({ pairId: "p-1", nativeId: `n${n + 1}`, sinceMs: NOW + n, why: "first" })
    const ask = (key: string) => newDelivery(key, { lane: pairLane("p-1"), channel: PAIR_CHANNEL })
    await store().deliveries.enqueue(ask("m-1"), NOW)
    await store().deliveries.enqueue(ask("m-2"), NOW + 5)
    await store().deliveries.enqueue(newDelivery("a1"), NOW)
    const [first] = await store().deliveries.lease(leaseFor("me", { channels: [PAIR_CHANNEL] }), NOW)
    await store().deliveries.settle(first!.seq, "me", "done", null, NOW)
    const answer = {
      nativeId: "n2",
      atMs: NOW + 9,
      durationMs: 5_000_000_000,
      inputTokens: 3,
      outputTokens: 4,
      costUsd: 0.5,
    }
    await store().pairs.answer({ ...answer, messageId: "m-1", pairId: "p-1", text: "yes", isContextNew: false })
    const asks = await store().analytics.asks(ALL)
    expect(asks).toEqual([
      { messageId: "m-1", pairId: "p-1", state: "done", askedAtMs: NOW, answer },
      { messageId: "m-2", pairId: "p-1", state: "queued", askedAtMs: NOW + 5, answer: null },
    ])
    expect(await store().analytics.asks({ sinceMs: NOW + 1, untilMs: NOW + 5 })).toEqual([])
    expect(await store().analytics.pairSessions()).toEqual([
      { pairId: "p-1", platform: "codex", nativeId: "n1" },
      { pairId: "p-1", platform: "codex", nativeId: "n2" },
    ])
  })

  test("a session carries what was read and written last, and the prompts, since its context was made new", async () => {
    const reply = (atMs: number, inputTokens: number) => ({ kind: "reply" as const, atMs, usage: { inputTokens } })
    const id = await talked({}, [
      ["a", { atMs: NOW }],
      ["b", reply(NOW + 1, 900)],
      ["c", { atMs: NOW + 2 }],
      ["d", { kind: "reply", atMs: NOW + 3, usage: { inputTokens: 10, cachedTokens: 990, outputTokens: 5 } }],
      // The rest of the same message: what was read was told before.
      ["e", { kind: "tool_call", atMs: NOW + 4, usage: { outputTokens: 40 } }],
    ])
    expect(await store().analytics.load(id)).toEqual({ prompts: 2, tokens: 1005, atMs: NOW + 3 })
    await store().turns.put([newTurn(id, "r", { kind: "reset", atMs: NOW + 5 })])
    expect(await store().analytics.load(id)).toEqual({ prompts: 0, tokens: null, atMs: null })
    await store().turns.put([newTurn(id, "f", { atMs: NOW + 6 }), newTurn(id, "g", reply(NOW + 7, 50))])
    expect(await store().analytics.load(id)).toEqual({ prompts: 1, tokens: 50, atMs: NOW + 7 })
  })
}
