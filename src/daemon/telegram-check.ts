import type { Channel, ChannelSelf, ChannelTrouble, ChatLook } from "../domain/channel.ts"
import type { Finding } from "./doctor.ts"

export interface Checked {
  findings: Finding[]
  self?: ChannelSelf
  look?: ChatLook
}

/** Beyond this, times in the chat and times here are told apart by people. */
const MOST_SKEW_MS = 30_000
const CHECK_MS = 10_000

/** What Telegram says of the bot and of its group, each with what to do about it. Nothing is changed. */
export async function checkBot(channel: Channel, chatId: string | undefined): Promise<Checked> {
  const signal = AbortSignal.timeout(CHECK_MS)
  const told = await channel.self(signal)
  if (!told.ok) return { findings: [tokenTrouble(told.trouble)] }
  const self = told.value
  const token: Finding = { check: "bot", state: "good", detail: `@${self.username} (${self.botId})` }
  const findings = [token, ...clock(self)]
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
      detail: `${chatId} cannot be looked at: ${whyOf(trouble)}`,
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
