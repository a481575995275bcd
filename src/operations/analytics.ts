import * as z from "zod"
import { present } from "../lib/defined.ts"
import { DAY_MS, isoTime } from "../lib/time.ts"
import type { DayFigures, Figures, PairFigures, Report, SessionFigures, Spread } from "../teams/analytics.ts"
import { ANYONE_READS, operation } from "./operation.ts"
import { projectOf } from "./search.ts"
import { platformNamed } from "./sources.ts"
import { average, clip, counted, minute, projectName, table } from "./text.ts"

const DEFAULT_DAYS = 30
const SHOWN_DAYS = 31

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

const tokens = {
  prompts: z.number(),
  /** Including cached tokens. */
  inputTokens: z.number(),
  cachedTokens: z.number(),
  outputTokens: z.number(),
  /** Absent if neither transcript nor answer reports it. */
  costUsd: z.number().optional(),
}
const FiguresView = z.object({ sessions: z.number(), asks: z.number(), ...tokens })
const DaysView = z.array(
  z.object({ day: z.string(), prompts: z.number(), tokens: z.number(), costUsd: z.number().optional() }),
)
const SpreadView = z.object({ count: z.number(), medianMs: z.number(), p95Ms: z.number(), longestMs: z.number() })
const SessionView = z.object({
  id: z.string().optional(),
  nativeId: z.string(),
  platform: z.string(),
  title: z.string(),
  project: z.string().optional(),
  firstAt: z.string(),
  lastAt: z.string(),
  lifetimeMs: z.number(),
  ...tokens,
})
const PairView = FiguresView.omit({ prompts: true }).extend({
  id: z.string(),
  from: z.string().optional(),
  to: z.string(),
  thread: z.string(),
  platform: z.string(),
  status: z.string(),
  states: z.record(z.string(), z.number()),
  responseMs: SpreadView.optional(),
  workMs: SpreadView.optional(),
})

export const analytics = operation({
  name: "analytics",
  summary: "Report activity, tokens, response times and cost by day, agent, project, session and pair",
  ...ANYONE_READS,
  input: z.strictObject({
    since: time.optional().describe(`From this date or time (default: ${DEFAULT_DAYS} days ago)`),
    until: time.optional().describe("Before this date or time"),
    project: z.string().min(1).optional().describe("Only this project: folder, file:// URI or name"),
    platform: z.string().min(1).optional().describe("Only this agent, such as claude-code or codex"),
    limit: z.int().min(1).max(1000).default(10).describe("Maximum number of projects, sessions and pairs"),
  }),
  output: z.object({
    since: z.string(),
    until: z.string(),
    /** On average. */
    total: FiguresView.extend({ promptsPerSession: z.number() }),
    days: z.array(FiguresView.extend({ day: z.string() })),
    agents: z.array(FiguresView.extend({ platform: z.string(), days: DaysView })),
    projects: z.array(FiguresView.extend({ project: z.string().optional(), days: DaysView })),
    sessions: z.array(SessionView),
    lifetimeMs: SpreadView.optional(),
    /** Sessions per length bucket; the last has no upper bound. */
    lasted: z.array(z.object({ upToMs: z.number().optional(), sessions: z.number() })),
    pairs: z.array(PairView),
  }),
  text: (output) => {
    const { since, until, total, days, agents, projects, sessions, lifetimeMs, pairs } = output
    const span = `${minute(since)} to ${minute(until)}`
    if (total.sessions === 0) return `No activity between ${minute(since)} and ${minute(until)}.`
    const prompts = `${counted(total.prompts, "prompt")} (${total.promptsPerSession} per session)`
    const said = [prompts, ...(total.asks > 0 ? [counted(total.asks, "ask")] : [])].join(", ")
    const lived = lifetimeMs && `; median session ${duration(lifetimeMs.medianMs)}`
    const part = (title: string, rows: string[][], first: string, columns = COLUMNS) =>
      rows.length === 0 ? [] : ["", title, table([first, ...columns], rows)]
    const figures = <T extends z.output<typeof FiguresView>>(title: string, first: string, all: T[], key: keyof T) => {
      const name = (one: T) => (key === "project" ? projectName(one[key] as string | undefined) : String(one[key]))
      return part(
        title,
        all.map((one) => [clip(name(one), 40), String(one.sessions), ...cells(one)]),
        first,
      )
    }
    return [
      `${span}: ${counted(total.sessions, "session")}, ${said}${lived ?? ""}.`,
      `Tokens: ${big(total.inputTokens)} input (${big(total.cachedTokens)} cached), ${big(total.outputTokens)} output. Reported cost: ${cost(total.costUsd)}.`,
      ...figures("Agents", "AGENT", agents, "platform"),
      ...figures("Projects", "PROJECT", projects, "project"),
      ...part("Busiest pairs", pairs.map(pairRow), "PAIR", PAIR_COLUMNS),
      ...part("Top sessions by tokens", sessions.map(sessionRow), "SESSION", SESSION_COLUMNS),
      ...figures("Days", "DAY", days.slice(-SHOWN_DAYS), "day"),
      ...(days.length > SHOWN_DAYS ? [`(${days.length - SHOWN_DAYS} earlier days: use --json)`] : []),
    ].join("\n")
  },
  async run({ analytics, sessions, capture }, { since, until, project, platform: agent, limit }) {
    const platform = platformNamed(capture, agent)
    const untilMs = until === undefined ? Date.now() : momentOf(until)
    const sinceMs = since === undefined ? untilMs - DEFAULT_DAYS * DAY_MS : momentOf(since)
    const projectId = project === undefined ? undefined : await projectOf(sessions, project)
    const report = await analytics.report({ sinceMs, untilMs, ...present({ projectId, platform }) })
    return { since: isoTime(sinceMs), until: isoTime(untilMs), ...viewReport(report, limit) }
  },
})

/** Days begin at local midnight. */
const momentOf = (given: string) => (given.includes("T") ? Date.parse(given) : new Date(`${given}T00:00`).getTime())

function viewReport(report: Report, limit: number) {
  const { total, days, agents, projects, sessions, lifetimes, lasted, pairs } = report
  return {
    total: {
      ...viewFigures(total),
      promptsPerSession: total.sessions === 0 ? 0 : average(total.prompts, total.sessions),
    },
    days: days.map(viewFigures),
    agents: agents.map(({ days, ...rest }) => ({ ...viewFigures(rest), days: viewDays(days) })),
    projects: projects.slice(0, limit).map(({ rootUri, days, ...rest }) => ({
      ...viewFigures(rest),
      ...present({ project: rootUri }),
      days: viewDays(days),
    })),
    sessions: sessions.slice(0, limit).map(viewSession),
    ...(lifetimes && { lifetimeMs: lifetimes }),
    lasted: lasted.map(({ upToMs, sessions: count }) => ({ ...(upToMs !== null && { upToMs }), sessions: count })),
    pairs: pairs.slice(0, limit).map(viewPair),
  }
}

/** Rounds away the noise of a sum. */
function viewFigures<T extends Pick<Figures, "costUsd">>({ costUsd, ...rest }: T) {
  return { ...rest, ...(costUsd !== null && { costUsd: Math.round(costUsd * 1e6) / 1e6 }) }
}

const viewDays = (days: readonly DayFigures[]) =>
  days.map(({ day, prompts, inputTokens, outputTokens, costUsd }) =>
    viewFigures({ day, prompts, tokens: inputTokens + outputTokens, costUsd }),
  )

function viewSession({ id, rootUri, firstAtMs, lastAtMs, ...rest }: SessionFigures) {
  return {
    ...viewFigures(rest),
    ...present({ id, project: rootUri }),
    firstAt: isoTime(firstAtMs),
    lastAt: isoTime(lastAtMs),
    lifetimeMs: lastAtMs - firstAtMs,
  }
}

function viewPair({ pair, states, response, work, ...rest }: PairFigures) {
  const { id, fromTeam, toTeam, threadId, platform, status } = pair
  return {
    ...{ id, to: toTeam, thread: threadId, platform, status, states },
    ...viewFigures(rest),
    ...present({ from: fromTeam, responseMs: response, workMs: work }),
  }
}

const COLUMNS = ["SESSIONS", "PROMPTS", "INPUT", "OUTPUT", "COST"]
const SESSION_COLUMNS = ["AGENT", "LENGTH", "PROMPTS", "INPUT", "OUTPUT", "COST", "TITLE"]
const PAIR_COLUMNS = ["ASKS", "FAILED", "MEDIAN", "P95", "INPUT", "OUTPUT", "COST"]

type Used = { inputTokens: number; outputTokens: number; costUsd?: number | undefined }
const used = ({ inputTokens, outputTokens, costUsd }: Used) => [big(inputTokens), big(outputTokens), cost(costUsd)]
const cells = (one: Used & { prompts: number }) => [String(one.prompts), ...used(one)]

function sessionRow(one: z.output<typeof SessionView>): string[] {
  const id = one.id?.slice(0, 8) ?? `(${one.nativeId.slice(0, 8)})`
  return [id, one.platform, duration(one.lifetimeMs), ...cells(one), clip(one.title, 50)]
}

function pairRow(one: z.output<typeof PairView>): string[] {
  const thread = one.thread === "main" ? "" : ` (${one.thread})`
  const time = (share: keyof Spread) => (one.responseMs === undefined ? "-" : duration(one.responseMs[share]))
  const name = `${one.from ?? "you"} → ${one.to}${thread}`
  return [name, String(one.asks), String(one.states.failed ?? 0), time("medianMs"), time("p95Ms"), ...used(one)]
}

const cost = (usd: number | undefined) => (usd === undefined ? "-" : `$${usd.toFixed(2)}`)

function big(count: number): string {
  if (count < 10_000) return String(count)
  return count < 10_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

function duration(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} days`
}
