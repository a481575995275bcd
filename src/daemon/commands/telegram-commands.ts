import { text as readAll } from "node:stream/consumers"
import type { Command } from "commander"
import { Failure } from "../../domain/failure.ts"
import { sleep } from "../../lib/clock.ts"
import { present } from "../../lib/defined.ts"
import type { SystemFinding } from "../../operations/system.ts"
import { findingLines } from "../doctor/doctor.ts"
import { refuseAgents } from "../wiring/agent-shell.ts"
import { ensureDaemon, stopDaemon } from "./connect.ts"
import { type CommandContext, collect } from "./context.ts"
import type { SetUp } from "./telegram-setup.ts"
import { isAtTerminal } from "./terminal.ts"

interface Flags {
  token?: string
  chat?: string
  private?: boolean
  user: string[]
  yes?: boolean
  json?: boolean
}

interface Outcome extends SetUp {
  code?: { code: string; expiresAt: string }
  test?: { ok: boolean; steps: { what: string; ok: boolean; detail: string }[] }
}

/** A command, not an operation: it changes a file, asks a person, and restarts the daemon. */
export function addTelegramCommands(program: Command, context: CommandContext): void {
  const telegram = program.commands.find((command) => command.name() === "telegram")!
  telegram.description("Reach sessions through Telegram: set up, test, and manage who has access")
  telegram
    .command("setup")
    .description("Set up the bot: token, group, rights, who has access, and a test message")
    .option("--token <token>", "the bot's token, as given by @BotFather; - reads it from stdin")
    .option("--chat <id>", "the number of the group, such as -1001234567890")
    .option("--private", "topics in the private chat with the bot instead of a group")
    .option("--user <id>", "Telegram user id of a person who can message sessions; repeatable", collect, [])
    .option("--yes", "ask nothing: everything is given, or set already")
    .option("--json", "print the answer as JSON, and ask nothing")
    .action(async (flags: Flags) => {
      refuseAgents(context.environment, "telegram setup")
      if (flags.chat !== undefined && flags.private)
        throw new Failure("bad_input", "chat and private are mutually exclusive", { parameter: "private" })
      const outcome = await setUp(context, flags)
      if (flags.json) context.write(`${JSON.stringify(view(outcome), null, 2)}\n`)
      else context.write(`${summary(outcome)}\n`)
      if (outcome.findings.some(({ state }) => state === "wrong") || outcome.test?.ok === false) process.exitCode = 1
    })
}

async function setUp({ home, environment, calls, caller, write }: CommandContext, flags: Flags): Promise<Outcome> {
  const isAsking = !flags.yes && !flags.json
  if (isAsking && !isAtTerminal())
    throw new Failure("bad_input", "no terminal to ask on: pass --yes, with --token and --chat", {
      parameter: "yes",
    })
  const say = isAsking ? (text: string) => write(`${text}\n`) : () => {}
  const token = flags.token === "-" ? (await readAll(process.stdin)).trim() : flags.token
  const [{ setUpTelegram }, prompts] = await Promise.all([
    import("./telegram-setup.ts"),
    isAsking ? import("../wiring/prompts.ts").then(({ terminalPrompts }) => terminalPrompts) : undefined,
  ])
  const choices = { token, chat: flags.chat, isPrivate: flags.private, users: flags.user }
  const done = await setUpTelegram({ home, environment, prompts, say }, choices)
  // The daemon reads the token at its start. Sessions and queued messages are not affected.
  const { makeService } = await import("../process/service.ts")
  if (done.isChanged && !(await makeService(home, environment).restart())) await stopDaemon(home)
  await ensureDaemon(home)
  const ask = <T>(name: string) => calls.call(name, {}, caller) as Promise<T>
  const count = async () => (await ask<{ users: unknown[] }>("telegram.users")).users.length
  const code = (await count()) === 0 ? await ask<NonNullable<Outcome["code"]>>("telegram.pair") : undefined
  if (code && isAsking) {
    say(`\nWho can message sessions? Send this to @${done.self.username} in Telegram:\n\n    ${code.code}\n`)
    while ((await count()) === 0 && Date.now() < Date.parse(code.expiresAt)) await sleep(1_000)
    say(
      (await count()) > 0 ? "Paired." : "Nobody sent it in time. Create another code with `throughline telegram pair`.",
    )
  }
  const isPaired = (await count()) > 0
  const hasPlace = done.chat !== undefined || isPaired
  const test = hasPlace ? await ask<NonNullable<Outcome["test"]>>("telegram.test") : undefined
  return { ...done, ...(code && !isPaired && { code }), ...(test && { test }) }
}

function view({ self, chat, users, findings, isChanged, code, test }: Outcome) {
  const bot = { id: self.botId, username: self.username }
  return present({ bot, chat, users, findings, changed: isChanged, code, test })
}

function summary({ self, chat, findings, test, code }: Outcome): string {
  const tried = (test?.steps ?? []).map(
    ({ what, ok, detail }): SystemFinding => ({ check: what, state: ok ? "good" : "wrong", detail }),
  )
  return [
    ...findingLines([...findings, ...tried]),
    "",
    `@${self.username} is set up${chat ? ` in ${chat.title}` : " for private chats"}: new sessions get a topic there.`,
    ...(code ? [`Whoever sends it ${code.code} can message sessions.`] : []),
    "Next: keep it running after a reboot with `throughline service install`; check it with `throughline telegram status`.",
  ].join("\n")
}
