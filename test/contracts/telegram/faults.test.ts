import { HttpError } from "grammy"
import { expect, test } from "vitest"
import { OUTAGES } from "../../fixtures/telegram/faults.ts"
import { refusal, stage } from "../../fixtures/telegram/stage.ts"

const lost = (call: Promise<unknown>) =>
  call.then(
    () => "answered",
    (error: unknown) => (error instanceof HttpError ? "lost" : String(error)),
  )

test("a call that breaks before it is accepted has done nothing", async () => {
  await using it = await stage()
  it.telegram.faults.next("sendMessage", { kind: "drop-before" })
  expect(await lost(it.bot.sendMessage(it.chat, "x"))).toBe("lost")
  expect(it.telegram.read(it.group, null)).toEqual([])
  expect(it.telegram.calls).toEqual([])
  expect(await lost(it.bot.sendMessage(it.chat, "x"))).toBe("answered")
})

test("a call that breaks after it was accepted has been done, and sent again it is done twice", async () => {
  await using it = await stage()
  it.telegram.faults.next("sendMessage", { kind: "drop-after" }, 2)
  for (const outcome of ["lost", "lost", "answered"]) expect(await lost(it.bot.sendMessage(it.chat, "x"))).toBe(outcome)
  expect(it.telegram.read(it.group, null)).toHaveLength(3)
  expect(it.telegram.accepted("sendMessage").map(({ isLost }) => isLost ?? false)).toEqual([true, true, false])
})

test("updates whose answer was lost come again", async () => {
  await using it = await stage()
  it.ada.write(it.group, "hello")
  it.telegram.faults.next("getUpdates", { kind: "drop-after" })
  expect(await lost(it.bot.getUpdates())).toBe("lost")
  expect(await it.bot.getUpdates()).toHaveLength(1)
})

test("errors of the server and delays come as often as was said, to the bot, chat and method that was said", async () => {
  await using it = await stage({ limits: false, bots: [{ username: "a_bot" }, { username: "b_bot" }] })
  it.telegram.fault({
    method: "sendMessage",
    botId: it.telegram.bot("a_bot").user.id,
    chatId: it.chat,
    trouble: { kind: "error", code: 502 },
    times: 1,
    after: 1,
  })
  await it.bot.sendMessage(it.chat, "the first passes")
  await it.api("b_bot").sendMessage(it.chat, "so does another's")
  await it.bot.sendMessage(it.telegram.group("Other").id, "and one elsewhere")
  expect(await refusal(it.bot.sendMessage(it.chat, "not this"))).toEqual([502, "Bad Gateway"])
  await it.bot.sendMessage(it.chat, "but the next")
  it.telegram.faults.next("getMe", { kind: "delay", ms: 200 })
  const began = performance.now()
  await it.bot.getMe()
  expect(performance.now() - began).toBeGreaterThan(190)
})

test("chance is the same for the same seed, and what decides can be a function", async () => {
  const outcomes = async (seed: number) => {
    await using it = await stage()
    const remove = it.telegram.fault({ trouble: { kind: "error", code: 500 }, probability: 0.5, seed })
    const list: string[] = []
    for (let index = 0; index < 30; index++)
      list.push(
        await it.bot.getMe().then(
          () => "+",
          () => "-",
        ),
      )
    remove()
    await it.bot.getMe()
    return list.join("")
  }
  const [first, again, other] = [await outcomes(7), await outcomes(7), await outcomes(8)]
  expect(again).toBe(first)
  expect(other).not.toBe(first)
  expect(first).toMatch(/\+.*-|-.*\+/)
  await using it = await stage()
  it.telegram.fault({ trouble: { kind: "error", code: 500 }, when: ({ params }) => params.text === "bad" })
  await it.bot.sendMessage(it.chat, "good")
  expect(await refusal(it.bot.sendMessage(it.chat, "bad"))).toEqual([500, "Internal Server Error"])
})

test("without a network polls end and nothing is accepted, until it is back", async () => {
  await using it = await stage()
  const poll = lost(it.bot.getUpdates({ timeout: 20 }))
  await it.bot.getMe()
  it.telegram.setDown(true)
  expect(await poll).toBe("lost")
  expect(await lost(it.bot.sendMessage(it.chat, "x"))).toBe("lost")
  it.telegram.setDown(false)
  expect(await lost(it.bot.sendMessage(it.chat, "x"))).toBe("answered")
  expect(it.telegram.read(it.group, null)).toHaveLength(1)
})

test("5xx come in streaks: in JSON, as a page of the web server, or as a restart that has done nothing", async () => {
  const at = Date.now()
  await using it = await stage({ now: () => at, limits: false })
  const send = () => it.bot.sendMessage(it.chat, "x")
  const start = (trouble: (typeof OUTAGES)[keyof typeof OUTAGES]) =>
    it.telegram.fault({ trouble, untilMs: it.telegram.world.now() + 60_000 })
  start(OUTAGES.badGateway)
  for (let n = 0; n < 5; n++) expect(await refusal(send())).toEqual([502, "Bad Gateway"])
  expect(await refusal(it.bot.getUpdates())).toEqual([502, "Bad Gateway"])
  it.telegram.world.advance(60_000)
  await send()
  start(OUTAGES.nginx)
  const page = await fetch(`${it.telegram.apiRoot}/bot${it.telegram.token}/getMe`)
  expect([page.status, page.headers.get("content-type")]).toEqual([502, "text/html"])
  expect(await page.text()).toContain("<h1>502 Bad Gateway</h1>")
  expect(await lost(send())).toBe("lost")
  it.telegram.world.advance(60_000)
  start(OUTAGES.restart)
  expect(await refusal(send())).toEqual([500, "Internal Server Error: restart"])
  it.telegram.world.advance(60_000)
  await send()
  expect(it.telegram.read(it.group, null)).toHaveLength(2)
})

test("a 502 may come although the call was done", async () => {
  await using it = await stage()
  it.telegram.faults.next("sendMessage", { ...OUTAGES.badGateway, isDone: true })
  it.telegram.faults.next("sendMessage", { ...OUTAGES.nginx, isDone: true })
  expect(await refusal(it.bot.sendMessage(it.chat, "one"))).toEqual([502, "Bad Gateway"])
  expect(await lost(it.bot.sendMessage(it.chat, "two"))).toBe("lost")
  expect(it.telegram.read(it.group, null).map(({ text }) => text)).toEqual(["one", "two"])
})
