import * as z from "zod"
import { BOT_STATES } from "../domain/channel-store.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import { ANYONE_READS, OWNER_WRITES, operation } from "./operation.ts"
import { minute, table } from "./text.ts"

// None of these is a tool: agents do not decide who has access to them.

const ChatView = z.object({
  id: z.string().optional(),
  title: z.string(),
  kind: z.enum(["group", "private"]),
  hasTopics: z.boolean(),
  isAdmin: z.boolean(),
  mayManageTopics: z.boolean(),
  mayDeleteMessages: z.boolean(),
})

const StatusView = z.object({
  bot: z
    .object({
      id: z.string(),
      username: z.string().optional(),
      state: z.enum([...BOT_STATES, "new"]),
      why: z.string().optional(),
      since: z.string().optional(),
    })
    .optional(),
  chat: ChatView.optional(),
  /** The teams' groups, as the messenger describes them. */
  teamChats: z.array(
    z.object({
      id: z.string(),
      movedFrom: z.string().optional(),
      teams: z.array(z.string()),
      threads: z.array(z.number()).describe("That the sessions of a team share"),
      title: z.string().optional(),
      hasTopics: z.boolean().optional(),
      isAdmin: z.boolean().optional(),
      mayManageTopics: z.boolean().optional(),
      trouble: z.string().optional(),
    }),
  ),
  /** The configured group was migrated; the new one is used. */
  moved: z.object({ from: z.string(), to: z.string() }).optional(),
  /** The messenger's current error. */
  trouble: z.string().optional(),
  people: z.number(),
  topics: z.record(z.string(), z.number()),
  waiting: z.number(),
  failed: z.number(),
  uncertain: z.number(),
  holds: z.array(z.object({ why: z.string(), since: z.string(), nextAt: z.string() })),
  doubts: z.array(z.object({ name: z.string(), count: z.number(), at: z.string() })),
})
export type TelegramView = z.output<typeof StatusView>

export const telegramStatus = operation({
  name: "telegram.status",
  summary: "Show the Telegram bot's state, groups, topics and paired people",
  ...ANYONE_READS,
  input: z.strictObject({}),
  output: StatusView,
  text: statusText,
  async run({ telegram }) {
    const { bot, chatId, movedFrom, holds, unconfirmed, ...figures } = await telegram.facts()
    const kept = {
      ...figures,
      ...(movedFrom !== null && chatId !== null && { moved: { from: movedFrom, to: chatId } }),
      holds: holds.map(({ why, sinceMs, nextAtMs }) => ({ why, since: isoTime(sinceMs), nextAt: isoTime(nextAtMs) })),
      doubts: unconfirmed.map(({ atMs, ...rest }) => ({ ...rest, at: isoTime(atMs) })),
    }
    if (!bot) return { ...kept, teamChats: [] }
    const { self, chat, trouble, teamChats } = await telegram.look()
    return {
      ...kept,
      teamChats: teamChats.map(({ chatId: id, movedFrom, teams, threads, chat: look, trouble: why }) => ({
        ...{ id, teams, threads },
        ...present({ movedFrom, title: look?.title, hasTopics: look?.hasTopics }),
        ...present({ isAdmin: look?.isAdmin, mayManageTopics: look?.mayManageTopics, trouble: why }),
      })),
      bot: present({
        ...{ id: bot.id, state: bot.state, username: self?.username, why: bot.why },
        since: isoTime(bot.sinceMs),
      }),
      ...(chat && { chat: { ...chat, ...present({ id: chatId }) } }),
      ...present({ trouble }),
    }
  },
})

export const telegramTest = operation({
  name: "telegram.test",
  summary: "Test Telegram: send a message, create a topic and delete it",
  ...OWNER_WRITES,
  input: z.strictObject({}),
  output: z.object({
    ok: z.boolean(),
    steps: z.array(z.object({ chatId: z.string(), what: z.string(), ok: z.boolean(), detail: z.string() })),
  }),
  isRefusal: ({ ok }) => !ok,
  text: ({ ok, steps }) =>
    [
      ...steps.map((step) => `${step.ok ? "ok  " : "FAIL"}  ${step.what}: ${step.detail}`),
      ok ? `It works: check your phone (${steps[0]?.chatId}).` : "→ throughline doctor suggests a fix",
    ].join("\n"),
  async run({ telegram }) {
    const steps = await telegram.test()
    return { ok: steps.every((step) => step.ok), steps }
  },
})

export const telegramPair = operation({
  name: "telegram.pair",
  summary: "Create a pairing code: whoever sends it to the bot can message sessions, or only one team's in its chat",
  ...OWNER_WRITES,
  audited: "itself",
  input: z.strictObject({
    team: z.string().optional().describe("Limit to sessions of this team, in its own chat"),
  }),
  output: z.object({ code: z.string(), expiresAt: z.string() }),
  text: ({ code, expiresAt }) =>
    `Send this to the bot in Telegram: ${code}\nValid once, until ${expiresAt.slice(11, 16)} UTC.`,
  async run({ telegram }, { team }) {
    const { code, expiresAtMs } = await telegram.pair(team)
    return { code, expiresAt: isoTime(expiresAtMs) }
  },
})

export const telegramUsers = operation({
  name: "telegram.users",
  summary: "List the people who can message sessions through Telegram",
  effect: "read",
  access: "owner",
  accessReason: "names and ids of people, which concern nobody else",
  on: ["cli", "http"],
  input: z.strictObject({}),
  output: z.object({
    users: z.array(
      z.object({
        userId: z.string(),
        name: z.string().optional(),
        team: z.string().optional().describe("Limited to this team's chat"),
        pairedAt: z.string().optional(),
      }),
    ),
  }),
  text: ({ users }) =>
    users.length === 0
      ? "Nobody yet: create a code with `throughline telegram pair`."
      : table(
          ["USER", "NAME", "WHERE", "SINCE"],
          users.map(({ userId, name, team, pairedAt }) => [
            userId,
            name ?? "-",
            team === undefined ? "everywhere" : `team ${team}`,
            pairedAt === undefined ? "in config.json" : minute(pairedAt),
          ]),
        ),
  async run({ telegram }) {
    const people = await telegram.people()
    return { users: people.map(({ pairedAtMs, ...rest }) => present({ ...rest, pairedAt: isoTime(pairedAtMs) })) }
  },
})

export const telegramUsersRemove = operation({
  name: "telegram.users.remove",
  summary: "Revoke a person's access through Telegram",
  ...OWNER_WRITES,
  audited: "itself",
  positional: ["userId"],
  input: z.strictObject({ userId: z.string().regex(/^\d+$/).describe("Their id, from telegram users") }),
  output: z.object({ userId: z.string() }),
  text: ({ userId }) => `Removed ${userId}.`,
  async run({ telegram }, { userId }) {
    await telegram.remove(userId)
    return { userId }
  },
})

/** The bot in one line. */
export function botLine({ id, username, state, why, since }: NonNullable<TelegramView["bot"]>): string {
  const name = username === undefined ? `bot ${id}` : `@${username}`
  const when = since === undefined ? "" : ` since ${minute(since)}`
  return `${name}: ${STATES[state]}${when}${why === undefined ? "" : ` (${why})`}`
}

const STATES: Record<NonNullable<TelegramView["bot"]>["state"], string> = {
  ok: "listening",
  conflict: "another program uses its token; waiting",
  unauthorised: "Telegram rejects its token",
  away: "Telegram is unreachable",
  new: "not heard of yet",
}

function statusText({
  bot,
  chat,
  teamChats,
  moved,
  trouble,
  people,
  topics,
  holds,
  doubts,
  ...figures
}: TelegramView): string {
  if (!bot) return "Telegram is not set up. Run `throughline telegram setup`."
  const rights = chat && [
    chat.hasTopics ? "topics" : "NO topics",
    ...(chat.kind === "private"
      ? []
      : [
          chat.mayManageTopics ? "may manage topics" : "may NOT manage topics",
          chat.mayDeleteMessages ? "may delete messages" : "may NOT delete messages",
        ]),
  ]
  const sent = [
    ...(figures.waiting > 0 ? [`${figures.waiting} to be sent`] : []),
    ...(figures.failed > 0 ? [`${figures.failed} were not taken`] : []),
    ...(figures.uncertain > 0 ? [`${figures.uncertain} may or may not have arrived`] : []),
  ]
  const used = Object.entries(topics).filter(([, count]) => count > 0)
  return [
    `bot     ${botLine(bot)}`,
    ...(trouble === undefined ? [] : [`!       ${trouble}`]),
    ...(chat ? [`chat    ${chat.title}${chat.id === undefined ? "" : ` (${chat.id})`}: ${rights!.join(", ")}`] : []),
    ...teamChats.map(teamChatLine),
    ...(moved ? [`!       telegram.chat is ${moved.from}, and the group became ${moved.to}, which is used`] : []),
    `people  ${people === 0 ? "nobody has access yet: throughline telegram pair" : `${people} with access`}`,
    `topics  ${used.length === 0 ? "none yet" : used.map(([state, count]) => `${count} ${state}`).join(", ")}`,
    ...(sent.length === 0 ? [] : [`outbox  ${sent.join(", ")}`]),
    ...holds.map(({ why, since, nextAt }) => `!       on hold since ${since}, tried again at ${nextAt}: ${why}`),
    ...doubts.map(({ name, count, at }) => `!       ${count} topic(s) "${name}" may be there twice, since ${at}`),
  ].join("\n")
}

function teamChatLine({ id, title, teams, threads, hasTopics, trouble }: TelegramView["teamChats"][number]): string {
  const name = title === undefined ? id : `${title} (${id})`
  if (trouble !== undefined) return `!       ${name} of ${teams.join(", ")}: ${trouble}`
  const where =
    threads.length > 0 ? `thread ${threads.join(", ")}` : hasTopics ? "topics" : "no topics, sessions are named"
  return `chat    ${name} of ${teams.join(", ")}: ${where}`
}
