import type { Channel, ChannelSelf } from "../../domain/channel.ts"
import type { JournalConsumer } from "../../domain/journal.ts"
import type { LiveSessions } from "../../domain/live.ts"
import type { Messages } from "../../domain/messages.ts"
import type { ButtonHandler } from "../../domain/outgoing.ts"
import type { Resuming } from "../../domain/resuming.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import type { Clock } from "../../lib/clock.ts"
import type { ApprovalReply } from "../approvals/replies.ts"
import type { TeamChats } from "../team-chats.ts"
import { makeAnswers } from "./answers.ts"
import { type AttachmentDeps, makeAttachments } from "./attachments.ts"
import { COMMANDS, makeCommands } from "./commands.ts"
import { makeElection } from "./election.ts"
import { makeFacts } from "./facts.ts"
import { makeFragments } from "./fragments.ts"
import { makeHandling } from "./handling.ts"
import { makeIncoming } from "./incoming.ts"
import { makePairing, type UserPairing } from "./pairing.ts"
import { makePoller, type PollPace } from "./poll.ts"
import { makeReceipts } from "./receipts.ts"
import { makeResumeButton } from "./resume-button.ts"
import { makeToSession } from "./to-session.ts"
import { makeWho } from "./who.ts"

/** Receives what people do in a messenger, and routes it. */
export interface ChatIntake {
  pairing: UserPairing
  consumers: JournalConsumer[]
  run(signal: AbortSignal): Promise<void>
}

export interface IntakeDeps {
  store: Store
  clock: Clock
  channel: Channel
  botId: string
  settings: { chat: string | undefined; users: readonly string[] }
  chats: TeamChats
  messages: Pick<Messages, "send" | "byId" | "interrupt">
  live: LiveSessions
  roster: Roster
  resuming: Resuming
  /** The buttons of other modules. */
  buttons: readonly ButtonHandler[]
  /** Handles replies to approval requests. */
  approvalReply?: ApprovalReply
  transcribe: AttachmentDeps["transcribe"]
  host: string
  /** Host and data directory: used by one daemon at a time. */
  home: string
  homeDir: string
  tempDir: string
  onTrouble(error: unknown, what: string): void
  pace?: Partial<PollPace>
  retryMs?: number
}

export function makeIntake(deps: IntakeDeps): ChatIntake {
  const { store, clock, channel, botId, settings, host, home, onTrouble } = deps
  const bot = `${channel.id}:${botId}`
  const self = remembered(async () => {
    const told = await channel.self()
    return told.ok ? told.value : undefined
  })
  const answer = makeAnswers({ channel: channel.id, nowMs: clock.nowMs })
  const pairing = makePairing({ store, clock, channel: channel.id })
  const toSession = makeToSession({ ...deps, answer, attachments: makeAttachments(deps) })
  const commands = makeCommands({ ...deps, toSession, answer, facts: makeFacts({ ...deps, bot }) })
  const handling = makeHandling({
    ...deps,
    handle: makeIncoming({
      ...deps,
      chat: settings.chat,
      bot,
      fragments: makeFragments({ ...deps, listeningSinceMs: () => poller.listeningSinceMs() }),
      who: makeWho({ store, clock, channel: channel.id, users: settings.users, chats: deps.chats, pairing, answer }),
      election: makeElection({ clock, channel, botId, self }),
      commands,
      toSession,
      buttons: [makeResumeButton(deps.resuming), ...deps.buttons],
      answer,
    }),
  })
  const poller = makePoller({ ...deps, bot, owner: `${host} ${home}`, onAdmitted: handling.nudge })

  return {
    pairing,
    consumers: [makeReceipts({ channel: channel.id, clock })],
    async run(signal) {
      // Only for completion: commands work without it.
      void channel
        .offerCommands(COMMANDS)
        .then((told) => told.ok || signal.aborted || onTrouble(told.trouble, "the commands were not offered"))
      await Promise.all([poller.run(signal), handling.run(signal)])
    },
  }
}

/** Asked until answered once. */
function remembered(ask: () => Promise<ChannelSelf | undefined>): () => Promise<ChannelSelf> {
  let known: ChannelSelf | undefined
  return async () => {
    known ??= await ask()
    if (!known) throw new Error("the messenger does not say who the bot is")
    return known
  }
}
