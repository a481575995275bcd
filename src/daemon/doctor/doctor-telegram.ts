import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import type { SystemFinding } from "../../operations/system.ts"
import type { TelegramView } from "../../operations/telegram.ts"
import type { DaemonCalls } from "../commands/connect.ts"
import { loadConfig } from "../config/config.ts"
import type { Config } from "../config/settings.ts"
import type { Environment } from "../process/environment.ts"
import type { Home } from "../process/home.ts"
import { good, warning, wrong } from "./finding.ts"
import type { TeamGroup } from "./telegram-check.ts"

/** Telegram findings; none if no bot is configured. */
export async function telegramFindings(
  home: Home,
  environment: Environment,
  daemon: Pick<DaemonCalls, "callIfRunning"> | undefined,
): Promise<SystemFinding[]> {
  const config = settingsOf(home, environment)
  if (config?.telegram.token === undefined) return []
  const { token, apiRoot, chat, users } = config.telegram
  const [{ telegramChannel }, { checkBot, checkTeamGroups }] = await Promise.all([
    import("../../adapters/telegram/telegram.ts"),
    import("./telegram-check.ts"),
  ])
  const kept = daemon && ((await daemon.callIfRunning("telegram.status", {}, { surface: "cli" })) as TelegramView)
  const channel = telegramChannel({ token, apiRoot })
  const ofTeams = kept?.teamChats.map(({ id, ...rest }) => ({ ...rest, chatId: id })) ?? teamGroups(config.teams)
  // If every team has a group, no common one is needed.
  const isTeamsOnly = chat === undefined && users.length === 0 && ofTeams.length > 0
  const { findings, self } = await checkBot(channel, kept?.moved?.to ?? chat, isTeamsOnly)
  const groups = self ? await checkTeamGroups(channel, self, ofTeams) : []
  return [...findings, ...groups, tmux(environment), ...(kept ? keptFindings(kept) : [])].map((finding) => ({
    ...finding,
    check: `telegram ${finding.check}`,
  }))
}

/** An invalid configuration is reported by its own check. */
function settingsOf(home: Home, environment: Environment) {
  try {
    return loadConfig({ path: home.config, environment: environment.settings, flags: [] }).config
  } catch {
    return undefined
  }
}

/** The configured groups; only a running daemon knows if they have moved. */
function teamGroups(teams: Config["teams"]): TeamGroup[] {
  const chats = Map.groupBy(
    Object.entries(teams).flatMap(([name, { chat }]) => (chat ? [{ name, chat }] : [])),
    ({ chat }) => chat.id,
  )
  return [...chats].map(([chatId, found]) => ({
    chatId,
    teams: found.map(({ name }) => name),
    threads: [...new Set(found.flatMap(({ chat }) => chat.thread ?? []))],
  }))
}

function tmux({ machine }: Environment): SystemFinding {
  const dir = (machine.env.PATH ?? "").split(delimiter).find((dir) => isProgram(join(dir, "tmux")))
  if (dir !== undefined) return good("tmux", join(dir, "tmux"))
  return warning(
    "tmux",
    "tmux is not on the PATH: your messages wait until an agent fetches them",
    "Install tmux and run agents in it: sudo apt install tmux (macOS: brew install tmux)",
  )
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function keptFindings({ bot, moved, people, holds, doubts }: TelegramView): SystemFinding[] {
  return [
    ...(moved ? [movedGroup(moved)] : []),
    ...(bot ? [listening(bot)] : []),
    people > 0
      ? good("people", `${people} can message sessions`)
      : warning(
          "people",
          "nobody can message sessions yet",
          "throughline telegram pair creates a code; send it to the bot",
        ),
    ...holds.map(
      ({ why, since, nextAt }): SystemFinding =>
        warning(
          "outbox",
          `paused since ${since}: ${why}`,
          `Fix the cause; it is retried at ${nextAt}, and nothing is lost meanwhile.`,
        ),
    ),
    ...doubts.map(
      ({ name, count, at }): SystemFinding =>
        warning(
          "topics",
          `"${name}" may exist ${count + 1} times: one was requested at ${at} and got no answer`,
          `In Telegram, look for a second topic "${name}" without messages in it, and delete that one.`,
        ),
    ),
  ]
}

function movedGroup({ from, to }: NonNullable<TelegramView["moved"]>): SystemFinding {
  return warning(
    "chat",
    `telegram.chat is ${from}; that group was migrated to ${to}, which is used`,
    `Nothing is lost. To update the configuration: throughline telegram setup --chat ${to}`,
  )
}

function listening({ state, why, since }: NonNullable<TelegramView["bot"]>): SystemFinding {
  const check = "listening"
  const when = since === undefined ? "" : ` since ${since}`
  const said = why === undefined ? "" : ` (${why})`
  if (state === "ok") return good(check, `yes,${when}`)
  if (state === "new") return warning(check, "not yet", "Nothing: it starts a moment after the daemon.")
  if (state === "conflict")
    return wrong(
      check,
      `another program polls this bot's updates${when}${said}`,
      "A token works for one program only: stop the other one, or give this machine its own bot with throughline telegram setup. If you cannot find it: @BotFather, /revoke. Polling resumes automatically when the other one is gone.",
    )
  if (state === "unauthorised") return wrong(check, `the token is rejected${when}${said}`, "throughline telegram setup")
  return warning(
    check,
    `Telegram is unreachable${when}${said}`,
    "Check this machine's network. Outgoing messages stay queued, and Telegram keeps incoming ones for a day.",
  )
}
