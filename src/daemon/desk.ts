import { hostname } from "node:os"
import { telegramChannel } from "../adapters/channels/telegram.ts"
import type { Clock } from "../domain/clock.ts"
import type { Store } from "../domain/store.ts"
import { type Desk, makeDesk } from "../reach/desk.ts"
import { makePairing } from "../reach/intake/pairing.ts"
import type { Config } from "./settings.ts"

/** The desk of the bot that the configuration names, if it names one. */
export function openDesk({ store, clock, config }: { store: Store; clock: Clock; config: Config }): Desk {
  const { token, apiRoot, chat, users } = config.telegram
  return makeDesk({
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
