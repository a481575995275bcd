import { hostname } from "node:os"
import { transcriber } from "../../adapters/transcriber.ts"
import { consoles } from "../../agents/list.ts"
import { redactorOf } from "../../capture/watch/rules.ts"
import type { JournalConsumer } from "../../domain/journal.ts"
import type { Panes } from "../../domain/panes.ts"
import type { Store } from "../../domain/store.ts"
import type { WatchingModule } from "../../live/module.ts"
import { makeResuming } from "../../live/supervisor/resuming.ts"
import { buttonsOf } from "../../messenger/approvals/buttons.ts"
import { makePermissionButtons } from "../../messenger/approvals/presses.ts"
import { makeApprovalReply } from "../../messenger/approvals/replies.ts"
import { makeIntake } from "../../messenger/inbound/module.ts"
import { MIRROR, makeMirror } from "../../messenger/mirror/mirror.ts"
import { makeOutbox } from "../../messenger/outbound/outbox.ts"
import { makeRender } from "../../messenger/render/render.ts"
import { makeTeamChats } from "../../messenger/team-chats.ts"
import type { Permits } from "../../permissions/permits.ts"
import type { QueueModule } from "../../queue/module.ts"
import { type Environment, terminalEnvironment } from "../process/environment.ts"
import type { CommonParts } from "./parts.ts"

export interface OpenChannel {
  consumers: JournalConsumer[]
  run(signal: AbortSignal): Promise<void>
}

interface ChannelParts extends Omit<CommonParts, "clients" | "machine"> {
  environment: Environment
  reach: QueueModule
  watching: WatchingModule
  panes: Panes
  permits: Permits
}

/** Connects sessions to the configured bot; does nothing without one. */
export async function openChannel(parts: ChannelParts): Promise<OpenChannel> {
  const { store, clock, config, log, roster, environment, reach, watching, panes, permits } = parts
  const { token, apiRoot, chat, users, transcriber: command } = config.telegram
  // The consumer advances without a bot too, so that a new bot does not replay old events.
  if (token === undefined)
    return { consumers: [{ name: MIRROR, kinds: [], after: async () => {} }], run: async () => {} }

  // Loaded on demand, to save memory without a bot.
  const { telegramChannel } = await import("../../adapters/telegram/telegram.ts")
  const channel = telegramChannel({ token, apiRoot })
  const botId = token.split(":")[0]!
  const host = hostname()
  // Two machines may use the same path.
  const home = `${host}:${parts.home.dir}`
  const redact = redactorOf(config.capture)
  const onTrouble = (err: unknown, what: string) => log.warn({ err, what }, "something went wrong with Telegram")
  const { live } = watching
  const outbox = makeOutbox({
    store,
    clock,
    channel,
    botId,
    home,
    host,
    rendering: makeRender({
      store,
      can: channel.can,
      redact,
      buttonsOf: (permission) => buttonsOf(permission, redact),
    }),
    isGroup: (chatId) => chatId.startsWith("-"),
    onTrouble,
  })
  const chats = makeTeamChats({ roster, channel: channel.id, chat })
  /** For sessions whose team has no chat, or that have no team. */
  const common = async (tx: Store) => {
    const group = chat === undefined ? undefined : await tx.topics.chatNow(channel.id, chat)
    const chatId = group ?? users[0] ?? (await tx.people.list(channel.id))[0]?.userId
    return chatId === undefined ? undefined : { chatId, sharedThreadId: null }
  }
  const mirror = makeMirror({
    store,
    clock,
    roster,
    settings: config.telegram,
    channel: channel.id,
    consoles,
    redact,
    async place(tx, session) {
      const at = (session && (await chats.home(tx, session))) ?? (await common(tx))
      return at && { ...at, channel: channel.id, home, host, maxNameUnits: channel.can.maxTopicNameUnits }
    },
    hasPlace: async (tx) => chats.hasAny() || (await common(tx)) !== undefined,
    onTrouble,
  })
  await mirror.begin()
  const approvals = { store, clock, channel: channel.id, permits, redact }
  const intake = makeIntake({
    store,
    clock,
    channel,
    botId,
    settings: { chat, users },
    chats,
    messages: reach.messages,
    live,
    roster,
    resuming: makeResuming({ store, clock, roster, panes, consoles, live, socket: parts.home.tmux }),
    buttons: [makePermissionButtons(approvals)],
    approvalReply: makeApprovalReply(approvals),
    transcribe: command.length > 0 ? transcriber(command, terminalEnvironment(environment.machine.env)) : undefined,
    host,
    home,
    homeDir: environment.homeDir,
    tempDir: environment.tempDir,
    onTrouble,
  })
  return {
    consumers: [...intake.consumers, mirror.consumer],
    async run(signal) {
      await Promise.all([intake.run(signal), outbox.run(signal), mirror.run(signal)])
    },
  }
}
