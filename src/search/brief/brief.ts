import { type Exchange, exchangesOf } from "../../domain/exchange.ts"
import type { SessionId } from "../../domain/ids.ts"
import { isUntrusted, UNTRUSTED_LABEL, UNTRUSTED_NOTE } from "../../domain/origin.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { clip, oneLine } from "../../domain/text.ts"
import { countable, type TokenCounter } from "../../domain/tokens.ts"
import { decisionsIn, type Statement } from "./decisions.ts"
import { filesTouched } from "./files.ts"
import { type GatherRequest, gather, type Material } from "./gather.ts"
import { goalItems } from "./goal.ts"
import { openEnds } from "./open-ends.ts"
import { type Packed, pack, type Section } from "./pack.ts"

/** Finds the exchanges related to a query, best first. */
export type Find = (
  query: string,
  where: { projectId?: Session["projectId"] & string; sessionId?: SessionId },
  limit: number,
) => Promise<{ exchange: number; sessionId: SessionId; score: number }[]>

export interface BriefRequest extends GatherRequest {
  /** What the new session is about; without it the latest exchanges are the most relevant. */
  query?: string | undefined
  maxTokens: number
  taskState?: string | undefined
}

export interface Brief {
  brief: string
  tokensUsed: number
  session: Session
  sections: Packed["sections"]
  /** The exchanges in the brief: the last one, then the related ones. */
  exchanges: BriefExchange[]
}

export interface BriefExchange extends Pick<Exchange, "id" | "user" | "ai" | "atMs"> {
  sessionId: SessionId
  platform: string
  /** Read from a file in a repository. */
  isUntrusted: boolean
}

export interface Briefs {
  /** Where a session or a project stood; undefined if nothing is stored. No model is called. */
  make(request: BriefRequest): Promise<Brief | undefined>
  /** Says in a few lines that there is a session to resume, and how. */
  pointer(request: GatherRequest & { maxTokens: number }): Promise<{ text: string; tokensUsed: number } | undefined>
}

export interface BriefDeps {
  store: Store
  tokens: TokenCounter
  /** Without it the exchanges before the last one are the related ones. */
  find?: Find
  /** The platform's display name. */
  labelOf(platform: string): string
}

const RELATED = 24
/** Below this budget the goal is worth more than the place and time. */
const LEAST_FOR_HEAD = 120
const MOST_FILES = 40
const MOST_DECISIONS = 40
/** The only sections used of a session that comes from a repository. */
const QUOTED = new Set<Section["name"]>(["lastExchange", "related"])

export function makeBriefs({ store, tokens, find, labelOf }: BriefDeps): Briefs {
  return {
    async make(request) {
      const material = await gather(store, request)
      if (!material) return undefined
      const { session } = material
      const said = exchangesOf(material.talk).map((exchange) => told(exchange, session))
      const last = said.at(-1)
      const related = await relatedTo(request, material, said)
      const all: Section[] = [
        { name: "goal", title: "Goal", items: goalItems(material) },
        { name: "decisions", title: "Decisions", items: decisionItems(material) },
        { name: "files", title: "Files touched", items: fileItems(material) },
        { name: "openEnds", title: "Open ends", items: openEnds(material).map((text) => `- ${text}`) },
        { name: "taskState", title: "Task state", items: request.taskState?.trim() ? [request.taskState.trim()] : [] },
        { name: "lastExchange", title: "Last exchange", items: last ? exchangeItems(last) : [] },
        {
          name: "earlierSessions",
          title: "Earlier sessions",
          items: material.others.map(({ session }) => line(session)),
        },
        {
          name: "related",
          title: find && request.query?.trim() ? "Related exchanges" : "Before that",
          items: related.map((exchange) => exchangeItems(exchange, exchange.sessionId !== session.id).join("\n")),
        },
      ]
      // Decisions and tasks that a repository's file claims are not trusted.
      const sections = isUntrusted(session) ? all.filter(({ name }) => QUOTED.has(name)) : all
      const budget = countable(request.maxTokens)
      const head = budget < LEAST_FOR_HEAD ? headOf(session).split("\n")[0]! : headOf(session)
      const packed = pack(head, sections, budget, tokens)
      const shown = (name: string) => packed.sections.find((section) => section.name === name)?.items ?? 0
      return {
        brief: packed.text,
        tokensUsed: packed.tokens,
        session,
        sections: packed.sections,
        exchanges: [...(last && shown("lastExchange") > 0 ? [last] : []), ...related.slice(0, shown("related"))],
      }
    },
    async pointer(request) {
      const material = await gather(store, request)
      if (!material) return undefined
      const { session, talk } = material
      const asked = talk.findLast(({ kind }) => kind === "prompt")?.text
      const lines = [
        `The last session of this project was "${clip(session.title, 80)}" (${labelOf(session.platform)}, ${dateOf(session.updatedAtMs)} UTC, ${session.promptCount === 1 ? "1 prompt" : `${session.promptCount} prompts`}).`,
        `Call resume_session_context with session_id ${session.id.slice(0, 8)} to continue from there.`,
        ...(asked === undefined ? [] : [`Its last prompt: ${clip(asked, 160)}`]),
      ]
      const budget = countable(request.maxTokens)
      while (lines.length > 0 && tokens.count(lines.join("\n")) > budget) lines.pop()
      const text = lines.join("\n")
      return text === "" ? undefined : { text, tokensUsed: tokens.count(text) }
    },
  }

  /** The hits of the query, or else the exchanges before the last one, newest first. */
  async function relatedTo(request: BriefRequest, material: Material, said: BriefExchange[]): Promise<BriefExchange[]> {
    if (!find || !request.query?.trim()) return said.slice(0, -1).reverse().slice(0, RELATED)
    const { session } = material
    const where = session.projectId === null ? { sessionId: session.id } : { projectId: session.projectId }
    const hits = (await find(request.query, where, RELATED)).filter(
      ({ exchange, sessionId }) => String(exchange) !== said.at(-1)?.id && !request.except?.includes(sessionId),
    )
    const found = await Promise.all(
      hits.map(async ({ exchange, sessionId }) => {
        const [from, turns] = await Promise.all([
          store.sessions.byId(sessionId),
          store.turns.ofExchange(sessionId, exchange),
        ])
        const [first] = exchangesOf(turns)
        return from && first ? [told(first, from)] : []
      }),
    )
    return found.flat()
  }

  function headOf(session: Session): string {
    const { projectPath, gitBranch, title, id } = session
    const where = [oneLine(projectPath ?? ""), gitBranch ? `branch ${gitBranch}` : ""].filter(Boolean).join(", ")
    const who = `${labelOf(session.platform)} session ${id.slice(0, 8)}`
    const warning = isUntrusted(session) ? `\n${UNTRUSTED_NOTE}` : ""
    return `# ${isUntrusted(session) ? `[${UNTRUSTED_LABEL}] ` : ""}Where "${clip(title, 80)}" stood\n${who}${where && ` in ${where}`}, last active ${dateOf(session.updatedAtMs)} UTC.${warning}`
  }

  function line(session: Session): string {
    return `- ${dateOf(session.updatedAtMs)} "${clip(session.title, 80)}" (${labelOf(session.platform)}, ${session.id.slice(0, 8)})`
  }
}

function told({ id, user, ai, atMs }: Exchange, session: Session): BriefExchange {
  return { id, user, ai, atMs, sessionId: session.id, platform: session.platform, isUntrusted: isUntrusted(session) }
}

function exchangeItems({ user, ai, atMs, sessionId, isUntrusted }: BriefExchange, isOther = false): string[] {
  const from = isOther ? `, session ${sessionId.slice(0, 8)}` : ""
  const said = isUntrusted ? `; ${UNTRUSTED_LABEL}` : ""
  const [asked, answered] = [user.trim(), ai.trim()].map((text) => (isUntrusted ? quoted(text) : text)) as [
    string,
    string,
  ]
  return [`**User** (${dateOf(atMs)}${from}${said}): ${asked}`, ...(answered ? [`**Agent**: ${answered}`] : [])]
}

/** Quotes every line, so that none can pass for one of ours. */
const quoted = (text: string) => (text === "" ? "" : `\n${text.replaceAll(/^/gm, "> ")}`)

function decisionItems({ talk, thoughts, others }: Material): string[] {
  const spoken = (turns: Material["talk"]): Statement[] =>
    turns.map(({ kind, text, atMs }) => ({ text, atMs, by: kind === "prompt" ? "person" : "agent" }))
  const statements: Statement[] = [
    ...others.toReversed().flatMap((other) => spoken(other.talk)),
    ...thoughts.map(({ text, createdAtMs }): Statement => ({ text, atMs: createdAtMs, by: "thought" })),
    ...spoken(talk),
  ]
  return decisionsIn(statements)
    .slice(0, MOST_DECISIONS)
    .map(({ text, atMs }) => `- ${dateOf(atMs).slice(0, 10)}: ${text}`)
}

function fileItems({ calls, failedCallIds, session }: Material): string[] {
  return filesTouched(calls, failedCallIds, session.projectPath)
    .slice(0, MOST_FILES)
    .map(({ path, times }) => `- ${path}${times > 1 ? ` (${times} times)` : ""}`)
}

/** To the minute in UTC: the brief is the same on every machine. */
function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace("T", " ")
}
