import { hostname } from "node:os"
import { telegramChannel } from "../adapters/channels/telegram.ts"
import { consoles } from "../adapters/consoles/list.ts"
import type { Clock } from "../domain/clock.ts"
import type { Follower } from "../domain/journal.ts"
import type { Store } from "../domain/store.ts"
import type { Roster } from "../domain/team.ts"
import { makeMirror } from "../reach/mirror/mirror.ts"
import { makeOutbox } from "../reach/outbox/outbox.ts"
import { makeRender } from "../reach/render/render.ts"
import { redactorOf } from "../sessions/capture/rules.ts"
import type { Home } from "./home.ts"
import type { Log } from "./log.ts"
import type { Config } from "./settings.ts"

/** Sessions in a messenger. The follower runs without a bot too: what happened before there was one is no news. */
export interface Messenger {
  followers: Follower[]
  run(signal: AbortSignal): Promise<void>
}

interface MessengerParts {
  store: Store
  clock: Clock
  roster: Roster
  config: Config
  home: Home
  log: Log
}

const CHANNEL = "telegram"

export async function openChannel({ store, clock, roster, config, home, log }: MessengerParts): Promise<Messenger> {
  const { token, apiRoot, chat } = config.telegram
  const channel = token === undefined ? undefined : telegramChannel({ token, apiRoot })
  const host = hostname()
  // Several homes may share a store.
  const about = { home: `${host}:${home.dir}`, host }
  const redact = redactorOf(config.capture)
  const onTrouble = (err: unknown, what: string) => log.warn({ err, what }, "a messenger")
  const mirror = makeMirror({
    ...{ store, clock, roster, consoles, redact, onTrouble, channel: CHANNEL, settings: config.telegram },
    async place(tx) {
      const chatId = chat ?? (await tx.people.list(CHANNEL)).find((person) => person.chatId !== null)?.chatId
      if (!channel || chatId == null) return undefined
      return { ...about, channel: CHANNEL, chatId, maxNameUnits: channel.can.maxTopicNameUnits }
    },
  })
  await mirror.begin()
  const outbox =
    channel &&
    makeOutbox({
      ...{ store, clock, channel, onTrouble, ...about },
      botId: token!.split(":")[0]!,
      rendering: makeRender({ store, can: channel.can, redact }),
      isGroup: (chatId) => chatId.startsWith("-"),
    })
  return {
    followers: [mirror.follower],
    async run(signal) {
      if (outbox) await Promise.all([outbox.run(signal), mirror.run(signal)])
    },
  }
}
