import * as z from "zod"
import { DELIVERY_STATES } from "../domain/delivery.ts"
import { IF_OPEN } from "../domain/pair.ts"
import { because } from "../domain/reason.ts"
import { present } from "../lib/defined.ts"
import { DAY_MS, HOUR_MS } from "../lib/time.ts"
import type { Permits } from "../permissions/permits.ts"
import type { AskState } from "../teams/asks.ts"
import { ANYONE_WRITES, operation, PAGES_READ } from "./operation.ts"

const DEFAULT_TIMEOUT_MS = 30_000

const fromTeam = z.string().min(1).optional().describe("Asking team")
const threadId = z.string().min(1).max(100).optional().describe("Another thread, another session")
const timeout = z.int().min(0).max(HOUR_MS).default(DEFAULT_TIMEOUT_MS).describe("Milliseconds to wait; 0: do not wait")

export const AskView = z.object({
  status: z.enum(DELIVERY_STATES),
  messageId: z.string(),
  answer: z.string().optional(),
  sessionId: z.string().optional(),
  from: z.string().optional(),
  to: z.string(),
  durationMs: z.number(),
  contextIsNew: z.boolean().optional(),
  reason: z.string().optional(),
  /** Ids of the pending permission requests of its agent. */
  permissions: z.array(z.string()).optional(),
})

export const teamsAsk = operation({
  name: "teams_ask",
  summary: "Ask a team's agent and get its answer; it remembers earlier questions",
  ...ANYONE_WRITES,
  tool: { set: "teams" },
  command: "ask",
  positional: ["team", "question"],
  takesWords: true,
  input: z.strictObject({ team: z.string().min(1), question: z.string(), fromTeam, threadId, timeout }),
  output: AskView,
  isRefusal: ({ status }) => status === "failed" || status === "expired" || status === "cancelled",
  flags: { threadId: "thread" },
  text: askText,
  forPeople: askTextForPeople,
  async run({ teams, permits }, { team, question, timeout, ...rest }, caller) {
    const names = { team: "team", text: "question" }
    return viewWaiting(permits, await teams.ask(caller, { ...rest, team, text: question, names, timeoutMs: timeout }))
  },
})

export const teamsSendMessage = operation({
  name: "teams_send_message",
  summary: "Like teams_ask, optionally without waiting for the answer",
  effect: "write",
  access: "anyone",
  on: ["mcp", "http"],
  tool: { set: "teams" },
  input: z.strictObject({
    toTeam: z.string().min(1),
    message: z.string(),
    fromTeam,
    threadId,
    waitForResponse: z.boolean().default(true),
    timeout,
    ifOpen: z.enum(IF_OPEN).optional().describe("If a person has the session open"),
  }),
  output: AskView,
  text: askText,
  async run({ teams, permits }, { toTeam, message, waitForResponse, timeout, ...rest }, caller) {
    const names = { team: "toTeam", text: "message" }
    const timeoutMs = waitForResponse ? timeout : 0
    return viewWaiting(permits, await teams.ask(caller, { ...rest, team: toTeam, text: message, names, timeoutMs }))
  },
})

export const teamsNotify = operation({
  name: "teams_notify",
  summary: "Leave a notice for the team's next session; it is not answered",
  ...ANYONE_WRITES,
  tool: { set: "teams", isBrief: true },
  command: "teams notify",
  positional: ["toTeam", "message"],
  takesWords: true,
  input: z.strictObject({
    toTeam: z.string().min(1),
    message: z.string(),
    fromTeam,
    ttlDays: z.number().positive().max(3_650).default(30),
  }),
  output: z.object({ messageId: z.string(), expiresAt: z.string() }),
  text: ({ messageId, expiresAt }) => `Left notice ${messageId}, until ${expiresAt.slice(0, 10)}.`,
  async run({ teams }, { toTeam, message, fromTeam, ttlDays }, caller) {
    const request = { team: toTeam, text: message, fromTeam, ttlMs: ttlDays * DAY_MS }
    const { messageId, expiresAtMs } = await teams.notify(caller, request)
    return { messageId, expiresAt: new Date(expiresAtMs).toISOString() }
  },
})

export const teamsFollow = operation({
  name: "teams.follow",
  summary: "Stream a team agent's answer as it is written, from a character offset",
  ...PAGES_READ,
  input: z.strictObject({
    messageId: z.string().min(1).describe("The question's id"),
    from: z.int().min(0).default(0).describe("Characters already received"),
    timeout: z.int().min(0).max(60_000).default(10_000).describe("Milliseconds to wait for more"),
  }),
  output: AskView.extend({ text: z.string(), at: z.number(), doing: z.string().optional() }),
  text: ({ text }) => text,
  async run({ teams, permits }, { messageId, from, timeout }) {
    const { said, ...state } = await teams.follow(messageId, { from, ms: timeout })
    return { ...(await viewWaiting(permits, state)), ...present(said) }
  },
})

function viewAsk(state: AskState): z.output<typeof AskView> {
  const { status, messageId, answer, sessionId, from, to, durationMs, isContextNew, reason } = state
  return {
    ...{ status, messageId, to, durationMs },
    ...present({ answer, sessionId, from, contextIsNew: isContextNew || undefined, reason }),
  }
}

const AT_WORK = ["delivered", "seen", "running"]
const RECENT = 100

/** Adds the permission requests that it waits for. */
export async function viewWaiting(
  permits: Pick<Permits, "recent">,
  state: AskState,
): Promise<z.output<typeof AskView>> {
  const view = viewAsk(state)
  if (!AT_WORK.includes(state.status)) return view
  const waiting = (await permits.recent(RECENT)).filter(
    (one) => one.state === "waiting" && one.team === state.to && one.asker === state.asker,
  )
  if (waiting.length === 0) return view
  const tools = [...new Set(waiting.map(({ tool }) => tool))].join(", ")
  return { ...view, reason: because("needs_permission", tools).words, permissions: waiting.map(({ id }) => id) }
}

type AskOutput = z.output<typeof AskView>

export function askText(output: AskOutput): string {
  return answerText(output, `Check again with teams_status {"messageId":"${output.messageId}"}.`)
}

/** A person has no tools. */
export function askTextForPeople(output: AskOutput): string {
  return answerText(output, `See \`throughline teams status --message-id ${output.messageId}\`.`)
}

function answerText({ status, messageId, answer, to, reason, contextIsNew }: AskOutput, next: string): string {
  const note = contextIsNew ? [`(${to} started a new session and has little of the earlier context.)`] : []
  if (answer !== undefined) return [...note, answer].join("\n")
  const why = reason === undefined ? "" : `: ${reason}`
  return `${messageId} to ${to} is ${status}${why}. ${next}`
}
