import * as z from "zod"
import type { Caller } from "../domain/caller.ts"
import type { ProjectId } from "../domain/ids.ts"
import { isUntrusted } from "../domain/origin.ts"
import { isoTime } from "../lib/time.ts"
import type { Brief, BriefRequest } from "../search/brief/brief.ts"
import { operation, TOOL_READS } from "./operation.ts"
import type { Services } from "./services.ts"
import { sessionOf } from "./session-of.ts"
import { clip, foundExchanges } from "./text.ts"

const NamedExchange = z.object({
  exchange_id: z.string(),
  session_id: z.string(),
  timestamp: z.string(),
  user: z.string(),
  untrusted: z.literal(true).optional(),
})

export const resumeSessionContext = operation({
  name: "resume_session_context",
  summary:
    "Where this project or a session left off: goal, decisions, files, open ends, last exchange, query matches. Call it to continue earlier work.",
  ...TOOL_READS,
  tool: { set: "recall", alwaysLoad: true },
  input: z.strictObject({
    current_query: z.string().min(1).max(10_000).optional().describe("What you are about to do"),
    session_id: z.string().min(1).optional().describe("Default: the newest session of this project"),
    max_context_tokens: z.int().min(50).max(100_000).default(2000).describe("Maximum length of the answer"),
  }),
  output: z.object({
    context_exchanges: z.array(NamedExchange),
    brief: z.string(),
    tokens_used: z.number(),
    message: z.string().optional(),
  }),
  text: ({ brief, message }) => [brief, message].filter(Boolean).join("\n"),
  async run({ sessions, capture, recall }, { current_query, session_id, max_context_tokens }, caller) {
    const about = await aboutOf({ sessions, capture }, session_id, caller)
    const made =
      about &&
      (await recall.briefs.make({
        ...about,
        query: current_query,
        // The rest is for the ids of the exchanges.
        maxTokens: Math.max(40, Math.floor(max_context_tokens * BRIEF_SHARE)),
      }))
    if (!made) {
      const message = about?.projectId && (await isAllUntrusted(sessions, about.projectId)) ? ONLY_UNTRUSTED : NOTHING
      return { context_exchanges: [], brief: "", tokens_used: 0, message }
    }
    const { named, tokens } = withinBudget(made, recall.tokens, max_context_tokens)
    return {
      context_exchanges: named,
      brief: made.brief,
      tokens_used: tokens,
      ...(named.length === 0 ? {} : { message: foundExchanges(named.length) }),
    }
  },
})

const BRIEF_SHARE = 0.85
const MOST_NAMED = 10
const NOTHING =
  "Nothing is stored for this project yet. search_conversation_history searches all projects; init start_new starts recording."

const ONLY_UNTRUSTED =
  "Everything stored for this project comes from untrusted files in its own folder, so there is no brief. search_conversation_history finds it, marked as untrusted; a person can trust the folder with `throughline sources trust <folder>`."

const isAllUntrusted = async (sessions: Services["sessions"], projectId: ProjectId) =>
  (await sessions.list({ projectId, empty: false, limit: 50 })).some(isUntrusted)

type About = Pick<BriefRequest, "session" | "projectId" | "except">

/** The caller's own session is already in its context. */
async function aboutOf(
  { sessions, capture }: Pick<Services, "sessions" | "capture">,
  id: string | undefined,
  caller: Caller,
): Promise<About | undefined> {
  if (id !== undefined) return { session: await sessionOf({ sessions, capture }, id, caller) }
  const own = await sessions.projects.ofCaller(caller)
  if (!own?.project) return undefined
  const { nativeSession } = caller
  const asking = nativeSession && (await capture.byNative(nativeSession.platform, nativeSession.id))
  return { projectId: own.project.id, except: asking ? [asking.id] : [] }
}

function withinBudget({ exchanges, tokensUsed }: Brief, count: (text: string) => number, budget: number) {
  const named: z.output<typeof NamedExchange>[] = []
  let tokens = tokensUsed + count(foundExchanges(MOST_NAMED))
  for (const { id, sessionId, atMs, user, isUntrusted: isMarked } of exchanges.slice(0, MOST_NAMED)) {
    const one = {
      exchange_id: id,
      session_id: sessionId.slice(0, 8),
      timestamp: `${isoTime(atMs).slice(0, 16)}Z`,
      user: clip(user, 40),
      ...(isMarked ? { untrusted: true as const } : {}),
    }
    const more = count(JSON.stringify(one)) + 1
    if (tokens + more > budget * WITH_MARGIN) break
    tokens += more
    named.push(one)
  }
  return named.length === 0 ? { named, tokens: tokensUsed } : { named, tokens }
}

/** Other models' tokenizers may count more. */
const WITH_MARGIN = 0.9
