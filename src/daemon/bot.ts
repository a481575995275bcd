import { hostname } from "node:os"
import type { Clock } from "../domain/clock.ts"
import type { Store } from "../domain/store.ts"
import { type BotRoom, makeBotRoom } from "../reach/bot-room.ts"
import { makePairing } from "../reach/intake/pairing.ts"
import type { Config } from "./settings.ts"

/** The bot of the bot that the configuration names, if it names one. */
export async function openBot({
  store,
  clock,
  config,
}: {
  store: Store
  clock: Clock
  config: Config
}): Promise<BotRoom> {
  const { token, apiRoot, chat, users } = config.telegram
  const channel =
    token === undefined
      ? undefined
      : (await import("../adapters/channels/telegram.ts")).telegramChannel({ token, apiRoot })
  return makeBotRoom({
    store,
    clock,
    host: hostname(),
    channelId: "telegram",
    channel,
    botId: token?.split(":")[0],
    settings: { chat, users },
    pairing: makePairing({ store, clock, channel: "telegram" }),
  })
}
