import type { SessionId } from "../../domain/ids.ts"
import { searchableText } from "../../domain/metadata.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import { clip } from "../../domain/text.ts"
import type { Turn } from "../../domain/turn.ts"
import { defined } from "../../lib/defined.ts"
import type { DocInfo } from "../index/engine.ts"
import type { ParsedQuery } from "../words/query.ts"
import { snippetOf } from "../words/snippet.ts"
import type { Candidate } from "./candidate.ts"
import { isThought, refOfThought, refOfTurn, seqOf } from "./refs.ts"
import type { SearchHit, SearchRequest } from "./request.ts"

const USUAL_CHARS = { user: 80, ai: 160, snippet: 160 }

/** The searchable text of each document; deleted ones are absent. */
export async function textsOf(store: Store, refs: readonly number[]): Promise<Map<number, string>> {
  const { texts } = await documentsOf(store, refs)
  return new Map([...texts].map(([ref, said]) => [ref, searchableText(said)]))
}

async function documentsOf(store: Store, refs: readonly number[]) {
  const turns = await store.turns.texts(refs.filter((ref) => !isThought(ref)).map(seqOf))
  const seqs = refs.filter(isThought).map(seqOf)
  const found = seqs.length === 0 ? [] : await store.thoughts.bySeqs(seqs)
  const thoughts = new Map(found.map((thought) => [refOfThought(thought.seq), thought]))
  const texts = new Map<number, Pick<Turn, "text" | "metadata">>(thoughts)
  for (const [seq, said] of turns) texts.set(refOfTurn(seq), said)
  return { texts, thoughts }
}

export async function pageOf(
  store: Store,
  candidates: readonly Candidate[],
  query: ParsedQuery,
  answers: (candidate: Candidate) => DocInfo | undefined,
  chars: NonNullable<SearchRequest["chars"]> = USUAL_CHARS,
): Promise<SearchHit[]> {
  const shown = candidates.map((candidate) => {
    const prompt = candidate.kind === "thought" ? undefined : refOfTurn(candidate.exchange)
    return { candidate, prompt, answer: answers(candidate)?.ref }
  })
  const wanted = shown.flatMap(({ candidate, prompt, answer }) => [candidate.ref, prompt, answer])
  const { texts, thoughts } = await documentsOf(store, [...new Set(wanted.filter((ref) => ref !== undefined))])
  const textAt = (ref: number | undefined) => (ref === undefined ? "" : (texts.get(ref)?.text ?? ""))
  const sessions = await sessionsOf(store, candidates)
  return shown.flatMap(({ candidate, prompt, answer }) => {
    const text = texts.get(candidate.ref)?.text
    const metadata = prompt === undefined ? undefined : texts.get(prompt)?.metadata
    const thought = thoughts.get(candidate.ref)
    const session = sessions.get(candidate.sessionId)
    if (text === undefined || !session) return []
    const snippet = snippetOf(text, query, chars.snippet)
    return {
      session,
      exchange: candidate.exchange,
      ...(thought ? { thought: { number: thought.number, branchId: thought.branchId } } : {}),
      seq: seqOf(candidate.ref),
      kind: candidate.kind,
      atMs: candidate.atMs,
      score: candidate.score,
      snippet,
      ...defined({ metadata }),
      user: beginning(textAt(prompt), chars.user),
      // Finding the words is most of the cost of a page, so it is done once per hit.
      ai: answer === candidate.ref ? beginning(snippet.text, chars.ai) : beginning(textAt(answer), chars.ai),
    }
  })
}

async function sessionsOf(store: Store, candidates: readonly Candidate[]): Promise<Map<string, Session>> {
  const ids = [...new Set(candidates.map(({ sessionId }) => sessionId))]
  const found = await store.sessions.byIds(ids as SessionId[])
  return new Map(found.map((session) => [session.id, session]))
}

const beginning = (text: string, chars: number) => clip(text.slice(0, chars * 4), chars)
