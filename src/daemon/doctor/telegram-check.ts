import type { Channel, ChannelSelf, ChannelTrouble, ChatLook } from "../../domain/channel.ts"
import type { Finding } from "./doctor.ts"

export interface Checked {
  findings: Finding[]
  self?: ChannelSelf
  look?: ChatLook
}

/** Beyond this, times in the chat and times here are told apart by people. */
const MOST_SKEW_MS = 30_000
const CHECK_MS = 10_000

/** The chat of one or more teams. */
export interface TeamGroup {
  chatId: string
  teams: readonly string[]
  /** That the sessions of a team share. */
  threads: readonly number[]
}

/** What Telegram says of the groups of teams. They need topics only where a team's sessions share one. */
export async function checkTeamGroups(
  channel: Channel,
  self: ChannelSelf,
  groups: readonly TeamGroup[],
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const one of groups) {
    const seen = await channel.look(one.chatId, AbortSignal.timeout(CHECK_MS))
    const found = seen.ok
      ? teamGroup(seen.value, self, one)
      : [teamChatTrouble(chatTrouble(seen.trouble, one.chatId, self), seen.trouble, one)]
    findings.push(...found.map((finding) => ({ ...finding, check: `${finding.check} of ${one.teams.join(", ")}` })))
  }
  return findings
}

/** The wizard knows of the common group only. */
function teamChatTrouble(finding: Finding, trouble: ChannelTrouble, { teams }: TeamGroup): Finding {
  if (trouble.kind !== "no_chat") return finding
  const keys = teams.map((team) => `teams.${team}.chat.id`).join(", ")
  const remedy =
    trouble.movedTo === undefined
      ? `In Telegram, open the group → Add Members → the bot; if it is another group, change ${keys}.`
      : `Nothing must be done; ${keys} can be changed to ${trouble.movedTo}.`
  return { ...finding, state: trouble.movedTo === undefined ? "wrong" : "warning", remedy }
}

function teamGroup(look: ChatLook, self: ChannelSelf, { threads }: TeamGroup): Finding[] {
  const { title, kind, hasTopics, isAdmin, adminBots } = look
  if (kind === "private") return [privateTopics(self)]
  const isShared = threads.length > 0
  if (hasTopics && !isShared) return [...group(look, self), ...elected(adminBots, self)]
  const how = isShared ? `sessions share thread ${threads.join(", ")}` : "no topics: messages name their session"
  const here: Finding =
    isShared && !hasTopics
      ? {
          check: "group",
          state: "wrong",
          detail: `${title} has no topics, so there is no thread ${threads.join(", ")}; messages go to the chat itself`,
          remedy: `In Telegram, open ${title} → Edit → Topics → turn them on; or take chat.thread out of the configuration.`,
        }
      : { check: "group", state: "good", detail: `${title}, ${how}` }
  // Whoever makes no topics needs no rights, but must see what is written.
  return [here, privacy(isAdmin, self), ...elected(adminBots, self)]
}

/** What is written to nobody in particular is taken by the bot with the lowest number. */
function elected(adminBots: readonly string[], { botId, username }: ChannelSelf): Finding[] {
  const first = adminBots.map(Number).toSorted((a, b) => a - b)[0]
  if (first === undefined || first >= Number(botId)) return []
  return [
    {
      check: "other bots",
      state: "warning",
      detail: `bot ${first} is an administrator too, and has a lower number: messages outside of topics are left to it`,
      remedy: `If it is not a Throughline's, take its administrator rights away; or reply to a message of @${username}.`,
    },
  ]
}

/** What Telegram says of the bot and of its group, each with what to do about it. Nothing is changed. */
export async function checkBot(channel: Channel, chatId: string | undefined, isTeamsOnly = false): Promise<Checked> {
  const signal = AbortSignal.timeout(CHECK_MS)
  const told = await channel.self(signal)
  if (!told.ok) return { findings: [tokenTrouble(told.trouble)] }
  const self = told.value
  const token: Finding = { check: "bot", state: "good", detail: `@${self.username} (${self.botId})` }
  const findings = [token, ...clock(self)]
  if (chatId === undefined && isTeamsOnly) return { findings, self }
  if (chatId === undefined) return { findings: [...findings, privateTopics(self)], self }
  const seen = await channel.look(chatId, signal)
  if (!seen.ok) return { findings: [...findings, chatTrouble(seen.trouble, chatId, self)], self }
  return { findings: [...findings, ...group(seen.value, self)], self, look: seen.value }
}

function tokenTrouble(trouble: ChannelTrouble): Finding {
  if (trouble.kind === "unauthorised")
    return {
      check: "bot",
      state: "wrong",
      detail: "Telegram does not know this token, or it was revoked",
      remedy:
        "In Telegram, @BotFather: /mybots → the bot → API Token shows it. Then: throughline telegram setup, and paste it.",
    }
  const why = trouble.kind === "wait" ? `it asks to wait ${trouble.forMs / 1000} s` : whyOf(trouble)
  return {
    check: "bot",
    state: "warning",
    detail: `Telegram is not reached: ${why}`,
    remedy: "Check this machine's network, and telegram.apiRoot if it is set. Nothing is lost meanwhile.",
  }
}

function clock({ clockSkewMs = 0 }: ChannelSelf): Finding[] {
  const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
  if (Math.abs(clockSkewMs) <= MOST_SKEW_MS)
    return [{ check: "clock", state: "good", detail: "agrees with Telegram's to about a second" }]
  return [
    {
      check: "clock",
      state: "warning",
      detail: `this machine is ${seconds} s ${clockSkewMs > 0 ? "behind" : "ahead of"} Telegram`,
      remedy: "Let the system set its clock: timedatectl set-ntp true (macOS: sudo sntp -sS time.apple.com)",
    },
  ]
}

function privateTopics({ hasPrivateTopics, username }: ChannelSelf): Finding {
  if (hasPrivateTopics) return { check: "topics", state: "good", detail: "on in private chats" }
  return {
    check: "topics",
    state: "wrong",
    detail: "no group is set, and topics in private chats are off",
    remedy: `In Telegram, @BotFather: /mybots → @${username} → Bot Settings → Threaded Mode → turn it on. Or use a group: throughline telegram setup`,
  }
}

function chatTrouble(trouble: ChannelTrouble, chatId: string, { username }: ChannelSelf): Finding {
  if (trouble.kind !== "no_chat")
    return {
      check: "group",
      state: "warning",
      detail: `${chatId} cannot be checked: ${whyOf(trouble)}`,
      remedy: "Try again in a minute.",
    }
  const moved = trouble.movedTo
  return {
    check: "group",
    state: "wrong",
    detail: moved === undefined ? `@${username} is not in the group ${chatId}` : `the group is now ${moved}`,
    remedy:
      moved === undefined
        ? `In Telegram, open the group → Add Members → @${username}; if it is another group, throughline telegram setup finds it.`
        : `throughline telegram setup --chat ${moved}`,
  }
}

function group(look: ChatLook, self: ChannelSelf): Finding[] {
  const { title, kind, hasTopics, isAdmin } = look
  if (kind === "private") return [privateTopics(self)]
  const topics: Finding = hasTopics
    ? { check: "group", state: "good", detail: `${title}, with topics` }
    : {
        check: "group",
        state: "wrong",
        detail: `${title} has no topics`,
        remedy: `In Telegram, open ${title} → Edit → Topics → turn them on.`,
      }
  return [topics, rights(look, self), privacy(isAdmin, self)]
}

function rights({ title, isAdmin, mayManageTopics, mayDeleteMessages }: ChatLook, { username }: ChannelSelf): Finding {
  const check = "rights"
  if (!isAdmin)
    return {
      check,
      state: "wrong",
      detail: `@${username} is no administrator`,
      remedy: `In Telegram, open ${title} → Edit → Administrators → Add Admin → @${username}, with Manage Topics and Delete Messages.`,
    }
  const missing = [...(mayManageTopics ? [] : ["Manage Topics"]), ...(mayDeleteMessages ? [] : ["Delete Messages"])]
  if (missing.length === 0) return { check, state: "good", detail: "Manage Topics, Delete Messages" }
  const needs = mayManageTopics ? "topics cannot be deleted without it" : "no session gets a topic without it"
  return {
    check,
    state: mayManageTopics ? "warning" : "wrong",
    detail: `@${username} lacks ${missing.join(" and ")}: ${needs}`,
    remedy: `In Telegram, open ${title} → Edit → Administrators → @${username} → turn on ${missing.join(" and ")}.`,
  }
}

/** Administrators see everything, whatever the mode says. */
function privacy(isAdmin: boolean, { readsGroups, username }: ChannelSelf): Finding {
  const check = "privacy"
  if (readsGroups) return { check, state: "good", detail: "off: the bot sees what is written in the group" }
  if (isAdmin) return { check, state: "good", detail: "on, but as an administrator the bot sees everything" }
  return {
    check,
    state: "wrong",
    detail: "privacy mode is on: the bot does not see what is written in the group",
    remedy: `In Telegram, @BotFather: /setprivacy → @${username} → Disable. Then remove the bot from the group and add it again.`,
  }
}

const whyOf = (trouble: ChannelTrouble) => ("why" in trouble ? trouble.why : trouble.kind)
