import { GrammyError } from "grammy"
import { expect, test } from "vitest"
import { stage } from "../../fixtures/telegram/stage.ts"

/** How long a call was told to wait, in seconds; 0 if it was accepted. */
const waitOf = (call: Promise<unknown>) =>
  call.then(
    () => 0,
    (error: unknown) => {
      if (error instanceof GrammyError && error.error_code === 429) return error.parameters.retry_after ?? -1
      throw error
    },
  )

/** Time stands still unless it is advanced. */
const still = () => {
  const at = Date.now()
  return { now: () => at }
}

test("a chat takes one message a second, in short bursts, and says how long to wait", async () => {
  await using it = await stage(still())
  const room = it.ada.chatWith(it.telegram.bot())
  const send = () => waitOf(it.bot.sendMessage(room.id, "x"))
  expect([await send(), await send(), await send(), await send()]).toEqual([0, 0, 0, 3])
  const error = await it.bot.sendMessage(room.id, "x").catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ error_code: 429, description: "Too Many Requests: retry after 3" })
  it.telegram.world.advance(3_000)
  expect(await send()).toBe(0)
})

test("a group takes twenty a minute, over all of its topics; other chats are not touched by it", async () => {
  await using it = await stage({ ...still(), limits: { chat: [], bot: [] } })
  const other = it.ada.createTopic(it.group, "other").id
  for (let index = 0; index < 20; index++)
    await it.bot.sendMessage(it.chat, "x", { message_thread_id: index % 2 ? it.thread : other })
  expect(await waitOf(it.bot.sendMessage(it.chat, "x"))).toBe(60)
  expect(await waitOf(it.bot.sendMessage(it.telegram.group("Other").id, "x"))).toBe(0)
  expect(await waitOf(it.bot.sendMessage(it.ada.chatWith(it.telegram.bot()).id, "x"))).toBe(0)
  it.telegram.world.advance(60_000)
  expect(await waitOf(it.bot.sendMessage(it.chat, "x"))).toBe(0)
})

test("edits and chat actions have budgets of their own", async () => {
  await using it = await stage({
    ...still(),
    limits: { chat: [{ count: 1, windowMs: 9_000 }], edits: [{ count: 2, windowMs: 5_000 }] },
  })
  const { message_id } = await it.bot.sendMessage(it.chat, "x")
  expect(await waitOf(it.bot.sendMessage(it.chat, "x"))).toBe(9)
  const edit = (text: string) => waitOf(it.bot.editMessageText(it.chat, message_id, text))
  expect([await edit("1"), await edit("2"), await edit("3")]).toEqual([0, 0, 5])
  const typing = await Promise.all(Array.from({ length: 21 }, () => waitOf(it.bot.sendChatAction(it.chat, "typing"))))
  expect(typing.filter((seconds) => seconds > 0)).toEqual([5])
})

test("each bot has a budget of its own", async () => {
  await using it = await stage({
    ...still(),
    bots: [{ username: "a_bot" }, { username: "b_bot" }],
    limits: { chat: [{ count: 1, windowMs: 5_000 }] },
  })
  expect(await waitOf(it.bot.sendMessage(it.chat, "x"))).toBe(0)
  expect(await waitOf(it.bot.sendMessage(it.chat, "x"))).toBe(5)
  expect(await waitOf(it.api("b_bot").sendMessage(it.chat, "x"))).toBe(0)
})

test("a call inside of the time to wait is refused and held against the bot; one after it is not", async () => {
  await using it = await stage({ ...still(), limits: { chat: [{ count: 1, windowMs: 5_000 }] } })
  await it.bot.sendMessage(it.chat, "x")
  await waitOf(it.bot.sendMessage(it.chat, "x"))
  await waitOf(it.bot.sendMessage(it.chat, "under way at the same time"))
  expect(it.telegram.ignoredWaits).toEqual([])
  it.telegram.world.advance(4_000)
  expect(await waitOf(it.bot.sendMessage(it.chat, "too early"))).toBe(1)
  expect(it.telegram.ignoredWaits).toMatchObject([{ method: "sendMessage" }])
  it.telegram.world.advance(1_000)
  expect(await waitOf(it.bot.sendMessage(it.chat, "in time"))).toBe(0)
  expect(it.telegram.ignoredWaits).toHaveLength(1)
})

test("the time to wait climbs when it is ignored, if it is to", async () => {
  await using it = await stage({ ...still(), limits: { climb: 1.5 } })
  it.telegram.faults.next("sendMessage", { kind: "flood", retryS: 12 })
  const waits: number[] = []
  for (let index = 0; index < 5; index++) {
    waits.push(await waitOf(it.bot.sendMessage(it.chat, "x")))
    it.telegram.world.advance(100)
  }
  expect(waits).toEqual([12, 18, 27, 41, 42])
})

test("any method can be told to wait, for as long as one likes", async () => {
  await using it = await stage(still())
  it.telegram.faults.next("getUpdates", { kind: "flood", retryS: 7 })
  it.telegram.faults.next("getMe", { kind: "flood", retryS: 3 })
  expect(await waitOf(it.bot.getUpdates())).toBe(7)
  expect(await waitOf(it.bot.getMe())).toBe(3)
  expect(await waitOf(it.bot.getUpdates())).toBe(7)
  it.telegram.world.advance(7_000)
  expect(await waitOf(it.bot.getUpdates())).toBe(0)
})

test("every method that changes topics has a bucket of its own, and so have reactions", async () => {
  await using it = await stage(still())
  const rename = (n: number) => waitOf(it.bot.editForumTopic(it.chat, it.thread, { name: `name ${n}` }))
  const waits: number[] = []
  for (let n = 1; n <= 26; n++) waits.push(await rename(n))
  expect(waits.slice(0, 25).every((seconds) => seconds === 0)).toBe(true)
  expect(waits[25]).toBe(60)
  expect(await waitOf(it.bot.closeForumTopic(it.chat, it.thread))).toBe(0)
  expect(await waitOf(it.bot.sendMessage(it.chat, "x"))).toBe(0)
  const { id } = it.ada.write(it.group, "hello")
  const marks = await Promise.all(
    Array.from({ length: 41 }, () => waitOf(it.bot.setMessageReaction(it.chat, id, [{ type: "emoji", emoji: "👀" }]))),
  )
  expect(marks.filter((seconds) => seconds > 0)).toEqual([60])
})
