import { hostname } from "node:os"
import { makePairing } from "../../messenger/inbound/pairing.ts"
import { type BotModule, makeBotModule } from "../../messenger/module.ts"
import type { CommonParts } from "./parts.ts"

/** The configured bot, if there is one. */
export async function openBot(parts: Pick<CommonParts, "store" | "clock" | "config" | "roster">): Promise<BotModule> {
  const { store, clock, config, roster } = parts
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
