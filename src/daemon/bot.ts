import { hostname } from "node:os"
import { telegramChannel } from "../adapters/channels/telegram.ts"
import type { Clock } from "../domain/clock.ts"
import type { Store } from "../domain/store.ts"
import { type BotRoom, makeBotRoom } from "../reach/bot-room.ts"
import { makePairing } from "../reach/intake/pairing.ts"
import type { Config } from "./settings.ts"

/** The bot of the bot that the configuration names, if it names one. */
export function openBot({ store, clock, config }: { store: Store; clock: Clock; config: Config }): BotRoom {
  const { token, apiRoot, chat, users } = config.telegram
  return makeBotRoom({
    store,
    clock,
    host: hostname(),
    channelId: "telegram",
    channel: token === undefined ? undefined : telegramChannel({ token, apiRoot }),
    botId: token?.split(":")[0],
    settings: { chat, users },
    pairing: makePairing({ store, clock, channel: "telegram" }),
  })
}
