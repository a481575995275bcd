import type { ProjectId, SessionId } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import type { Thought } from "../domain/thought.ts"

export interface ThoughtHit {
  thought: Thought
  session: Session
  score: number
  snippet: string
}

const SNIPPET_CHARS = 160

/** Every word must occur; quotes keep words together. Best match first. */
export async function searchThoughts(
  store: Store,
  wish: { query: string; projectId?: ProjectId | undefined; sessionId?: SessionId | undefined; limit: number },
): Promise<ThoughtHit[]> {
  const terms = termsOf(wish.query)
  if (terms.length === 0) return []
  const hits = await store.words.match({
    terms,
    limit: wish.limit,
    ...(wish.projectId === undefined ? {} : { projectId: wish.projectId }),
    ...(wish.sessionId === undefined ? {} : { sessionId: wish.sessionId }),
  })
  const thoughts = new Map(
    (await store.thoughts.bySeqs(hits.map((hit) => hit.seq))).map((thought) => [thought.seq, thought]),
  )
  const sessions = new Map<string, Session>()
  const found: ThoughtHit[] = []
  for (const { seq, score } of hits) {
    const thought = thoughts.get(seq)
    if (!thought) continue
    const session = sessions.get(thought.sessionId) ?? (await store.sessions.byId(thought.sessionId))
    if (!session) continue
    sessions.set(session.id, session)
    found.push({ thought, session, score, snippet: snippetOf(thought.text, terms) })
  }
  return found
}

function termsOf(query: string): string[] {
  const parts = query.match(/"[^"]*"|[^\s"]+/g) ?? []
  return parts.map((part) => part.replaceAll('"', "").trim()).filter((part) => /[\p{L}\p{N}]/u.test(part))
}

function snippetOf(text: string, terms: string[]): string {
  const plain = text.replaceAll(/\s+/g, " ").trim()
  const lower = plain.toLowerCase()
  const at = Math.max(
    0,
    Math.min(
      ...terms.map((term) => lower.indexOf(term.toLowerCase())).map((i) => (i < 0 ? Number.POSITIVE_INFINITY : i)),
    ),
  )
  const start = Number.isFinite(at) ? Math.max(0, at - SNIPPET_CHARS / 3) : 0
  const cut = plain.slice(start, start + SNIPPET_CHARS)
  return `${start > 0 ? "…" : ""}${cut}${start + SNIPPET_CHARS < plain.length ? "…" : ""}`
}
