import * as z from "zod"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { ProjectId } from "../domain/ids.ts"
import { metadataWords } from "../domain/metadata.ts"
import { isUntrusted, UNTRUSTED_NOTE } from "../domain/origin.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import type { SearchHit, SearchRequest, SearchResult } from "../search/query/request.ts"
import { fitted } from "./columns.ts"
import { ANYONE_READS, operation, TOOL_READS } from "./operation.ts"
import { searchStyled, searchText } from "./search-text.ts"
import { charsPerHit, exchangeView, mostTokens, rounded, shortened } from "./search-view.ts"
import type { Services } from "./services.ts"
import { sessionOf } from "./session-of.ts"
import { platformNamed } from "./sources.ts"
import { clip, foundExchanges, mark } from "./text.ts"
import { markOf } from "./views.ts"

const day = z.union([z.iso.datetime({ offset: true }), z.iso.date()])
const ROLES = ["user", "assistant", "thought", "tool"] as const
const KINDS = {
  user: ["prompt"],
  assistant: ["reply", "summary", "reasoning"],
  thought: ["thought"],
  tool: ["tool_call", "tool_result"],
} as const

/** Only the first few dozen words are searched; longer input is a file, not a query. */
const query = z.string().min(1).max(100_000)
const scope = {
  project: z.string().min(1).optional().describe('Folder, file:// URI or name; "all" for every project'),
  platform: z.string().min(1).optional().describe("Such as claude-code, codex, cursor"),
  branch: z.string().min(1).optional().describe("Git branch of the session"),
  domain: z.string().min(1).optional().describe("Domain of the session"),
  role: z.enum(ROLES).optional().describe("Who said it"),
  since: day.optional().describe("From this date or time"),
  until: day.optional().describe("Before this date or time"),
}

export const searchConversationHistory = operation({
  name: "search_conversation_history",
  summary:
    'Search earlier sessions of every coding agent. Words, "exact phrase", prefix*, -exclude. This project first.',
  ...TOOL_READS,
  tool: { set: "recall", alwaysLoad: true },
  input: z.strictObject({
    query: query.describe("The query"),
    session_id: z.string().min(1).optional().describe("Only this session"),
    n_results: z.int().min(1).max(50).default(3).describe("How many exchanges"),
    ...scope,
  }),
  output: z.object({
    query: z.string(),
    exchanges: z.array(
      z.object({
        exchange_id: z.string(),
        user: z.string(),
        ai: z.string(),
        timestamp: z.string(),
        session_id: z.string(),
        native_id: z.string().optional(),
        platform: z.string(),
        project: z.string().optional(),
        score: z.number(),
        metadata: z.record(z.string(), z.unknown()).optional(),
        resume_command: z.string().optional(),
        untrusted: z.literal(true).optional(),
      }),
    ),
    message: z.string(),
    note: z.string().optional(),
  }),
  text: ({ exchanges, message, note }) =>
    [
      message,
      ...exchanges.map(
        ({ session_id, native_id, timestamp, platform, project, user, ai, metadata, untrusted }) =>
          `${mark({ untrusted })}${session_id}${native_id === undefined ? "" : ` (logged as ${fitted(native_id, 60)})`} ${timestamp} ${platform} ${project ?? "-"}\n  ${user === "" ? "" : `> ${user}\n  `}${ai}${metadata === undefined ? "" : `\n  ${fitted(metadataWords(metadata), 120)}`}`,
      ),
      ...(note === undefined ? [] : [note]),
    ].join("\n"),
  async run({ sessions, capture, recall }, { query, session_id, n_results, ...given }, caller) {
    const filters = await filtersOf({ sessions, capture }, { ...given, sessionId: session_id }, caller)
    const found = await recall.search({ ...filters, query, limit: n_results, chars: charsPerHit(n_results) })
    const isLong = n_results > MANY
    const goOn = isLong && found.hits.some(({ session }) => capture.resuming(session)) ? [GO_ON] : []
    const said = found.hits.length === 0 ? await whyNothing(recall, found, filters) : goOn
    const warning = found.hits.some(({ session }) => isUntrusted(session)) ? [UNTRUSTED_NOTE] : []
    const note = [...warning, ...found.notes, ...said].join(" ")
    const exchanges = found.hits.map((hit) => exchangeView(hit, capture, { withCommand: !isLong }))
    return {
      query: clip(query, 40),
      exchanges: shortened(exchanges, recall.tokens, mostTokens(n_results)),
      message: foundExchanges(exchanges.length),
      ...(note === "" ? {} : { note }),
    }
  },
})

const HitView = z.object({
  sessionId: z.string(),
  /** The id given by the logging agent. */
  nativeId: z.string().optional(),
  platform: z.string(),
  title: z.string(),
  project: z.string().optional(),
  branch: z.string().optional(),
  domain: z.string().optional(),
  exchangeId: z.string(),
  thoughtNumber: z.number().optional(),
  branchId: z.string().optional(),
  kind: z.string(),
  /** The tool, for a tool call. */
  tool: z.string().optional(),
  at: z.string(),
  score: z.number(),
  snippet: z.string(),
  marks: z.array(z.tuple([z.number(), z.number()])),
  user: z.string(),
  ai: z.string(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  resumeCommand: z.string().optional(),
  untrusted: z.literal(true).optional(),
})
export type HitView = z.output<typeof HitView>

export const search = operation({
  name: "search",
  summary: "Search the sessions of every agent",
  ...ANYONE_READS,
  positional: ["query"],
  takesWords: true,
  input: z.strictObject({
    query: query.describe('Words, "exact phrase", prefix*, -exclude'),
    sessionId: z.string().min(1).optional().describe("Only this session"),
    ...scope,
    unit: z.enum(["exchange", "turn"]).default("exchange").describe("Whole exchanges, or single turns"),
    recent: z.boolean().default(false).describe("Favour recent results"),
    superseded: z.boolean().default(false).describe("Include rewound turns"),
    limit: z.int().min(1).max(100).default(10).describe("Maximum number of results"),
  }),
  output: z.object({
    query: z.string(),
    hits: z.array(HitView),
    complete: z.boolean(),
    notes: z.array(z.string()),
  }),
  text: searchText,
  styled: searchStyled,
  async run({ sessions, capture, recall }, { query, unit, recent, superseded, limit, ...given }, caller) {
    const filters = await filtersOf({ sessions, capture }, given, caller)
    const found = await recall.search({ ...filters, query, unit, recent, superseded, limit })
    const calls = found.hits.filter(({ kind }) => kind === "tool_call")
    const tools = await sessions.toolsOf(calls.map(({ seq }) => seq))
    return {
      query,
      hits: found.hits.map((hit) => ({
        ...viewHit(hit),
        ...{ nativeId: capture.loggedId(hit.session), resumeCommand: capture.resumeCommand(hit.session) },
        tool: hit.kind === "tool_call" ? tools.get(hit.seq) : undefined,
      })),
      complete: found.isComplete,
      notes: [...found.notes, ...(found.hits.length === 0 ? await whyNothing(recall, found, filters) : [])],
    }
  },
})

function viewHit({ session, exchange, thought, kind, atMs, score, snippet, user, ai, metadata }: SearchHit): HitView {
  return {
    ...{ sessionId: session.id, platform: session.platform, title: session.title, exchangeId: String(exchange) },
    ...present({ project: session.rootUri, branch: session.gitBranch || undefined, domain: session.domain }),
    ...present({ thoughtNumber: thought?.number, branchId: thought?.branchId, metadata }),
    ...{ kind, at: isoTime(atMs), score: rounded(score), snippet: snippet.text, marks: snippet.marks, user, ai },
    ...markOf(session),
  }
}

/** From this many hits on, the resume hint appears once for all. */
const MANY = 5
const GO_ON = "Resume a session with `throughline resume <session_id>`."

/** The next step. Mentions a complete search only if it was complete. */
async function whyNothing(recall: Services["recall"], found: SearchResult, filters: SearchFilters): Promise<string[]> {
  // Its own note says so.
  if (!found.isComplete) return []
  const { documents } = await recall.facts()
  if (documents === 0) return [EMPTY]
  const { firstProjectId: _, ...narrowing } = filters
  return [
    Object.keys(narrowing).length > 0
      ? "Try other words or fewer filters."
      : "Try other words; the whole archive was searched.",
  ]
}

const EMPTY =
  "No sessions yet. Conversations are imported automatically; `throughline sources` lists the agents being watched."

type SearchFilters = Omit<SearchRequest, "query" | "limit">

type Given = z.output<z.ZodObject<typeof scope>> & { sessionId?: string | undefined }

/** Without a scope the caller's project ranks first. */
async function filtersOf(
  { sessions, capture }: Pick<Services, "sessions" | "capture">,
  { sessionId, project, platform: agent, branch, domain, role, since, until }: Given,
  caller: Caller,
): Promise<SearchFilters> {
  const platform = platformNamed(capture, agent)
  const session = sessionId === undefined ? undefined : await sessionOf({ sessions, capture }, sessionId, caller)
  const filters: SearchFilters = {
    ...present({ sessionId: session?.id, platform, gitBranch: branch, domain, kinds: role && [...KINDS[role]] }),
    ...(since === undefined ? {} : { sinceMs: Date.parse(since) }),
    ...(until === undefined ? {} : { untilMs: Date.parse(until) }),
  }
  if (project !== undefined && project !== "all") return { ...filters, projectId: await projectOf(sessions, project) }
  if (project === "all" || session) return filters
  const own = await sessions.projects.ofCaller(caller)
  return { ...filters, ...(own?.project ? { firstProjectId: own.project.id } : {}) }
}

export async function projectOf(sessions: Services["sessions"], given: string): Promise<ProjectId> {
  const isPath = given.includes("/") || given.startsWith("~")
  const found = isPath ? [(await sessions.projects.find(given)).project] : await sessions.projects.named(given)
  const [project, another] = found
  if (!project)
    throw new Failure("root_not_found", `no sessions of a project ${JSON.stringify(given)}`, { parameter: "project" })
  if (another)
    throw new Failure("bad_input", `more than one project is called ${JSON.stringify(given)}: give its path`, {
      parameter: "project",
      projects: found.map((each) => each?.rootUri),
    })
  return project.id
}
