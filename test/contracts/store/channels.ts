import { expect, test } from "vitest"
import type { TopicChange } from "../../../src/domain/channel-store.ts"
import type { Store } from "../../../src/domain/store.ts"
import type { Topic } from "../../../src/domain/topic.ts"
import { addSession, NOW } from "./examples.ts"

/** Topics, bots, people, budgets and roles. */
export function channelsContract(store: () => Store): void {
  const topic = (over: Partial<Topic>): Topic => ({
    id: "t1",
    channel: "telegram",
    home: "here",
    chatId: "-100",
    threadId: null,
    sessionId: null,
    name: "host • project • title",
    state: "wanted",
    verbosity: "normal",
    isMuted: false,
    sharedThreadId: null,
    makingAtMs: null,
    unconfirmed: 0,
    progressMessage: null,
    createdAtMs: NOW,
    usedAtMs: NOW,
    ...over,
  })

  test("a session has one topic in a chat, whoever wants it first, until that is gone", async () => {
    const { id: sessionId } = await addSession(store())
    const wanted = await Promise.all(["a", "b", "c"].map((id) => store().topics.ensure(topic({ id, sessionId }))))
    expect(new Set(wanted.map(({ id }) => id)).size).toBe(1)
    const [first] = wanted
    expect(first).toEqual(topic({ id: first!.id, sessionId }))
    expect((await store().topics.ensure(topic({ id: "d", sessionId, chatId: "-200" }))).id).toBe("d")
    expect(await store().topics.change(first!.id, { state: "gone", threadId: 7 })).toBe(true)
    expect((await store().topics.ensure(topic({ id: "e", sessionId, createdAtMs: NOW + 1 }))).id).toBe("e")
    expect((await store().topics.ofSession(sessionId)).map(({ id }) => id)[0]).toBe("e")
    expect(await store().topics.ofSession(sessionId)).toHaveLength(3)
  })

  test("equal thread ids of two chats are two topics", async () => {
    const [one, two] = [await addSession(store(), { nativeId: "n1" }), await addSession(store(), { nativeId: "n2" })]
    await store().topics.ensure(topic({ id: "a", sessionId: one.id, threadId: 42, state: "open" }))
    await store().topics.ensure(topic({ id: "b", sessionId: two.id, chatId: "-200", threadId: 42, state: "open" }))
    expect((await store().topics.byThread("telegram", "-100", 42))?.id).toBe("a")
    expect((await store().topics.byThread("telegram", "-200", 42))?.id).toBe("b")
    expect(await store().topics.byThread("telegram", "-300", 42)).toBeUndefined()
    await store().topics.moveChat("telegram", "-100", "-300")
    expect((await store().topics.byThread("telegram", "-300", 42))?.id).toBe("a")
  })

  test("what changes in a topic is all of it, and only from the states that were named", async () => {
    const { id: sessionId } = await addSession(store())
    await store().topics.ensure(topic({ sessionId }))
    const change: TopicChange = {
      threadId: 9,
      name: "n",
      state: "open",
      verbosity: "quiet",
      isMuted: true,
      makingAtMs: NOW,
      unconfirmed: 2,
      progressMessage: { messageId: 3, seqs: [8, 9], cut: 1 },
      usedAtMs: NOW + 5,
      chatId: "-7",
    }
    expect(await store().topics.change("t1", change, ["open"])).toBe(false)
    expect(await store().topics.change("t1", change, ["wanted"])).toBe(true)
    expect(await store().topics.byId("t1")).toEqual(topic({ sessionId, ...change }))
    await store().topics.change("t1", { progressMessage: null, makingAtMs: null })
    expect(await store().topics.byId("t1")).toMatchObject({ progressMessage: null, makingAtMs: null, name: "n" })
    expect((await store().topics.list({ channel: "telegram", states: ["open"] })).map(({ id }) => id)).toEqual(["t1"])
    expect(await store().topics.list({ channel: "telegram", states: ["wanted"] })).toEqual([])
    expect(await store().topics.list({ channel: "other" })).toEqual([])
  })

  test("a group that became another one is known as that, and once more, and in its own messenger only", async () => {
    const now = (channel: string, chatId: string) => store().topics.chatNow(channel, chatId)
    expect(await now("telegram", "-1")).toBe("-1")
    await store().topics.moveChat("telegram", "-1", "-2")
    await store().topics.moveChat("telegram", "-1", "-2")
    await store().topics.moveChat("telegram", "-2", "-3")
    expect(await now("telegram", "-1")).toBe("-3")
    expect(await now("other", "-1")).toBe("-1")
    await store().topics.moveChat("telegram", "-3", "-1")
    expect(await now("telegram", "-1"), "it ends also where they form a cycle").toBe("-3")
  })

  test("the ledger outlives a session that is forgotten", async () => {
    const { id: sessionId } = await addSession(store())
    await store().topics.ensure(topic({ sessionId, threadId: 5, state: "open" }))
    await store().forgetting.session(sessionId, NOW)
    expect(await store().topics.byId("t1")).toMatchObject({ sessionId: null, threadId: 5 })
  })

  test("a session that moves to another chat takes its row along, leaves its topic in the ledger, and finds it again", async () => {
    const { id: sessionId } = await addSession(store())
    const first = await store().topics.ensure(topic({ sessionId, threadId: 5, state: "open" }))
    const there = { chatId: "-200", sharedThreadId: null }
    const moved = await store().topics.relocate(first, there, "left1")
    expect(moved).toMatchObject({ id: "t1", chatId: "-200", threadId: null, state: "wanted" })
    expect(await store().topics.byThread("telegram", "-100", 5)).toMatchObject({
      id: "left1",
      sessionId,
      state: "left",
    })
    expect(await store().topics.change("t1", { threadId: 9 }, undefined, "-100"), "of another chat").toBe(false)
    await store().topics.change("t1", { threadId: 9, state: "open" }, undefined, "-200")
    const shared = await store().topics.relocate(
      (await store().topics.byId("t1"))!,
      { chatId: "-300", sharedThreadId: 7 },
      "left2",
    )
    expect(shared).toMatchObject({ threadId: null, sharedThreadId: 7, state: "open" })
    const back = await store().topics.relocate(shared, { chatId: "-100", sharedThreadId: null }, "left3")
    expect(back).toMatchObject({ id: "t1", chatId: "-100", threadId: 5, state: "open" })
    expect(await store().topics.byId("t1")).toEqual(back)
    expect((await store().topics.ofSession(sessionId)).map(({ id }) => id).toSorted()).toEqual(["left2", "t1"])
  })

  test("people of one team are kept beside those of all", async () => {
    const person = { channel: "telegram", userId: "7", team: "web", name: "Ada", pairedAtMs: NOW }
    await store().teamPeople.put(person)
    await store().teamPeople.put({ ...person, name: "Ada L.", pairedAtMs: NOW + 1 })
    await store().teamPeople.put({ ...person, team: "api", pairedAtMs: NOW + 2 })
    expect(await store().teamPeople.list("telegram")).toEqual([
      { ...person, name: "Ada L." },
      { ...person, team: "api", pairedAtMs: NOW + 2 },
    ])
    expect(await store().people.list("telegram")).toEqual([])
    expect(await store().teamPeople.removeTeam("signal", "api")).toBe(0)
    expect(await store().teamPeople.removeTeam("telegram", "api")).toBe(1)
    expect((await store().teamPeople.list("telegram")).map(({ team }) => team)).not.toContain("api")
    expect(await store().teamPeople.remove("telegram", "7")).toBe(true)
    expect(await store().teamPeople.remove("telegram", "7")).toBe(false)
  })

  test("a bot's offset and its state do not disturb each other", async () => {
    expect(await store().bots.byId("telegram:1")).toBeUndefined()
    expect(await store().bots.setState("telegram:1", "conflict", "another poller", NOW)).toBe(true)
    await store().bots.moveOffset("telegram:1", 12, NOW + 1)
    const conflict = { id: "telegram:1", nextOffset: 12, state: "conflict", why: "another poller", sinceMs: NOW }
    expect(await store().bots.byId("telegram:1")).toEqual(conflict)
    expect(await store().bots.setState("telegram:1", "conflict", "still", NOW + 2)).toBe(false)
    expect(await store().bots.byId("telegram:1")).toEqual({ ...conflict, why: "still" })
    expect(await store().bots.setState("telegram:1", "ok", null, NOW + 3)).toBe(true)
    // An id may jump to a lower one.
    await store().bots.moveOffset("telegram:1", 4, NOW + 4)
    expect(await store().bots.list()).toEqual([
      { id: "telegram:1", nextOffset: 4, state: "ok", why: null, sinceMs: NOW + 3 },
    ])
  })

  test("updates and the offset after them are kept together or not at all", async () => {
    const admit = () =>
      store().transaction(async (tx) => {
        await tx.bots.moveOffset("telegram:1", 13, NOW)
        throw new Error("power cut")
      })
    await expect(admit()).rejects.toThrow("power cut")
    expect(await store().bots.byId("telegram:1")).toBeUndefined()
  })

  test("people are known by their id, and can be sent away", async () => {
    const person = { channel: "telegram", userId: "7", name: "Ada", chatId: null, pairedAtMs: NOW }
    await store().people.put(person)
    await store().people.put({ ...person, name: "Ada L.", chatId: "7", pairedAtMs: NOW + 1 })
    expect(await store().people.list("telegram")).toEqual([{ ...person, name: "Ada L.", chatId: "7" }])
    expect(await store().people.list("other")).toEqual([])
    expect(await store().people.remove("telegram", "8")).toBe(false)
    expect(await store().people.remove("telegram", "7")).toBe(true)
    expect(await store().people.list("telegram")).toEqual([])
  })

  test("a budget is empty until something was sent", async () => {
    expect(await store().budgets.get("k")).toEqual({ sentAtMs: [], blockedUntilMs: 0 })
    await store().budgets.put("k", { sentAtMs: [NOW], blockedUntilMs: NOW + 9 })
    await store().budgets.put("k", { sentAtMs: [NOW, NOW + 1], blockedUntilMs: NOW + 7 })
    expect(await store().budgets.get("k")).toEqual({ sentAtMs: [NOW, NOW + 1], blockedUntilMs: NOW + 7 })
  })

  test("an approval request is found by its permission and chat; the newer one stands", async () => {
    const approval = { permissionId: "q-1", channel: "telegram", chatId: "-100", threadId: 7, messageId: 3 }
    await store().approvalRequests.put(approval)
    await store().approvalRequests.put({ ...approval, chatId: "5", threadId: null, messageId: 9 })
    await store().approvalRequests.put({ ...approval, messageId: 4 })
    expect(await store().approvalRequests.get("q-1", "telegram", "-100")).toEqual({ ...approval, messageId: 4 })
    expect(await store().approvalRequests.get("q-1", "telegram", "5")).toMatchObject({ threadId: null, messageId: 9 })
    expect(await store().approvalRequests.get("q-2", "telegram", "5")).toBeUndefined()
    expect((await store().approvalRequests.ofPermission("q-1", "telegram")).map(({ chatId }) => chatId)).toEqual([
      "-100",
      "5",
    ])
    expect(await store().approvalRequests.byMessage("telegram", "-100", 4)).toEqual({ ...approval, messageId: 4 })
    expect(await store().approvalRequests.byMessage("telegram", "5", 4)).toBeUndefined()
  })

  test("what is told of messages that wait is one row, changed until it ends; where it was sent stays", async () => {
    const { id: sessionId } = await addSession(store())
    const notice = {
      ...{ id: "m-1", channel: "telegram", sessionId, topicId: "t-1", firstSeq: 3, lastSeq: 3, words: "Not in tmux." },
      ...{ afterMs: 800, canResume: false, sinceMs: NOW, endedAtMs: null },
    }
    const { waitNotices } = store()
    await waitNotices.put(notice)
    expect(await waitNotices.byId("m-1")).toEqual({ ...notice, messageId: null })
    await waitNotices.sent("m-1", 9)
    const changed = { ...notice, lastSeq: 5, words: "It has ended.", afterMs: null, canResume: true }
    await waitNotices.put(changed)
    await waitNotices.put({ ...notice, id: "m-0", firstSeq: 1, lastSeq: 2 })
    await waitNotices.put({ ...notice, id: "m-2", channel: "pigeon" })
    expect(await waitNotices.open("telegram", sessionId)).toMatchObject([{ id: "m-0" }, { ...changed, messageId: 9 }])
    await waitNotices.put({ ...changed, endedAtMs: NOW + 1 })
    expect((await waitNotices.open("telegram", sessionId)).map(({ id }) => id)).toEqual(["m-0"])
    await waitNotices.drop(NOW + 1)
    expect(await waitNotices.byId("m-1")).toMatchObject({ messageId: 9 })
    await waitNotices.drop(NOW + 2)
    expect(await waitNotices.byId("m-1")).toBeUndefined()
    expect(await waitNotices.byId("m-0")).toBeDefined()
  })

  test("a message of a session is found by its number in its chat, for as long as it is remembered", async () => {
    const said = { channel: "telegram", chatId: "-100", messageId: 3, atMs: NOW }
    const { id: sessionId } = await addSession(store())
    const { id: topicId } = await store().topics.ensure(topic({ sessionId }))
    await store().topics.remember({ ...said, topicId: "another" })
    await store().topics.remember({ ...said, topicId })
    await store().topics.remember({ ...said, messageId: 4, topicId, atMs: NOW + 2 })
    expect((await store().topics.byMessage("telegram", "-100", 3))?.id).toBe(topicId)
    expect(await store().topics.byMessage("telegram", "-101", 3)).toBeUndefined()
    await store().topics.forgetMessages(NOW + 1)
    expect(await store().topics.byMessage("telegram", "-100", 3)).toBeUndefined()
    expect((await store().topics.byMessage("telegram", "-100", 4))?.id).toBe(topicId)
  })

  test("a hold lasts until it is taken away", async () => {
    const hold = { key: "telegram:1:-100", kind: "no_rights", why: "demoted", sinceMs: NOW, nextAtMs: NOW + 60_000 }
    await store().holds.put(hold)
    await store().holds.put({ ...hold, nextAtMs: NOW + 120_000 })
    await store().holds.put({ ...hold, key: "telegram:2" })
    expect(await store().holds.list("telegram:1")).toEqual([{ ...hold, nextAtMs: NOW + 120_000 }])
    expect(await store().holds.remove(hold.key)).toBe(true)
    expect(await store().holds.remove(hold.key)).toBe(false)
    expect(await store().holds.list("telegram:1")).toEqual([])
  })

  test("a role is one owner's until its time is over or it is given back", async () => {
    const hold = (owner: string, nowMs: number) => store().roles.hold("poll", owner, 100, nowMs)
    expect(await hold("a", NOW)).toBe(true)
    expect(await hold("b", NOW + 99)).toBe(false)
    expect(await hold("a", NOW + 50)).toBe(true)
    expect(await hold("b", NOW + 149)).toBe(false)
    expect(await hold("b", NOW + 150)).toBe(true)
    expect(await store().roles.list()).toEqual([{ name: "poll", owner: "b", untilMs: NOW + 250 }])
    await store().roles.release("poll", "a")
    expect(await hold("a", NOW + 151)).toBe(false)
    await store().roles.release("poll", "b")
    expect(await hold("a", NOW + 151)).toBe(true)
  })
}
