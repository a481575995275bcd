import { describe, expect, test } from "vitest"
import type { Presence } from "../../../src/domain/presence.ts"
import type { Store } from "../../../src/domain/store.ts"
import type { NewUpdate } from "../../../src/domain/update.ts"
import { addProject, addSession, leaseFor, leaseOne, NOW, newDelivery } from "./examples.ts"

/** What messages for agents need beside deliveries: twins, states after delivery, routes, presences, updates, task states. */
export function queueContract(store: () => Store): void {
  const byKey = async (key: string) => (await store().deliveries.byKey(key))!

  describe("deliveries that are messages", () => {
    test("a twin is one of the same fingerprint in the window that neither failed nor was cancelled", async () => {
      await store().deliveries.enqueue(newDelivery("a1", { fingerprint: "f" }), NOW)
      expect(await store().deliveries.twin("f", NOW)).toMatchObject({ key: "a1", fingerprint: "f" })
      expect(await store().deliveries.twin("f", NOW + 1)).toBeUndefined()
      expect(await store().deliveries.twin("g", NOW)).toBeUndefined()
      expect(await store().deliveries.move((await byKey("a1")).seq, ["queued"], "cancelled", "by hand", NOW)).toBe(true)
      expect(await store().deliveries.twin("f", NOW)).toBeUndefined()
    })

    test("an attempt says which session it tries and how, and is under way there until it is done", async () => {
      const { id } = await addSession(store())
      await store().deliveries.enqueue(newDelivery("a1"), NOW)
      const seq = await leaseOne(store(), "me")
      expect(await store().deliveries.underWay(id)).toEqual([])
      await store().deliveries.startAttempt(seq, "me", NOW, { sessionId: id, route: "pane" })
      const keys = async () =>
        (await store().deliveries.underWay(id)).map(({ key, state, route }) => [key, state, route])
      expect(await keys()).toEqual([["a1", "queued", "pane"]])
      await store().deliveries.settle(seq, "me", "delivered", null, NOW)
      expect(await keys()).toEqual([["a1", "delivered", "pane"]])
      expect(await store().deliveries.move(seq, ["seen"], "running", null, NOW)).toBe(false)
      expect(await store().deliveries.move(seq, ["delivered", "seen"], "running", null, NOW + 1)).toBe(true)
      expect(await keys()).toEqual([["a1", "running", "pane"]])
      expect(await store().deliveries.move(seq, ["running"], "done", null, NOW + 2)).toBe(true)
      expect(await keys()).toEqual([])
      expect(await byKey("a1")).toMatchObject({ state: "done", settledAtMs: NOW + 2 })
    })

    test("what was fetched is found by the call that fetched it, once it is settled", async () => {
      for (const key of ["a1", "b1", "c1"]) await store().deliveries.enqueue(newDelivery(key), NOW)
      const leased = await store().deliveries.lease(leaseFor("me", { limit: 9 }), NOW)
      const way = { sessionId: null, route: "pull" as const }
      for (const { seq, key } of leased)
        await store().deliveries.startAttempt(seq, "me", NOW, { ...way, fetchKey: key === "c1" ? "other" : "call" })
      expect(await store().deliveries.fetchedUnder("call")).toEqual([])
      for (const { seq } of leased) await store().deliveries.settle(seq, "me", "delivered", null, NOW)
      expect(await store().deliveries.fetchedUnder("call")).toMatchObject([
        { key: "a1", sessionId: null, route: "pull", fetchKey: "call" },
        { key: "b1" },
      ])
      await store().deliveries.move(leased[0]!.seq, ["delivered"], "done", null, NOW)
      expect(await store().deliveries.fetchedUnder("call")).toHaveLength(2)
    })

    test("one that somebody is at is not moved from under them", async () => {
      await store().deliveries.enqueue(newDelivery("a1"), NOW)
      const seq = await leaseOne(store(), "me")
      expect(await store().deliveries.move(seq, ["queued"], "cancelled", null, NOW)).toBe(false)
      await store().deliveries.retry(seq, "me", NOW, "busy")
      expect(await store().deliveries.move(seq, ["queued"], "cancelled", null, NOW)).toBe(true)
    })

    test("lanes can be named that are leased from, and lanes that are left alone", async () => {
      for (const key of ["a1", "b1", "c1"]) await store().deliveries.enqueue(newDelivery(key), NOW)
      const leased = async (request: object) =>
        (await store().deliveries.lease(leaseFor("me", { limit: 9, ...request }), NOW)).map(({ key }) => key)
      expect(await leased({ exceptLanes: ["a", "c"] })).toEqual(["b1"])
      expect(await leased({ lanes: ["b", "c"] })).toEqual(["c1"])
      expect(await leased({})).toEqual(["a1"])
    })

    test("those whose time ran out are named when they are settled, but none that somebody is at", async () => {
      for (const key of ["a1", "b1", "c1"])
        await store().deliveries.enqueue(newDelivery(key, { expiresAtMs: NOW + (key === "c1" ? 9 : 1) }), NOW)
      await store().deliveries.lease(leaseFor("me", { lanes: ["a"] }), NOW)
      expect(await store().deliveries.expire("other", NOW + 1)).toEqual([])
      expect(await store().deliveries.expire("mail", NOW + 1)).toMatchObject([{ key: "b1", state: "expired" }])
      expect(await store().deliveries.expire("mail", NOW + 1)).toEqual([])
    })

    test("lanes are listed in order, by state, and counted", async () => {
      for (const key of ["a1", "b1", "a2", "c1"]) await store().deliveries.enqueue(newDelivery(key), NOW)
      const keys = async (...request: Parameters<Store["deliveries"]["ofLanes"]>) =>
        (await store().deliveries.ofLanes(...request)).map(({ key }) => key)
      expect(await keys(["a", "b"])).toEqual(["a1", "b1", "a2"])
      expect(await keys(["a", "b"], { last: 2 })).toEqual(["b1", "a2"])
      expect(await keys(["a", "b"], { first: 2 })).toEqual(["a1", "b1"])
      const [first] = await store().deliveries.lease(leaseFor("me", { limit: 1 }), NOW)
      await store().deliveries.settle(first!.seq, "me", "done", null, NOW)
      expect(await keys(["a"], { states: ["done"] })).toEqual(["a1"])
      expect(await keys([])).toEqual([])
      const counts = await store().deliveries.counts("mail")
      expect(counts.find(({ lane, state }) => lane === "a" && state === "queued")?.count).toBe(1)
      expect(counts.find(({ lane, state }) => lane === "a" && state === "done")?.count).toBe(1)
      expect(await store().deliveries.counts("other")).toEqual([])
    })
  })

  test("those of a channel are listed by their states, in order", async () => {
    for (const key of ["a1", "b1", "a2"]) await store().deliveries.enqueue(newDelivery(key), NOW)
    await store().deliveries.enqueue(newDelivery("c1", { channel: "other" }), NOW)
    for (const key of ["a1", "b1"])
      await store().deliveries.move((await byKey(key)).seq, ["queued"], key === "a1" ? "seen" : "running", null, NOW)
    const keys = async (...request: Parameters<Store["deliveries"]["ofChannel"]>) =>
      (await store().deliveries.ofChannel(...request)).map(({ key }) => key)
    expect(await keys("mail", ["running", "seen"])).toEqual(["a1", "b1"])
    expect(await keys("mail", ["queued"])).toEqual(["a2"])
    expect(await keys("other", ["running", "seen"])).toEqual([])
  })

  describe("what is forgotten", () => {
    const texts = async (...lanes: string[]) =>
      (await store().deliveries.ofLanes(lanes)).map(({ payload, state }) => [payload.text, state])

    test("takes the words out of what holds them, and cancels what waits", async () => {
      await store().deliveries.enqueue(newDelivery("a1", { payload: { text: 'my "secret" word', team: "a" } }), NOW)
      await store().deliveries.enqueue(newDelivery("b1", { payload: { text: "no such thing", team: "b" } }), NOW)
      await store().deliveries.enqueue(newDelivery("c1", { payload: { text: 'a "secret" of old', team: "c" } }), NOW)
      await store().deliveries.move((await byKey("c1")).seq, ["queued"], "done", null, NOW)
      const cancelled = await store().deliveries.forget({ containing: '"secret"' }, NOW + 1)
      expect(cancelled.map(({ key }) => key)).toEqual(["a1"])
      expect(await texts("a", "b", "c")).toEqual([
        ["", "cancelled"],
        ["no such thing", "queued"],
        ["", "done"],
      ])
      expect((await byKey("a1")).payload).toEqual({ text: "", team: "a" })
    })

    test("takes the words also out of what is to be said in a messenger", async () => {
      const payload = { kind: "note", topicId: "t", body: { text: "my secret", marks: [] }, isPing: true }
      await store().deliveries.enqueue(newDelivery("a1", { payload }), NOW)
      await store().deliveries.forget({ containing: "secret" }, NOW + 1)
      expect(await byKey("a1")).toMatchObject({ state: "cancelled", payload: { kind: "note", topicId: "t" } })
      expect(JSON.stringify(await byKey("a1"))).not.toContain("secret")
    })

    test("is picked by session, by project and by time", async () => {
      const projectId = await addProject(store(), "p")
      const { id } = await addSession(store(), { projectId })
      for (const key of ["a1", "b1"]) {
        await store().deliveries.enqueue(newDelivery(key, { payload: { text: key } }), NOW)
      }
      const seq = (await store().deliveries.lease(leaseFor("me", { limit: 1 }), NOW))[0]!.seq
      await store().deliveries.startAttempt(seq, "me", NOW, { sessionId: id, route: "pane" })
      await store().deliveries.forget({ sessionIds: [] }, NOW)
      await store().deliveries.forget({ projectId: await addProject(store(), "other") }, NOW)
      await store().deliveries.forget({ sinceMs: NOW + 1 }, NOW)
      expect((await texts("a", "b")).map(([text]) => text)).toEqual(["a1", "b1"])
      await store().deliveries.forget({ projectId }, NOW)
      expect(await texts("a", "b")).toEqual([
        ["", "queued"],
        ["b1", "queued"],
      ])
      await store().deliveries.rewrite(seq, { text: "again" })
      await store().deliveries.forget({ sessionIds: [id] }, NOW)
      expect((await texts("a", "b")).map(([text]) => text)).toEqual(["", "b1"])
      await store().deliveries.forget({ untilMs: NOW + 1 }, NOW)
      expect((await texts("b")).map(([text]) => text)).toEqual([""])
    })

    test("is also what somebody wrote in a chat and what is to be shown there", async () => {
      const words = { text: "the password", marks: [] }
      await store().deliveries.enqueue(newDelivery("a1", { payload: { raw: { message: words }, bot: "b" } }), NOW)
      await store().deliveries.enqueue(newDelivery("b1", { payload: { body: words, kind: "note" } }), NOW)
      expect(await store().deliveries.forget({ containing: "the password" }, NOW)).toHaveLength(2)
      expect((await byKey("a1")).payload).toEqual({ raw: null, bot: "b", text: "" })
      expect((await byKey("b1")).payload).toEqual({ body: { text: "", marks: [] }, kind: "note", text: "" })
    })

    test("is reworded only while no worker has it, if the caller requires that", async () => {
      await store().deliveries.enqueue(newDelivery("a1", { payload: { text: "first" } }), NOW)
      const { seq } = (await store().deliveries.byKey("a1"))!
      const rewrite = (text: string, atMs: number) => store().deliveries.rewrite(seq, { text }, { ifWaitingAtMs: atMs })
      expect(await rewrite("second", NOW)).toBe(true)
      const [leased] = await store().deliveries.lease(leaseFor("me", { limit: 1, leaseMs: 10 }), NOW)
      expect(leased!.payload).toEqual({ text: "second" })
      expect(await rewrite("third", NOW)).toBe(false)
      expect(await rewrite("third", NOW + 10)).toBe(true)
      await store().deliveries.startAttempt(seq, "me", NOW)
      expect(await rewrite("fourth", NOW + 10)).toBe(false)
      expect((await store().deliveries.byKey("a1"))!.payload).toEqual({ text: "third" })
    })

    test("is also what waits for a session and went to none yet, urgent or not", async () => {
      const waiting = async (lane: string) => {
        await store().deliveries.enqueue(newDelivery(lane, { lane, payload: { text: "words" } }), NOW)
        return lane
      }
      const projectId = await addProject(store(), "p")
      const [one, two, other] = [
        await addSession(store(), { projectId }),
        await addSession(store(), { projectId }),
        await addSession(store()),
      ]
      await waiting("team:api")
      const suffixes = ["", "!urgent", "!stop", "!typed", "!urgent!typed", "!stop!typed"]
      const lanes = [one, two, other].flatMap(({ id }) => suffixes.map((suffix) => `session:${id}${suffix}`))
      for (const lane of lanes) await waiting(lane)
      const forgotten = async (request: Parameters<Store["deliveries"]["forget"]>[0]) =>
        (await store().deliveries.forget(request, NOW)).map(({ key }) => key).sort()
      expect(await forgotten({ sessionIds: [one.id] })).toEqual(lanes.slice(0, 6).sort())
      expect(await forgotten({ projectId })).toEqual(lanes.slice(6, 12).sort())
      expect((await byKey("team:api")).state).toBe("queued")
    })

    test("is gone from updates too", async () => {
      const update = (key: string, data: object, atMs = NOW) =>
        ({
          team: "api",
          key,
          type: "announcement",
          messageId: null,
          sessionId: null,
          turnSeq: null,
          data,
          atMs,
        }) as NewUpdate
      await store().updates.add([update("1", { task: "the\nsecret" }), update("2", { task: "x" }, NOW + 5)])
      expect(await store().updates.forget({ containing: "the\nsecret" })).toBe(1)
      expect(await store().updates.forget({ untilMs: NOW + 5 })).toBe(0)
      expect(await store().updates.forget({ sinceMs: NOW + 5 })).toBe(1)
    })
  })

  test("routes are known by session, host and process, newest first, and end with the session", async () => {
    const { id } = await addSession(store(), { platform: "claude-code", nativeId: "n" })
    const pane = { socket: "/s", serverPid: 1, serverStart: 2, pane: "%3", panePid: 4 }
    const route = { sessionId: id, host: "here", pid: 7, processStart: "77", pane, seenAtMs: NOW }
    await store().routes.put(route)
    await store().routes.put({ ...route, pid: 8, pane: null, seenAtMs: NOW + 1 })
    await store().routes.put({ ...route, processStart: "78" })
    expect(await store().routes.ofSession(id)).toEqual([
      { ...route, pid: 8, pane: null, seenAtMs: NOW + 1, platform: "claude-code", nativeId: "n" },
      { ...route, processStart: "78", platform: "claude-code", nativeId: "n" },
    ])
    expect(await store().routes.list("here")).toHaveLength(2)
    expect(await store().routes.list("there")).toEqual([])
    await store().routes.drop(id, "here", 7)
    expect(await store().routes.ofSession(id)).toHaveLength(1)
    await store().forgetting.session(id, NOW)
    expect(await store().routes.list("here")).toEqual([])
  })

  test("a presence is put, found and supervised", async () => {
    const { id } = await addSession(store())
    const presence: Presence = {
      team: "api",
      host: "here",
      sessionId: id,
      nativeId: "n",
      pid: 7,
      processStart: "77",
      sinceMs: NOW,
      goneAtMs: null,
      cause: null,
      isTold: false,
      isSupervised: false,
    }
    await store().presence.put(presence)
    await store().presence.setSupervised("api", true, NOW + 1, "here")
    expect(await store().presence.byTeam("api")).toEqual({ ...presence, isSupervised: true })
    const gone = { ...presence, goneAtMs: NOW + 2, cause: "killed", isTold: true, isSupervised: true }
    await store().presence.put({ ...gone, isSupervised: false })
    await store().presence.setSupervised("web", true, NOW, "here")
    expect(await store().presence.list()).toMatchObject([
      gone,
      { team: "web", sessionId: null, pid: 0, isSupervised: true },
    ])
    expect(await store().presence.byTeam("nobody")).toBeUndefined()
  })

  test("an update is there once under its key, and read again from a number or a time", async () => {
    const update = (key: string, atMs: number, values: Partial<NewUpdate> = {}): NewUpdate => ({
      team: "api",
      key,
      type: "reply",
      messageId: null,
      sessionId: null,
      turnSeq: 5_000_000_000,
      data: { n: 1 },
      atMs,
      ...values,
    })
    expect(await store().updates.add([update("1", NOW), update("2", NOW + 5), update("1", NOW + 9)])).toBe(2)
    expect(await store().updates.add([update("3", NOW + 6, { team: "web" })])).toBe(1)
    expect(await store().updates.add([])).toBe(0)
    const all = await store().updates.after("api", { limit: 9 })
    expect(all).toMatchObject([update("1", NOW), update("2", NOW + 5)])
    const keys = async (request: Parameters<Store["updates"]["after"]>[1]) =>
      (await store().updates.after("api", request)).map(({ key }) => key)
    expect(await keys({ afterSeq: all[0]!.seq, limit: 9 })).toEqual(["2"])
    expect(await keys({ sinceMs: NOW, limit: 9 })).toEqual(["2"])
    expect(await keys({ types: ["session_restart"], limit: 9 })).toEqual([])
    expect(await keys({ limit: 1 })).toEqual(["1"])
    expect(await keys({ limit: 1, newest: true })).toEqual(["2"])
    expect(await keys({ limit: 9, newest: true })).toEqual(["1", "2"])
    expect(await store().updates.last("api")).toBe(all[1]!.seq)
    expect(await store().updates.last("nobody")).toBe(0)
  })

  test("the state of a task is one for each session, the newest of the project, and cleared", async () => {
    const projectId = await addProject(store(), "p")
    const state = {
      projectId,
      nativeSessionId: "a",
      currentTask: "fix the DNS",
      currentTaskId: "m-1",
      lastCompletedStep: "2",
      pendingMessages: ["m-2"],
      updatedAtMs: NOW,
    }
    await store().taskStates.put(state)
    const later = { ...state, nativeSessionId: "b", lastCompletedStep: null, pendingMessages: [], updatedAtMs: NOW + 1 }
    await store().taskStates.put(later)
    expect(await store().taskStates.get(projectId, "a")).toEqual(state)
    expect(await store().taskStates.get(projectId)).toEqual(later)
    await store().taskStates.put({ ...state, lastCompletedStep: "3", updatedAtMs: NOW + 2 })
    expect(await store().taskStates.get(projectId)).toMatchObject({ nativeSessionId: "a", lastCompletedStep: "3" })
    const other = { ...state, projectId: await addProject(store(), "q"), updatedAtMs: NOW }
    await store().taskStates.put(other)
    for (const lastCompletedStep of [2, 0, -1.5, 1e21, "2", "", "NaN", null]) {
      await store().taskStates.put({ ...other, lastCompletedStep })
      expect((await store().taskStates.get(other.projectId))!.lastCompletedStep).toBe(lastCompletedStep)
    }
    await store().taskStates.put(other)
    expect(await store().taskStates.forget({ containing: "no such words" })).toBe(0)
    expect(await store().taskStates.forget({ projectId, sinceMs: NOW + 3 })).toBe(0)
    expect(await store().taskStates.forget({ containing: "the DNS", untilMs: NOW + 1 })).toBe(1)
    expect(await store().taskStates.get(other.projectId)).toBeUndefined()
    expect(await store().taskStates.clear(projectId, "a")).toBe(1)
    expect(await store().taskStates.get(projectId)).toEqual(later)
    expect(await store().taskStates.clear(projectId)).toBe(1)
    expect(await store().taskStates.get(projectId)).toBeUndefined()
  })
}
