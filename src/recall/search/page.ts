import type { SessionId } from "../../domain/ids.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { Thought } from "../../domain/thought.ts"
import type { Turn } from "../../domain/turn.ts"
import type { DocLook } from "../index/engine.ts"
import { isThought, refOfThought, refOfTurn, seqOf } from "../refs.ts"
import type { ParsedQuery } from "../words/query.ts"
import { snippetOf } from "../words/snippet.ts"
import type { Candidate } from "./candidate.ts"
import type { SearchHit, SearchWish } from "./wish.ts"

const USUAL_CHARS = { user: 80, ai: 160, snippet: 160 }

/** Texts by document; a text that is gone from the archive by now is absent. */
export async function textsOf(store: Store, refs: readonly number[]): Promise<Map<number, string>> {
  return new Map([...(await documentsOf(store, refs))].map(([ref, { text }]) => [ref, text]))
}

async function documentsOf(store: Store, refs: readonly number[]): Promise<Map<number, Turn | Thought>> {
  const seqsWhere = (wanted: (ref: number) => boolean) => refs.filter(wanted).map(seqOf)
  const [turns, thoughts] = await Promise.all([
    store.turns.bySeqs(seqsWhere((ref) => !isThought(ref))),
    store.thoughts.bySeqs(seqsWhere(isThought)),
  ])
  return new Map<number, Turn | Thought>([
    ...turns.map((turn) => [refOfTurn(turn.seq), turn] as const),
    ...thoughts.map((thought) => [refOfThought(thought.seq), thought] as const),
  ])
}

export async function pageOf(
  store: Store,
  candidates: readonly Candidate[],
  query: ParsedQuery,
  answers: (candidate: Candidate) => DocLook | undefined,
  chars: NonNullable<SearchWish["chars"]> = USUAL_CHARS,
): Promise<SearchHit[]> {
  const shown = candidates.map((candidate) => {
    const prompt = candidate.kind === "thought" ? undefined : refOfTurn(candidate.exchange)
    return { candidate, prompt, answer: answers(candidate)?.ref }
  })
  const wanted = shown.flatMap(({ candidate, prompt, answer }) => [candidate.ref, prompt, answer])
  const documents = await documentsOf(store, [...new Set(wanted.filter((ref) => ref !== undefined))])
  const textAt = (ref: number | undefined) => (ref === undefined ? "" : (documents.get(ref)?.text ?? ""))
  const sessions = await sessionsOf(store, candidates)
  return shown.flatMap(({ candidate, prompt, answer }) => {
    const document = documents.get(candidate.ref)
    const session = sessions.get(candidate.sessionId)
    if (!document || !session) return []
    const snippet = snippetOf(document.text, query, chars.snippet)
    return {
      session,
      exchange: candidate.exchange,
      ...("branchId" in document ? { thought: { number: document.number, branchId: document.branchId } } : {}),
      seq: seqOf(candidate.ref),
      kind: candidate.kind,
      atMs: candidate.atMs,
      score: candidate.score,
      snippet,
      user: beginning(textAt(prompt), chars.user),
      // The words are looked for once per hit: that is most of what a page costs.
      ai: answer === candidate.ref ? beginning(snippet.text, chars.ai) : beginning(textAt(answer), chars.ai),
    }
  })
}

async function sessionsOf(store: Store, candidates: readonly Candidate[]): Promise<Map<string, Session>> {
  const ids = [...new Set(candidates.map(({ sessionId }) => sessionId))]
  const found = await Promise.all(ids.map((id) => store.sessions.byId(id as SessionId)))
  return new Map(found.filter((session) => session !== undefined).map((session) => [session.id, session]))
}

function beginning(text: string, chars: number): string {
  const line = text
    .slice(0, chars * 4)
    .replaceAll(/\s+/g, " ")
    .trim()
  return line.length <= chars
    ? line
    : `${line
        .slice(0, chars - 1)
        .toWellFormed()
        .trimEnd()}…`
}
