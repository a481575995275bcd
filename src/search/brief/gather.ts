import type { ProjectId, SessionId } from "../../domain/ids.ts"
import { isUntrusted } from "../../domain/origin.ts"
import { REASONING_PLATFORM, type Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Thought } from "../../domain/thought.ts"
import type { Turn, TurnKind } from "../../domain/turn.ts"
import { cutBlocks } from "../../lib/blocks.ts"
import { bareSummary, compactionSummary } from "../../lib/compaction.ts"
import { conversationOf, turnsOf } from "../query/lineage.ts"
import { TODO_TOOL } from "./open-ends.ts"

/** The input of a brief. Only the ends of the newest sessions: a project may have years of them. */
export interface Material {
  session: Session
  /** The first prompts. */
  opening: Turn[]
  /** The last prompts, replies and summaries. */
  talk: Turn[]
  /** The last tool calls and the last results, each cut. */
  calls: Turn[]
  results: Turn[]
  failedCallIds: Set<string>
  todo: Turn | undefined
  thoughts: Thought[]
  others: { session: Session; talk: Turn[] }[]
}

export interface GatherRequest {
  /** The session itself, or else the newest one of the project. */
  session?: Session | undefined
  projectId?: ProjectId | undefined
  /** Sessions to leave out, such as the one that asks. */
  except?: readonly SessionId[] | undefined
}

const SESSIONS = 12
const OTHERS = 6
const TALK = 160
const OTHERS_TALK = 24
const CALLS = 400
const RESULTS = 60
const THOUGHTS = 60
/** Enough for the file names in a patch, without the files' contents. */
const CALL_CHARS = 4_000
/** Sessions that come from a repository are used on request only, never automatically. */
const AUTOMATIC = { subagents: false, empty: false, archived: false, trusted: true } as const
const SPOKEN: readonly TurnKind[] = ["prompt", "reply", "summary"]

export async function gather(store: Store, request: GatherRequest): Promise<Material | undefined> {
  const projectId = request.projectId ?? request.session?.projectId ?? undefined
  const listed = projectId === undefined ? [] : await store.sessions.list({ projectId, ...AUTOMATIC, limit: SESSIONS })
  const found = listed.filter(({ id }) => !request.except?.includes(id))
  const session = request.session ?? found.find(({ promptCount }) => promptCount > 0) ?? found[0]
  if (!session) return undefined
  const all = await conversationOf(store, session)
  const parts = isUntrusted(session) ? all : all.filter((part) => !isUntrusted(part.session))
  const own = new Set<string>(parts.map((part) => part.session.id))
  const others = found.filter(({ id, platform }) => !own.has(id) && platform !== REASONING_PLATFORM).slice(0, OTHERS)
  const thinking = [session, ...found].find(({ thoughtCount }) => thoughtCount > 0)

  const opening = (await turnsOf(store, parts, { kinds: ["prompt"], limit: 6, fromStart: true }))
    .map(withoutBoilerplate)
    .filter(({ kind }) => kind === "prompt")
    .slice(0, 3)
  const talk = (await turnsOf(store, parts, { kinds: SPOKEN, limit: TALK })).map(withoutBoilerplate)
  const calls = await turnsOf(store, parts, { kinds: ["tool_call"], limit: CALLS, maxChars: CALL_CHARS })
  const results = await turnsOf(store, parts, { kinds: ["tool_result"], limit: RESULTS, maxChars: CALL_CHARS })
  const todo = calls.findLast(({ toolName }) => toolName !== null && TODO_TOOL.test(toolName))
  return {
    session,
    opening,
    talk,
    calls,
    results,
    failedCallIds: new Set(results.flatMap(({ isError, toolCallId }) => (isError && toolCallId ? [toolCallId] : []))),
    // The text may have been cut, and a cut list is unusable.
    todo: todo && (todo.text.length < CALL_CHARS ? todo : (await store.turns.bySeqs([todo.seq]))[0]),
    thoughts: thinking ? (await store.thoughts.page(thinking.id, { limit: THOUGHTS })).reverse() : [],
    others: await Promise.all(
      others.map(async (other) => ({
        session: other,
        talk: (await store.turns.ofSession(other.id, { kinds: SPOKEN, limit: OTHERS_TALK })).map(withoutBoilerplate),
      })),
    ),
  }
}

/** Older turns still have the boilerplate that agents' programs put around a summary. */
export function withoutBoilerplate(turn: Turn): Turn {
  if (turn.kind === "summary") return { ...turn, text: bareSummary(cutReminders(turn.text)) }
  const summary = turn.kind === "prompt" ? compactionSummary(cutReminders(turn.text)) : undefined
  return summary === undefined ? turn : { ...turn, kind: "summary", text: summary }
}

const cutReminders = (text: string) => (text.includes("<system-reminder") ? cutBlocks(text, isReminder) : text)
const isReminder = (name: string) => name === "system-reminder"
