import type { Channel, ChannelSelf, ChannelTrouble, ChatLook } from "../../domain/channel.ts"
import type { SystemFinding } from "../../operations/system.ts"
import { good, warning, wrong } from "./finding.ts"

export interface Checked {
  findings: SystemFinding[]
  self?: ChannelSelf
  look?: ChatLook
}

/** Beyond this, people notice that times in the chat differ. */
const MOST_SKEW_MS = 30_000
const CHECK_MS = 10_000

/** The chat of one or more teams. */
export interface TeamGroup {
  chatId: string
  teams: readonly string[]
  /** Threads shared by a team's sessions. */
  threads: readonly number[]
}

/** Checks the teams' groups. They need topics only if a team's sessions share a thread. */
export async function checkTeamGroups(
  channel: Channel,
  self: ChannelSelf,
  groups: readonly TeamGroup[],
): Promise<SystemFinding[]> {
  const findings: SystemFinding[] = []
  for (const one of groups) {
    const seen = await channel.look(one.chatId, AbortSignal.timeout(CHECK_MS))
    const found = seen.ok
      ? teamGroup(seen.value, self, one)
      : [teamChatTrouble(chatTrouble(seen.trouble, one.chatId, self), seen.trouble, one)]
    findings.push(...found.map((finding) => ({ ...finding, check: `${finding.check} of ${one.teams.join(", ")}` })))
  }
  return findings
}

/** The setup wizard covers only the common group. */
function teamChatTrouble(finding: SystemFinding, trouble: ChannelTrouble, { teams }: TeamGroup): SystemFinding {
  if (trouble.kind !== "no_chat") return finding
  const keys = teams.map((team) => `teams.${team}.chat.id`).join(", ")
  const remedy =
    trouble.movedTo === undefined
      ? `In Telegram, open the group → Add Members → the bot; if it is another group, change ${keys}.`
      : `Nothing must be done; ${keys} can be changed to ${trouble.movedTo}.`
  return { ...finding, state: trouble.movedTo === undefined ? "wrong" : "warning", remedy }
}

function teamGroup(look: ChatLook, self: ChannelSelf, { threads }: TeamGroup): SystemFinding[] {
  const { title, kind, hasTopics, isAdmin, adminBots } = look
  if (kind === "private") return [privateTopics(self)]
  const isShared = threads.length > 0
  if (hasTopics && !isShared) return [...group(look, self), ...elected(adminBots, self)]
  const how = isShared ? `sessions share thread ${threads.join(", ")}` : "no topics: messages name their session"
  const here: SystemFinding =
    isShared && !hasTopics
      ? wrong(
          "group",
          `${title} has no topics, so there is no thread ${threads.join(", ")}; messages go to the chat itself`,
          `In Telegram, open ${title} → Edit → Topics → turn them on; or take chat.thread out of the configuration.`,
        )
      : good("group", `${title}, ${how}`)
  // Without topics the bot needs no rights, but must see messages.
  return [here, privacy(isAdmin, self), ...elected(adminBots, self)]
}

/** The bot with the lowest number takes messages that address no one. */
function elected(adminBots: readonly string[], { botId, username }: ChannelSelf): SystemFinding[] {
  const first = adminBots.map(Number).toSorted((a, b) => a - b)[0]
  if (first === undefined || first >= Number(botId)) return []
  return [
    warning(
      "other bots",
      `bot ${first} is an administrator too, and has a lower number: messages outside of topics are left to it`,
      `If it is not a Throughline's, take its administrator rights away; or reply to a message of @${username}.`,
    ),
  ]
}

/** Checks the bot and its group, and changes nothing. */
export async function checkBot(channel: Channel, chatId: string | undefined, isTeamsOnly = false): Promise<Checked> {
  const signal = AbortSignal.timeout(CHECK_MS)
  const told = await channel.self(signal)
  if (!told.ok) return { findings: [tokenTrouble(told.trouble)] }
  const self = told.value
  const token: SystemFinding = good("bot", `@${self.username} (${self.botId})`)
  const findings = [token, ...clock(self)]
  if (chatId === undefined && isTeamsOnly) return { findings, self }
  if (chatId === undefined) return { findings: [...findings, privateTopics(self)], self }
  const seen = await channel.look(chatId, signal)
  if (!seen.ok) return { findings: [...findings, chatTrouble(seen.trouble, chatId, self)], self }
  return { findings: [...findings, ...group(seen.value, self)], self, look: seen.value }
}

function tokenTrouble(trouble: ChannelTrouble): SystemFinding {
  if (trouble.kind === "unauthorised")
    return wrong(
      "bot",
      "Telegram does not know this token, or it was revoked",
      "In Telegram, @BotFather: /mybots → the bot → API Token shows it. Then: throughline telegram setup, and paste it.",
    )
  const why = trouble.kind === "wait" ? `it asks to wait ${trouble.forMs / 1000} s` : whyOf(trouble)
  return warning(
    "bot",
    `Telegram is not reached: ${why}`,
    "Check this machine's network, and telegram.apiRoot if it is set. Nothing is lost meanwhile.",
  )
}

function clock({ clockSkewMs = 0 }: ChannelSelf): SystemFinding[] {
  const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
  if (Math.abs(clockSkewMs) <= MOST_SKEW_MS) return [good("clock", "agrees with Telegram's to about a second")]
  return [
    warning(
      "clock",
      `this machine is ${seconds} s ${clockSkewMs > 0 ? "behind" : "ahead of"} Telegram`,
      "Let the system set its clock: timedatectl set-ntp true (macOS: sudo sntp -sS time.apple.com)",
    ),
  ]
}

function privateTopics({ hasPrivateTopics, username }: ChannelSelf): SystemFinding {
  if (hasPrivateTopics) return good("topics", "on in private chats")
  return wrong(
    "topics",
    "no group is set, and topics in private chats are off",
    `In Telegram, @BotFather: /mybots → @${username} → Bot Settings → Threaded Mode → turn it on. Or use a group: throughline telegram setup`,
  )
}

function chatTrouble(trouble: ChannelTrouble, chatId: string, { username }: ChannelSelf): SystemFinding {
  if (trouble.kind !== "no_chat")
    return warning("group", `${chatId} cannot be checked: ${whyOf(trouble)}`, "Try again in a minute.")
  const moved = trouble.movedTo
  return wrong(
    "group",
    moved === undefined ? `@${username} is not in the group ${chatId}` : `the group is now ${moved}`,
    moved === undefined
      ? `In Telegram, open the group → Add Members → @${username}; if it is another group, throughline telegram setup finds it.`
      : `throughline telegram setup --chat ${moved}`,
  )
}

function group(look: ChatLook, self: ChannelSelf): SystemFinding[] {
  const { title, kind, hasTopics, isAdmin } = look
  if (kind === "private") return [privateTopics(self)]
  const topics: SystemFinding = hasTopics
    ? good("group", `${title}, with topics`)
    : wrong("group", `${title} has no topics`, `In Telegram, open ${title} → Edit → Topics → turn them on.`)
  return [topics, rights(look, self), privacy(isAdmin, self)]
}

function rights(
  { title, isAdmin, mayManageTopics, mayDeleteMessages }: ChatLook,
  { username }: ChannelSelf,
): SystemFinding {
  const check = "rights"
  if (!isAdmin)
    return wrong(
      check,
      `@${username} is no administrator`,
      `In Telegram, open ${title} → Edit → Administrators → Add Admin → @${username}, with Manage Topics and Delete Messages.`,
    )
  const missing = [...(mayManageTopics ? [] : ["Manage Topics"]), ...(mayDeleteMessages ? [] : ["Delete Messages"])]
  if (missing.length === 0) return good(check, "Manage Topics, Delete Messages")
  const needs = mayManageTopics ? "topics cannot be deleted without it" : "no session gets a topic without it"
  return {
    check,
    state: mayManageTopics ? "warning" : "wrong",
    detail: `@${username} lacks ${missing.join(" and ")}: ${needs}`,
    remedy: `In Telegram, open ${title} → Edit → Administrators → @${username} → turn on ${missing.join(" and ")}.`,
  }
}

/** Administrators see every message, whatever the privacy mode. */
function privacy(isAdmin: boolean, { readsGroups, username }: ChannelSelf): SystemFinding {
  const check = "privacy"
  if (readsGroups) return good(check, "off: the bot sees what is written in the group")
  if (isAdmin) return good(check, "on, but as an administrator the bot sees everything")
  return wrong(
    check,
    "privacy mode is on: the bot does not see what is written in the group",
    `In Telegram, @BotFather: /setprivacy → @${username} → Disable. Then remove the bot from the group and add it again.`,
  )
}

const whyOf = (trouble: ChannelTrouble) => ("why" in trouble ? trouble.why : trouble.kind)
