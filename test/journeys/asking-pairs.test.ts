import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type AskAnswer, type AskingHome, makeAskingHome } from "../fixtures/asking.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"

const SOON = { timeout: 60_000, interval: 50 }
const isSettled = ({ status }: AskAnswer) => !["queued", "delivered", "seen", "running"].includes(status)
let b: AskingHome
let telegram: Telegram
let ada: ReturnType<Telegram["person"]>
let group: ReturnType<Telegram["group"]>
beforeAll(async () => {
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
  b = await makeAskingHome(
    { api: {}, web: {} },
    {
      env: {
        THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
        THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
        THROUGHLINE_TELEGRAM_CHAT: String(group.id),
        THROUGHLINE_TELEGRAM_USERS: String(ada.id),
      },
    },
  )
}, 240_000)
afterAll(async () => {
  await b.dispose()
  await telegram.close()
})

test("requests of a team's agent are allowed and denied by buttons too, even before its session was read", async () => {
  for (const [name, label, text] of [
    ["yes", "✅ Allow", "Allowed."],
    ["no", "⛔ Deny", "Denied."],
  ] as const) {
    const { messageId } = await b.ask("api", `<<RUN touch ${name}>>`, { timeout: 0 })
    let approval: Seen | undefined
    await expect
      .poll(
        () =>
          (approval = telegram.read(group).find((one) => one.text.includes(`touch ${name}`) && one.buttons.length > 0)),
        SOON,
      )
      .toBeDefined()
    const pressed = ada.press(group, approval!.id, label)
    await expect.poll(() => pressed.answer()?.text, SOON).toBe(text)
    await b.until(messageId, isSettled)
    expect(existsSync(join(b.dirOf("api"), name))).toBe(name === "yes")
    await expect.poll(() => telegram.read(group).find(({ id }) => id === approval!.id)!.buttons, SOON).toEqual([])
  }
}, 240_000)
