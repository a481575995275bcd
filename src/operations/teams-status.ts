import * as z from "zod"
import { CONTROLS } from "../domain/pair.ts"
import type { PairState } from "../teams/status.ts"
import { operation } from "./operation.ts"
import { AskView, askText, viewAsk } from "./teams-ask.ts"
import { table } from "./text.ts"

const PairView = z.object({
  id: z.string(),
  from: z.string().optional(),
  to: z.string(),
  threadId: z.string(),
  platform: z.string(),
  status: z.string(),
  sessionId: z.string().optional(),
  messages: z.number(),
  waiting: z.number(),
  running: z.number(),
  process: z.string(),
  lastUsedAt: z.string(),
})

const ProcessView = z.object({
  pid: z.number().optional(),
  from: z.string().optional(),
  to: z.string(),
  threadId: z.string(),
  state: z.string(),
  memoryMb: z.number().optional(),
  startedAt: z.string(),
  lastUsedAt: z.string(),
})

export const teamsStatus = operation({
  name: "teams_status",
  summary: "Teams, pairs, processes; or one message, with its answer",
  effect: "read",
  on: ["mcp", "http", "cli"],
  tool: { set: "teams" },
  command: "teams status",
  positional: ["team"],
  input: z.strictObject({
    team: z.string().min(1).optional(),
    messageId: z.string().min(1).optional(),
  }),
  output: z.object({
    teams: z.array(
      z.object({
        name: z.string(),
        platform: z.string(),
        description: z.string().optional(),
        pairs: z.number(),
        waiting: z.number(),
        running: z.number(),
      }),
    ),
    pairs: z.array(PairView),
    processes: z.array(ProcessView),
    message: AskView.optional(),
  }),
  text({ teams, pairs, processes, message }) {
    if (message) return message.answer === undefined ? stateText(message) : askText(message)
    const rows = teams.map((team) => [
      team.name,
      team.platform,
      String(team.pairs),
      String(team.waiting),
      String(team.running),
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
      teams.length === 0 ? "No teams." : table(["TEAM", "AGENT", "THREADS", "WAITING", "AT"], rows),
      processes.length === 0
        ? `No process runs for them; ${pairs.length} threads (throughline teams threads).`
        : table(["PID", "PAIR", "THREAD", "STATE", "MEMORY", "USED"], running),
    ].join("\n\n")
  },
  async run({ teams }, { team, messageId }) {
    if (messageId !== undefined)
      return { teams: [], pairs: [], processes: [], message: viewAsk(await teams.message(messageId)) }
    const state = await teams.status(team)
    return {
      teams: state.teams.map(({ description, ...rest }) => ({
        ...rest,
        ...(description === "" ? {} : { description }),
      })),
      pairs: state.pairs.map(viewPair),
      processes: state.processes.map(({ pid, from, to, threadId, state, memoryBytes, startedAtMs, lastUsedAtMs }) => ({
        ...{ to, threadId, state, startedAt: time(startedAtMs), lastUsedAt: time(lastUsedAtMs) },
        ...(pid === null ? {} : { pid }),
        ...(from === null ? {} : { from }),
        ...(memoryBytes === null ? {} : { memoryMb: Math.round(memoryBytes / 1024 / 1024) }),
      })),
    }
  },
})

export const teamsThreads = operation({
  name: "teams.threads",
  summary: "List who has asked whom, in which thread, and whether its agent is awake",
  effect: "read",
  on: ["http", "cli"],
  positional: ["team"],
  input: z.strictObject({ team: z.string().min(1).optional() }),
  output: z.object({ pairs: z.array(PairView) }),
  text: ({ pairs }) =>
    pairs.length === 0
      ? "Nobody has asked anybody yet: throughline ask <team> <question>"
      : table(
          ["FROM", "TO", "THREAD", "MESSAGES", "STATUS", "PROCESS", "USED", "SESSION"],
          pairs.map((pair) => [
            pair.from ?? "-",
            pair.to,
            pair.threadId,
            String(pair.messages),
            pair.status,
            pair.process,
            pair.lastUsedAt.slice(0, 16).replace("T", " "),
            pair.sessionId?.slice(0, 8) ?? "-",
          ]),
        ),
  run: async ({ teams }, { team }) => ({ pairs: (await teams.status(team)).pairs.map(viewPair) }),
})

export const teamsControl = operation({
  name: "teams_control",
  summary: "Act on your thread with a team, or on its process",
  effect: "write",
  on: ["mcp", "http", "cli"],
  tool: { set: "teams", isBrief: true },
  command: "teams control",
  positional: ["operation", "team"],
  input: z.strictObject({
    operation: z.enum(CONTROLS),
    team: z.string().min(1).optional(),
    fromTeam: z.string().min(1).optional(),
    threadId: z.string().min(1).max(100).optional(),
    messageId: z.string().min(1).optional(),
    force: z.boolean().default(false).describe("Also while it is busy"),
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

const time = (ms: number) => new Date(ms).toISOString()

const stateText = ({ messageId, to, status, reason }: z.output<typeof AskView>) =>
  `${messageId} to ${to} is ${status}${reason === undefined ? "" : `: ${reason}`}.`

function viewPair(pair: PairState): z.output<typeof PairView> {
  const { id, fromTeam, toTeam, threadId, platform, status, nativeId, messageCount, waiting, running, process } = pair
  return {
    ...{ id, to: toTeam, threadId, platform, status, messages: messageCount, waiting, running },
    ...(fromTeam === null ? {} : { from: fromTeam }),
    ...(nativeId === null ? {} : { sessionId: nativeId }),
    process: process?.state ?? "asleep",
    lastUsedAt: time(pair.lastUsedAtMs),
  }
}
