import { hostname } from "node:os"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import type { Clock } from "../../lib/clock.ts"
import { makePairing } from "../../messenger/inbound/pairing.ts"
import { type BotModule, makeBotModule } from "../../messenger/module.ts"
import type { Config } from "../config/settings.ts"

/** The configured bot, if there is one. */
export async function openBot({
  store,
  clock,
  config,
  roster,
}: {
  store: Store
  clock: Clock
  config: Config
  roster: Roster
}): Promise<BotModule> {
  const { token, apiRoot, chat, users } = config.telegram
  const channel =
    token === undefined
      ? undefined
      : (await import("../../adapters/telegram/telegram.ts")).telegramChannel({ token, apiRoot })
  return makeBotModule({
    store,
    clock,
    host: hostname(),
    channelId: "telegram",
    channel,
    botId: token?.split(":")[0],
    settings: { chat, users },
    roster,
    pairing: makePairing({ store, clock, channel: "telegram" }),
  })
}
