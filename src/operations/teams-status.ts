import * as z from "zod"
import { CONTROLS } from "../domain/pair.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import type { OrphanedSession } from "../teams/orphaned-sessions.ts"
import type { PairState } from "../teams/status.ts"
import { ANYONE_READS, ANYONE_WRITES, OWNER_WRITES, operation } from "./operation.ts"
import { AskView, askText, viewWaiting } from "./teams-ask.ts"
import { average, counted, fetchNote, minute, table } from "./text.ts"
import { HOOKLESS_VIEW, hooklessView } from "./views.ts"

const ends = { from: z.string().optional(), to: z.string(), threadId: z.string() }

const PairView = z.object({
  id: z.string(),
  ...ends,
  platform: z.string(),
  status: z.string(),
  sessionId: z.string().optional(),
  messages: z.number(),
  sessions: z.number(),
  /** Absent while there is no session. */
  messagesPerSession: z.number().optional(),
  waiting: z.number(),
  running: z.number(),
  process: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string(),
})

const ProcessView = z.object({
  pid: z.number().optional(),
  ...ends,
  state: z.string(),
  memoryMb: z.number().optional(),
  startedAt: z.string(),
  lastUsedAt: z.string(),
})

const OrphanedSessionView = z.object({
  sessionId: z.string(),
  platform: z.string(),
  ...ends,
  messages: z.number(),
  lastUsedAt: z.string(),
})

export const teamsStatus = operation({
  name: "teams_status",
  summary: "Teams, pairs, processes; or one message, with its answer",
  effect: "read",
  access: "anyone",
  on: ["mcp", "http", "cli"],
  tool: { set: "teams" },
  command: "teams status",
  positional: ["team"],
  input: z.strictObject({
    team: z.string().min(1).optional().describe("Team"),
    messageId: z.string().min(1).optional().describe("Message"),
  }),
  output: z.object({
    teams: z.array(
      z.object({
        name: z.string(),
        platform: z.string(),
        description: z.string().optional(),
        color: z.string().optional(),
        pairs: z.number(),
        waiting: z.number(),
        running: z.number(),
        ...HOOKLESS_VIEW,
        /** Pending messages, not counting questions. */
        mail: z.number().optional(),
      }),
    ),
    pairs: z.array(PairView),
    processes: z.array(ProcessView),
    foundlings: z.array(OrphanedSessionView).optional(),
    message: AskView.optional(),
  }),
  text({ teams, pairs, processes, foundlings: orphaned = [], message }) {
    if (message) return message.answer === undefined ? stateText(message) : askText(message)
    const hasHookless = teams.some(({ fetches }) => fetches)
    const rows = teams.map((team) => [
      team.name,
      team.platform,
      String(team.pairs),
      String(team.waiting),
      String(team.running),
      ...(hasHookless ? [team.fetches ? fetchNote({ ...team, waiting: team.mail ?? 0 }) : ""] : []),
    ])
    const running = processes.map(({ pid, from, to, threadId, state, memoryMb, lastUsedAt }) => [
      String(pid ?? "-"),
      `${from ?? "-"} → ${to}`,
      threadId,
      state,
      memoryMb === undefined ? "-" : `${memoryMb} MB`,
      lastUsedAt.slice(0, 19).replace("T", " "),
    ])
    return [
      teams.length === 0
        ? "No teams."
        : table(["TEAM", "AGENT", "THREADS", "WAITING", "AT", ...(hasHookless ? ["MAIL"] : [])], rows),
      processes.length === 0
        ? `No process is running for them; ${counted(pairs.length, "thread")} (throughline teams threads).`
        : table(["PID", "PAIR", "THREAD", "STATE", "MEMORY", "USED"], running),
      ...orphaned.slice(0, MOST_SHOWN).map(orphanedText),
    ].join("\n\n")
  },
  async run({ teams, permits, reach }, { team, messageId }) {
    if (messageId !== undefined) {
      const message = await viewWaiting(permits, await teams.message(messageId))
      return { teams: [], pairs: [], processes: [], message }
    }
    const state = await teams.status(team)
    const orphaned = await teams.orphanedSessions.list(team)
    const queues = new Map((await reach.messages.status()).map((one) => [one.target, one]))
    return {
      teams: state.teams.map(({ description, color, ...rest }) => ({
        ...rest,
        ...present({ color, description: description || undefined }),
        ...hooklessView(queues.get(rest.name)),
        mail: queues.get(rest.name)?.pending ?? 0,
      })),
      pairs: state.pairs.map(viewPair),
      ...(orphaned.length === 0 ? {} : { foundlings: orphaned.map(viewOrphaned) }),
      processes: state.processes.map(({ pid, from, to, threadId, state, memoryBytes, startedAtMs, lastUsedAtMs }) => ({
        ...{ to, threadId, state, startedAt: isoTime(startedAtMs), lastUsedAt: isoTime(lastUsedAtMs) },
        ...present({ pid, from, memoryMb: memoryBytes === null ? null : Math.round(memoryBytes / 1024 / 1024) }),
      })),
    }
  },
})

export const teamsThreads = operation({
  name: "teams.threads",
  summary: "List pairs: who asked whom, in which thread, and whether the agent is awake",
  ...ANYONE_READS,
  positional: ["team"],
  input: z.strictObject({ team: z.string().min(1).optional() }),
  output: z.object({ pairs: z.array(PairView) }),
  text: ({ pairs }) =>
    pairs.length === 0
      ? "No questions asked yet: throughline ask <team> <question>"
      : table(
          ["FROM", "TO", "THREAD", "MESSAGES", "PER SESSION", "STATUS", "PROCESS", "CREATED", "USED", "SESSION"],
          pairs.map((pair) => [
            pair.from ?? "-",
            pair.to,
            pair.threadId,
            String(pair.messages),
            String(pair.messagesPerSession ?? "-"),
            pair.status,
            pair.process,
            minute(pair.createdAt),
            minute(pair.lastUsedAt),
            pair.sessionId?.slice(0, 8) ?? "-",
          ]),
        ),
  run: async ({ teams }, { team }) => ({ pairs: (await teams.status(team)).pairs.map(viewPair) }),
})

export const teamsControl = operation({
  name: "teams_control",
  summary: "Control your pair with a team, or its process",
  ...ANYONE_WRITES,
  tool: { set: "teams", isBrief: true },
  command: "teams control",
  positional: ["operation", "team"],
  input: z.strictObject({
    operation: z.enum(CONTROLS),
    team: z.string().min(1).optional().describe("Asked team"),
    fromTeam: z.string().min(1).optional().describe("Asking team"),
    threadId: z.string().min(1).max(100).optional().describe("Thread"),
    messageId: z.string().min(1).optional().describe("Message"),
    force: z.boolean().default(false).describe("Even while it is busy"),
  }),
  output: z.object({ changed: z.boolean(), note: z.string(), messageId: z.string().optional(), pair: PairView }),
  text: ({ changed, note, pair: { from, to, threadId } }) =>
    `${from ?? "-"} → ${to} (${threadId}): ${note}${changed ? "" : "; nothing was changed"}.`,
  async run({ teams }, { operation, team, fromTeam, threadId, messageId, force }, caller) {
    const done = await teams.control(caller, { operation, team, fromTeam, threadId, messageId, force })
    const { pairs } = await teams.status()
    const pair = pairs.find(({ id }) => id === done.pair.id)!
    return { changed: done.changed, note: done.note, messageId: done.messageId, pair: viewPair(pair) }
  },
})

export const teamsAdopt = operation({
  name: "teams.adopt",
  summary: "Re-attach an orphaned session to a pair",
  ...OWNER_WRITES,
  positional: ["session"],
  input: z.strictObject({
    session: z.string().min(4).describe("The agent's own session id or a prefix of it, from teams status"),
    from: z.string().min(1).optional().describe("The asking team (default: as recorded in the session)"),
    to: z.string().min(1).optional().describe("The asked team (default: as recorded in the session)"),
    thread: z.string().min(1).max(100).optional().describe("The thread (default: as recorded in the session)"),
  }),
  output: z.object({ pair: PairView }),
  text: ({ pair: { from, to, threadId, sessionId } }) =>
    `${from ?? "-"} → ${to} (${threadId}) continues with ${sessionId}.`,
  async run({ teams }, { session, from, to, thread }) {
    const { id } = await teams.orphanedSessions.adopt({ session, fromTeam: from, toTeam: to, threadId: thread })
    const { pairs } = await teams.status()
    return { pair: viewPair(pairs.find((pair) => pair.id === id)!) }
  },
})

const MOST_SHOWN = 5

const stateText = ({ messageId, to, status, reason }: z.output<typeof AskView>) =>
  `${messageId} to ${to} is ${status}${reason === undefined ? "" : `: ${reason}`}.`

function orphanedText(orphaned: z.output<typeof OrphanedSessionView>): string {
  const { sessionId, from, to, threadId, messages, lastUsedAt } = orphaned
  const what = `${sessionId} was started for ${from ?? "-"} → ${to} (${threadId}): ${counted(messages, "message")}, the last on ${lastUsedAt.slice(0, 10)}`
  return `${what}. Orphaned; re-attach it: throughline teams adopt ${sessionId}`
}

function viewOrphaned({ session, fromTeam, toTeam, threadId }: OrphanedSession): z.output<typeof OrphanedSessionView> {
  const { nativeId, platform, promptCount, updatedAtMs } = session
  return {
    ...{ sessionId: nativeId, platform, to: toTeam, threadId, messages: promptCount, lastUsedAt: isoTime(updatedAtMs) },
    ...present({ from: fromTeam }),
  }
}

function viewPair(pair: PairState): z.output<typeof PairView> {
  const { id, fromTeam, toTeam, threadId, platform, status, nativeId, messageCount, sessions, process } = pair
  return {
    ...{ id, to: toTeam, threadId, platform, status, messages: messageCount, sessions },
    ...{ waiting: pair.waiting, running: pair.running },
    ...present({ from: fromTeam, sessionId: nativeId }),
    ...(sessions === 0 ? {} : { messagesPerSession: average(messageCount, sessions) }),
    process: process?.state ?? "asleep",
    createdAt: isoTime(pair.createdAtMs),
    lastUsedAt: isoTime(pair.lastUsedAtMs),
  }
}
