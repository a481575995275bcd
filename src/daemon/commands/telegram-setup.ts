import { chmodSync, existsSync } from "node:fs"
import { chatOfUpdate, telegramChannel } from "../../adapters/telegram/telegram.ts"
import { editJson } from "../../agents/shared/setup/json.ts"
import type { Channel, ChannelSelf } from "../../domain/channel.ts"
import { Failure } from "../../domain/failure.ts"
import { sleep } from "../../lib/clock.ts"
import type { SystemFinding } from "../../operations/system.ts"
import { writeWhole } from "../../setup/files.ts"
import { loadConfig } from "../config/config.ts"
import { TelegramSettings } from "../config/telegram-settings.ts"
import { checkBot } from "../doctor/telegram-check.ts"
import type { Environment } from "../process/environment.ts"
import { type Home, prepareHome } from "../process/home.ts"
import { recordCommand } from "../wiring/command-audit.ts"
import type { Prompts } from "../wiring/prompts.ts"
import { runningDaemon } from "./connect.ts"

export interface SetupChoices {
  token?: string | undefined
  chat?: string | undefined
  isPrivate?: boolean | undefined
  users: string[]
}

export interface SetUp {
  self: ChannelSelf
  chat: { id: string; title: string } | undefined
  users: string[]
  findings: SystemFinding[]
  isChanged: boolean
}

export interface SetupParts {
  home: Home
  environment: Environment
  /** Absent without a terminal: then everything must be given as options. */
  prompts: Prompts | undefined
  say(text: string): void
}

const TOKEN_STEPS = `A bot of your own, in a minute: in Telegram, write to @BotFather
  /newbot            and answer with a name and a username that ends in "bot"
It answers with a token, such as 123456789:AAE…  It is stored in config.json, readable by you only.`

/** Asks for the bot's settings, checks them with Telegram, then saves them. */
export async function setUpTelegram(parts: SetupParts, choices: SetupChoices): Promise<SetUp> {
  const { home, environment, say } = parts
  const { config, settings } = loadConfig({ path: home.config, environment: environment.settings, flags: [] })
  const known = config.telegram
  const token = await chooseToken(parts, choices.token, known.token)
  const channel = telegramChannel({ token, apiRoot: known.apiRoot })
  const self = await selfOf(channel)
  say(`This is @${self.username} (${self.name}).`)
  const isListening = known.token === token && (await runningDaemon(home)) !== undefined
  const chatId = await chooseChat(parts, { choices, known: known.chat, channel, self, isListening })
  const { findings, look } = await checked(parts, channel, chatId)
  const users = [...new Set([...known.users, ...choices.users.map((user) => valid("users", [user])[0]!)])]
  const isTokenElsewhere = settings.some(
    ({ key, source }) => key === "telegram.token" && source.startsWith("environment"),
  )
  const isChanged = writeDown(parts, {
    token: isTokenElsewhere && known.token === token ? undefined : token,
    chat: chatId,
    users: users.length > 0 ? users : undefined,
  })
  return {
    self,
    chat: chatId === undefined ? undefined : { id: chatId, title: look?.title ?? chatId },
    users,
    findings,
    isChanged,
  }
}

async function chooseToken({ prompts, say }: SetupParts, given: string | undefined, known: string | undefined) {
  if (given !== undefined) return valid("token", given)
  if (known !== undefined) {
    const keep = [
      { id: "keep", label: `keep the configured bot (${known.split(":")[0]})` },
      { id: "new", label: "use another one" },
    ] as const
    if (!prompts || (await prompts.choose("Which bot?", keep)) === "keep") return known
  }
  if (!prompts) throw missing("token", "pass --token (or --token - and write it to stdin), as given by @BotFather")
  say(TOKEN_STEPS)
  const wrong = (text: string) => (isValid("token", text) ? undefined : "It must look like 123456789:AAE…")
  return prompts.ask("Token:", { isSecret: true, check: wrong })
}

async function selfOf(channel: Channel): Promise<ChannelSelf> {
  const told = await channel.self()
  if (told.ok) return told.value
  if (told.trouble.kind === "unauthorised")
    throw new Failure("bad_input", "Telegram does not know this token: copy it once more from @BotFather (/mybots)", {
      parameter: "token",
    })
  throw failed("Telegram could not identify the bot", "why" in told.trouble ? told.trouble.why : told.trouble.kind)
}

interface Choosing {
  choices: SetupChoices
  known: string | undefined
  channel: Channel
  self: ChannelSelf
  /** Our own daemon polls the bot, so no one else may. */
  isListening: boolean
}

async function chooseChat(parts: SetupParts, choosing: Choosing): Promise<string | undefined> {
  const { choices, known, isListening } = choosing
  const { prompts } = parts
  if (choices.chat !== undefined) return valid("chat", choices.chat)
  if (choices.isPrivate) return undefined
  if (!prompts) {
    if (known !== undefined) return known
    throw missing("chat", "pass --chat with the number of the group, or --private for topics in your chat with the bot")
  }
  const mode = await prompts.choose("Where should sessions appear?", [
    ...(known === undefined ? [] : [{ id: "keep" as const, label: `in the configured group (${known})` }]),
    { id: "group" as const, label: "in a group with topics (several people, several machines)" },
    { id: "private" as const, label: "in my private chat with the bot" },
  ])
  if (mode === "keep") return known
  if (mode === "private") return undefined
  if (!isListening) return findGroup(parts, prompts, choosing)
  const wrong = (text: string) => (isValid("chat", text) ? undefined : "It must be a number such as -1001234567890.")
  return prompts.ask("The daemon already polls this bot, so enter the group's number:", { check: wrong })
}

const LOOK_MS = 1_000

/** Finds the group from the bot's updates. Confirms none, so that none is lost. */
async function findGroup({ say }: SetupParts, prompts: Prompts, { channel, self }: Choosing): Promise<string> {
  say(`In Telegram: make a group, turn on Topics (group → Edit → Topics), add @${self.username} as an administrator
with Manage Topics and Delete Messages, and write /start@${self.username} in it. Waiting for it… (Ctrl-C leaves)`)
  const refused = new Set<string>()
  for (;;) {
    const told = await channel.poll({ offset: null, seconds: 0, signal: AbortSignal.timeout(30_000) })
    if (!told.ok && told.trouble.kind === "conflict")
      throw failed("another program uses this bot's token; stop it, or create another bot", told.trouble.why)
    const chats = told.ok ? told.value.map(({ raw }) => chatOfUpdate(raw)) : []
    const found = chats.findLast((chat) => chat?.kind === "group" && !refused.has(chat.chatId))
    if (!found) {
      await sleep(LOOK_MS)
      continue
    }
    const look = await channel.look(found.chatId)
    const title = look.ok ? look.value.title : found.chatId
    const answers = [
      { id: "yes", label: "yes" },
      { id: "no", label: "no, another one" },
    ] as const
    if (look.ok && (await prompts.choose(`Is it the group "${title}"?`, answers)) === "yes") return found.chatId
    refused.add(found.chatId)
  }
}

/** Repeats the check until it passes. A problem that keeps the bot from writing at all is never saved. */
async function checked({ prompts, say }: SetupParts, channel: Channel, chatId: string | undefined) {
  for (;;) {
    const result = await checkBot(channel, chatId)
    const wrong = result.findings.filter(({ state }) => state === "wrong")
    const hopeless = wrong.find(() => result.look === undefined && chatId !== undefined)
    if (!prompts && hopeless) throw failed(hopeless.detail, hopeless.remedy ?? "")
    if (!prompts || wrong.length === 0) return result
    for (const { detail, remedy } of wrong) say(`✗ ${detail}\n  → ${remedy}`)
    const answers = [
      { id: "again", label: "check again" },
      { id: "go", label: "continue anyway" },
    ] as const
    if ((await prompts.choose("Fix it, then:", hopeless ? answers.slice(0, 1) : answers)) === "go") return result
  }
}

type Written = { [Key in "token" | "chat" | "users"]: unknown }

/** For the audit: ids of chat and people, and only whether there is a token. */
const changedOf = ({ token, ...shown }: Written) => ({ ...shown, hasToken: token !== undefined })

function writeDown(parts: SetupParts, values: Written): boolean {
  const { home } = parts
  prepareHome(home)
  const edits = editJson(home.config, "telegram", (file) => {
    file.object(["telegram"])
    for (const [key, value] of Object.entries(values)) {
      const before = file.at(["telegram", key])
      if (value === undefined && key === "chat" && before !== undefined) file.remove(["telegram", key])
      else if (value !== undefined && JSON.stringify(before) !== JSON.stringify(value))
        file.set(["telegram", key], value)
    }
  })
  if (edits.length > 0) recordCommand(parts, "telegram.setup", changedOf(values))
  // Restrict the file before it contains a token.
  if (edits.length > 0 && existsSync(home.config)) chmodSync(home.config, 0o600)
  for (const { after } of edits) writeWhole(home.config, after!)
  return edits.length > 0
}

const isValid = (key: "token" | "chat" | "users", value: unknown) =>
  TelegramSettings.shape[key].safeParse(value).success

/** Never quotes the value: it may be a token. */
function valid<Key extends "token" | "chat" | "users">(key: Key, value: unknown) {
  const parsed = TelegramSettings.shape[key].safeParse(value)
  const parameter = key === "users" ? "user" : key
  if (parsed.success) return parsed.data as NonNullable<ReturnType<(typeof TelegramSettings)["shape"][Key]["parse"]>>
  throw new Failure("bad_input", `${parameter} ${parsed.error.issues[0]!.message}`, { parameter })
}

const missing = (parameter: string, todo: string) =>
  new Failure("bad_input", `${parameter} is missing: ${todo}`, { parameter })
const failed = (what: string, why: string) => new Failure("channel_failed", why === "" ? what : `${what}: ${why}`)
