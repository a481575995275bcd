import { setTimeout as sleep } from "node:timers/promises"
import { Bot, GrammyError } from "grammy"
import type { Update } from "grammy/types"
import { expect, test } from "vitest"
import { refusal, stage } from "../../fixtures/telegram/stage.ts"

const idsOf = (updates: { update_id: number }[]) => updates.map(({ update_id }) => update_id)
const textsOf = (updates: Update[]) => updates.map((update) => update.message?.text)

test("an update comes again until an offset above it confirms it", async () => {
  await using it = await stage()
  for (const text of ["one", "two", "three"]) it.ada.write(it.group, text)
  const first = await it.bot.getUpdates()
  expect(textsOf(first)).toEqual(["one", "two", "three"])
  expect(idsOf(await it.bot.getUpdates())).toEqual(idsOf(first))
  expect(textsOf(await it.bot.getUpdates({ offset: first[1]!.update_id }))).toEqual(["two", "three"])
  expect(textsOf(await it.bot.getUpdates({ offset: first[2]!.update_id + 1 }))).toEqual([])
})

test("at most a hundred come at once, and a negative offset leaves only the last ones", async () => {
  await using it = await stage()
  for (let index = 0; index < 130; index++) it.ada.write(it.group, `${index}`)
  expect(await it.bot.getUpdates({ limit: 500 })).toHaveLength(100)
  expect(textsOf(await it.bot.getUpdates({ limit: 2 }))).toEqual(["0", "1"])
  expect(textsOf(await it.bot.getUpdates({ offset: -2 }))).toEqual(["128", "129"])
  expect(await it.bot.getUpdates()).toHaveLength(2)
})

test("a poll waits for what comes, and takes together what comes together", async () => {
  await using it = await stage()
  const poll = it.bot.getUpdates({ timeout: 10 })
  await sleep(50)
  it.ada.write(it.group, "a")
  it.ada.write(it.group, "b")
  expect(textsOf(await poll)).toEqual(["a", "b"])
})

test("a newer poll ends the older with 409: the first loser at once, the next after three seconds", async () => {
  await using it = await stage()
  const text = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
  const began = Date.now()
  const first = refusal(it.bot.getUpdates({ timeout: 20 })).then((why) => ({ why, ms: Date.now() - began }))
  await sleep(50)
  const second = refusal(it.bot.getUpdates({ timeout: 20 })).then((why) => ({ why, ms: Date.now() - began }))
  await sleep(50)
  const third = it.bot.getUpdates({ timeout: 20 })
  expect(await first).toEqual({ why: [409, text], ms: expect.any(Number) })
  expect((await first).ms).toBeLessThan(1_000)
  const later = await second
  expect(later.why).toEqual([409, text])
  expect(later.ms).toBeGreaterThanOrEqual(3_000)
  it.ada.write(it.group, "for the last one")
  expect(textsOf(await third)).toEqual(["for the last one"])
})

test("nobody polls while a webhook is set", async () => {
  await using it = await stage()
  const poll = refusal(it.bot.getUpdates({ timeout: 20 }))
  await sleep(50)
  await it.bot.setWebhook("https://example.org/hook")
  expect(await poll).toEqual([409, "Conflict: terminated by setWebhook request"])
  expect(await refusal(it.bot.getUpdates())).toEqual([
    409,
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
  ])
  it.ada.write(it.group, "kept")
  expect(await it.bot.getWebhookInfo()).toMatchObject({ url: "https://example.org/hook", pending_update_count: 1 })
  await it.bot.deleteWebhook()
  expect(textsOf(await it.bot.getUpdates())).toEqual(["kept"])
  expect(await refusal(it.bot.setWebhook("http://example.org"))).toEqual([
    400,
    "bad webhook: An HTTPS URL must be provided for webhook",
  ])
})

test("which updates are wanted is remembered", async () => {
  await using it = await stage()
  await it.bot.getUpdates({ allowed_updates: ["callback_query"] })
  it.ada.write(it.group, "unwanted")
  expect(await it.bot.getUpdates()).toEqual([])
  expect(await it.bot.getWebhookInfo()).toMatchObject({ allowed_updates: ["callback_query"] })
  await it.bot.getUpdates({ allowed_updates: [] })
  it.ada.write(it.group, "wanted")
  expect(textsOf(await it.bot.getUpdates())).toEqual(["wanted"])
})

test("what nobody fetched for a day is gone", async () => {
  await using it = await stage()
  it.ada.write(it.group, "old")
  it.telegram.world.advance(23 * 3_600_000)
  it.ada.write(it.group, "new")
  it.telegram.world.advance(2 * 3_600_000)
  expect(textsOf(await it.bot.getUpdates())).toEqual(["new"])
})

test("ids that go on at a lower number are delivered, though the offset is above them", async () => {
  await using it = await stage()
  it.ada.write(it.group, "before")
  const [before] = await it.bot.getUpdates()
  const offset = before!.update_id + 1
  expect(await it.bot.getUpdates({ offset })).toEqual([])
  expect(it.telegram.jumpUpdateIds(it.telegram.bot())).toBeLessThan(offset)
  it.ada.write(it.group, "after")
  it.ada.write(it.group, "and on")
  const after = await it.bot.getUpdates({ offset })
  expect(textsOf(after)).toEqual(["after", "and on"])
  expect(textsOf(await it.bot.getUpdates({ offset: after[0]!.update_id + 1 }))).toEqual(["and on"])
})

test("grammY's own polling drives it", async () => {
  await using it = await stage()
  const bot = new Bot(it.telegram.token, { client: { apiRoot: it.telegram.apiRoot } })
  bot.command("status", (context) =>
    context.reply("all well", { message_thread_id: context.message?.message_thread_id ?? 0 }),
  )
  const running = bot.start()
  it.ada.write(it.group, "/status now", { thread: it.thread })
  await it.telegram.waitFor(() => it.telegram.read(it.group, it.thread).find(({ text }) => text === "all well"))
  await bot.stop()
  await running
})

test("a token that is not one is not found, one of nobody and one revoked are not authorised", async () => {
  await using it = await stage()
  const ask = async (token: string) => (await fetch(`${it.telegram.apiRoot}/bot${token}/getMe`)).json()
  expect(await ask("nonsense")).toEqual({ ok: false, error_code: 404, description: "Not Found" })
  expect(await ask(`1:${"x".repeat(35)}`)).toEqual({ ok: false, error_code: 401, description: "Unauthorized" })
  it.telegram.bot().isRevoked = true
  const error = await it.bot.getMe().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(GrammyError)
  expect(error).toMatchObject({ error_code: 401, description: "Unauthorized" })
})

test("parameters come by address, form or JSON; methods in any case; strange ones are not found", async () => {
  await using it = await stage()
  const at = `${it.telegram.apiRoot}/bot${it.telegram.token}`
  const form = new URLSearchParams({
    chat_id: `${it.chat}`,
    text: "by form",
    entities: '[{"type":"bold","offset":0,"length":2}]',
  })
  expect(await (await fetch(`${at}/SENDMESSAGE`, { method: "POST", body: form })).json()).toMatchObject({
    ok: true,
    result: { text: "by form", entities: [{ type: "bold", offset: 0, length: 2 }] },
  })
  expect(await (await fetch(`${at}/sendMessage?chat_id=${it.chat}&text=by+address`)).json()).toMatchObject({ ok: true })
  expect(await (await fetch(`${at}/sendNothing`)).json()).toMatchObject({ ok: false, error_code: 404 })
  const broken = { method: "POST", body: "{", headers: { "content-type": "application/json" } }
  expect(await (await fetch(`${at}/getMe`, broken)).json()).toMatchObject({ ok: false, error_code: 400 })
})
