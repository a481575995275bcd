import type { IncomingMessage } from "../../domain/channel.ts"
import type { Messages } from "../../domain/messages.ts"
import type { Resuming } from "../../domain/resuming.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic, Verbosity } from "../../domain/topic.ts"
import type { AnswerOptions, Answers } from "./answers.ts"
import type { CommandFacts } from "./facts.ts"
import type { Handled, Write } from "./handling.ts"
import { startedWords } from "./resume-button.ts"
import type { Recipient, ToSession } from "./to-session.ts"
import type { Known, Scope } from "./who.ts"

export interface CommandDeps {
  store: Store
  messages: Pick<Messages, "interrupt">
  resuming: Resuming
  toSession: ToSession
  facts: CommandFacts
  answer: Answers
  homeDir: string
}

export interface CommandFrom {
  /** The session of the topic or the team of the group; undefined elsewhere. */
  to: Recipient | undefined
  /** What may be shown and started. */
  scope: Scope
  by: Known
}

/** Offered when somebody types a slash. */
export const COMMANDS = [
  { name: "status", summary: "Status of this topic's session, or of all sessions" },
  { name: "sessions", summary: "List the running sessions" },
  { name: "queue", summary: "List the messages queued for the agent" },
  { name: "new", summary: "Start a session: /new <team or folder>" },
  { name: "resume", summary: "Resume an ended session" },
  { name: "stop", summary: "Press Esc: interrupt the current turn" },
  { name: "mute", summary: "Mute this topic" },
  { name: "unmute", summary: "Unmute this topic" },
  { name: "verbose", summary: "Show everything, including every tool call" },
  { name: "normal", summary: "Show the conversation, and a line per tool call" },
  { name: "quiet", summary: "Show only what needs you" },
  { name: "help", summary: "List the commands" },
] as const

/** Paths and forwarded messages are no commands. */
export const isCommand = ({ text, isEdit, files, forwardedFrom }: IncomingMessage) =>
  !isEdit && files.length === 0 && forwardedFrom === null && /^\/\/?[a-z][\w:-]*(?:@\w+)?(?:\s|$)/i.test(text)

interface Asked extends CommandFrom {
  message: IncomingMessage
  topic: Topic | undefined
  rest: string
}

type Told = { outcome: string; words: string; writes?: Write[] } & Pick<AnswerOptions, "buttons">

export type Commands = ReturnType<typeof makeCommands>

/** Our own commands first; in a topic all others, and those with two slashes, go to the agent. */
export function makeCommands(deps: CommandDeps) {
  const { store, messages, resuming, toSession, facts, answer } = deps

  /** The session of the topic, or the team's current one. */
  const sessionOf = async ({ topic, team }: Partial<Recipient> = {}) =>
    topic ? topic.sessionId : ((team && (await store.presence.byTeam(team.name))?.sessionId) ?? null)

  const change =
    (change: { isMuted: boolean } | { verbosity: Verbosity }, words: string) =>
    async ({ topic }: Asked): Promise<Told> =>
      topic
        ? { outcome: "changed", words, writes: [(tx) => tx.topics.change(topic.id, change)] }
        : { outcome: "no topic", words: IN_A_TOPIC }

  const own: Record<string, (asked: Asked) => Promise<Told | Handled>> = {
    status: async ({ topic, scope }) => tell(await facts.status(topic, scope)),
    sessions: async ({ scope }) => tell(await facts.sessions(scope)),
    queue: async ({ topic, scope }) => tell(await facts.queue(topic, scope)),
    help: async ({ to }) => tell(help(to)),
    start: async ({ to }) => tell(help(to)),
    pair: async () => tell("You are already paired."),
    mute: change({ isMuted: true }, "This topic is now muted. /unmute turns sound back on."),
    unmute: change({ isMuted: false }, "What needs you makes a sound again."),
    verbose: change({ verbosity: "verbose" }, "Everything is shown here now, including every tool call."),
    normal: change({ verbosity: "normal" }, "The conversation is shown here now, with a line per tool call."),
    quiet: change({ verbosity: "quiet" }, "Only what needs you is shown here now."),

    async stop({ message, to, by, rest }) {
      // A text is sent as soon as the turn has ended.
      if (to && rest !== "") return toSession.say({ message, to, by, text: rest, priority: "stop" })
      const sessionId = await sessionOf(to)
      if (sessionId === null) return { outcome: "no topic", words: IN_A_TOPIC }
      const result = await messages.interrupt(sessionId)
      return result.interrupted ? tell("Stopped.") : tell(`Not stopped: ${result.reason}.`)
    },

    async new({ message, rest, scope }) {
      const [only, other] = scope === "all" ? [] : scope
      const team = rest === "" && other === undefined ? only : rest
      if (rest === "" && team === undefined) return tell(facts.startable(scope))
      if (scope !== "all" && !scope.has(team!)) return tell(facts.startable(scope))
      const dir = rest.startsWith("~/") ? `${deps.homeDir}${rest.slice(1)}` : rest
      const where = dir.startsWith("/") ? { dir } : { team: team! }
      // Named after the message: started once, however often it is handled.
      const name = `throughline-new-${message.messageId}`
      return tell(startedWords(await resuming.start(where, name)))
    },

    async resume({ topic, rest, scope }) {
      if (rest === "" && topic?.sessionId) return tell(startedWords(await resuming.resume(topic.sessionId)))
      if (rest === "") return { outcome: "listed", ...(await facts.ended(scope)) }
      const [session, other] = await facts.byPrefix(rest, scope)
      if (!session || other)
        return tell(`${session ? "More than one session begins" : "No session begins"} with ${rest}.`)
      return tell(startedWords(await resuming.resume(session.id)))
    },
  }

  return {
    async run(message: IncomingMessage, from: CommandFrom): Promise<Handled> {
      const { to, by } = from
      const topic = to?.topic
      const { name, rest, isAgents } = parsed(message.text)
      const act = !isAgents && Object.hasOwn(own, name) ? own[name] : undefined
      if (act) {
        const told = await act({ ...from, message, topic, rest })
        if ("kind" in told) return told
        const { outcome, words, writes = [], buttons } = told
        const write = answer(message, words, buttons ? { buttons } : {})
        return { kind: "done", outcome: `/${name}: ${outcome}`, writes: [...writes, write] }
      }
      if (to) {
        const text = `/${name}${rest === "" ? "" : ` ${rest}`}`
        return toSession.say({ message, to, by, text, isCommand: true })
      }
      const words = `There is no /${name} here. ${help(to)}`
      return { kind: "done", outcome: "an unknown command", writes: [answer(message, words)] }
    },
  }
}

/** `/name@bot rest`, or `//name rest` for the agent's own. */
function parsed(text: string): { name: string; rest: string; isAgents: boolean } {
  const [, slashes = "/", name = "", rest = ""] = /^(\/\/?)([\w:-]+)(?:@\w+)?\s*([\s\S]*)$/.exec(text) ?? []
  const isAgents = slashes === "//"
  return { name: isAgents ? name : (OWN_NAME.exec(name)?.[0].toLowerCase() ?? name), rest: rest.trim(), isAgents }
}

const OWN_NAME = new RegExp(`^(?:${[...COMMANDS.map(({ name }) => name), "start", "pair"].join("|")})$`, "i")

function help(to: Recipient | undefined): string {
  const lines = COMMANDS.map(({ name, summary }) => `/${name} – ${summary}`)
  const where = to?.team
    ? `What you write here goes to ${to.team.name}, pictures and files too. Any other /command is its agent's own.`
    : to
      ? "What you write here goes to this session's agent, pictures and files too. Any other /command is the agent's own; //status is its own /status."
      : "What you write in a session's topic goes to its agent."
  return [where, ...lines].join("\n")
}

const IN_A_TOPIC = "Write that in a session's topic."
const tell = (words: string): Told => ({ outcome: "answered", words })
