import { Api } from "grammy"
import { expect, test, vi } from "vitest"
import { startTelegramOutside } from "../../fixtures/telegram/outside.ts"
import { UpdateQueue } from "../../fixtures/telegram/updates.ts"

test("it runs in a process of its own, by its strings", async () => {
  const telegram = await startTelegramOutside({ limits: false })
  const { control } = telegram
  const api = new Api(telegram.bots[0]!.token, { apiRoot: telegram.apiRoot })
  const { id: person } = await control("person", { name: "Ada" })
  const { id: chat } = await control("group", { name: "Work", people: [person] })
  const { id: thread } = await control("create-topic", { person, chat, name: "laptop" })
  await control("write", { person, chat, thread, text: "hello" })
  expect((await api.getUpdates()).at(-1)?.message).toMatchObject({ text: "hello", message_thread_id: thread })
  const reply_markup = { inline_keyboard: [[{ text: "Allow", callback_data: "allow:1" }]] }
  const { message_id } = await api.sendMessage(chat, "May I?", { message_thread_id: thread, reply_markup })
  const { id } = await control("press", { person, chat, message: message_id, button: "Allow" })
  await api.answerCallbackQuery(String(id), { text: "Allowed" })
  expect(await control("answer", { id })).toEqual({ text: "Allowed", isAlert: false })
  await control("document", { person, chat, thread, name: "a.txt", base64: Buffer.from("text").toString("base64") })
  expect(await control("read", { chat, thread })).toMatchObject([
    { service: "forum_topic_created" },
    { text: "hello" },
    { text: "May I?", buttons: [[{ label: "Allow" }]] },
    { file: { kind: "document", name: "a.txt", size: 4 } },
  ])
  await control("fault", { method: "sendMessage", trouble: { kind: "drop-after" }, times: 1 })
  await expect(api.sendMessage(chat, "lost")).rejects.toThrow("Network request")
  await control("down", { isDown: true })
  await expect(api.getMe()).rejects.toThrow("Network request")
  await control("down", { isDown: false })
  expect(await control("calls", { method: "sendMessage" })).toMatchObject([{ ok: true }, { ok: true, isLost: true }])
  await expect(control("nonsense")).rejects.toThrow('there is no control "nonsense"')
  await expect(control("write", { person: 1, chat, text: "x" })).rejects.toThrow("there is no person 1")
  expect(await telegram.close()).toBe(0)
})

test("no poll lasts longer than fifty seconds", async () => {
  vi.useFakeTimers()
  try {
    const queue = new UpdateQueue(Date.now, 1)
    const answered = vi.fn()
    void queue.get(0, 100, 600, new AbortController().signal).then(answered)
    await vi.advanceTimersByTimeAsync(49_900)
    expect(answered).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(200)
    expect(answered).toHaveBeenCalledWith([])
  } finally {
    vi.useRealTimers()
  }
})
