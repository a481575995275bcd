import type { SessionId } from "../../domain/ids.ts"
import type { Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"
import type { DocLook } from "../index/engine.ts"
import { isThought, seqOf } from "../refs.ts"
import type { ParsedQuery } from "../words/query.ts"
import { snippetOf } from "../words/snippet.ts"
import type { Candidate } from "./candidate.ts"
import type { SearchHit, SearchWish } from "./wish.ts"

const USUAL_CHARS = { user: 80, ai: 160, snippet: 160 }

/** Texts by document; a text that is gone from the archive by now is absent. */
export async function textsOf(store: Store, refs: readonly number[]): Promise<Map<number, string>> {
  const seqsWhere = (wanted: (ref: number) => boolean) => refs.filter(wanted).map(seqOf)
  const [turns, thoughts] = await Promise.all([
    store.turns.bySeqs(seqsWhere((ref) => !isThought(ref))),
    store.thoughts.bySeqs(seqsWhere(isThought)),
  ])
  return new Map([
    ...turns.map(({ seq, text }) => [seq * 2, text] as const),
    ...thoughts.map(({ seq, text }) => [seq * 2 + 1, text] as const),
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
    const prompt = candidate.kind === "thought" ? undefined : candidate.exchange * 2
    return { candidate, prompt, answer: answers(candidate)?.ref }
  })
  const wanted = shown.flatMap(({ candidate, prompt, answer }) => [candidate.ref, prompt, answer])
  const texts = await textsOf(store, [...new Set(wanted.filter((ref) => ref !== undefined))])
  const sessions = await sessionsOf(store, candidates)
  return shown.flatMap(({ candidate, prompt, answer }) => {
    const text = texts.get(candidate.ref)
    const session = sessions.get(candidate.sessionId)
    if (text === undefined || !session) return []
    const part = (ref: number | undefined, most: number) =>
      ref === undefined ? "" : snippetOf(texts.get(ref) ?? "", query, most).text
    return {
      session,
      exchange: candidate.exchange,
      isThought: candidate.kind === "thought",
      seq: seqOf(candidate.ref),
      kind: candidate.kind,
      atMs: candidate.atMs,
      score: candidate.score,
      snippet: snippetOf(text, query, chars.snippet),
      user: part(prompt, chars.user),
      ai: part(answer, chars.ai),
    }
  })
}

async function sessionsOf(store: Store, candidates: readonly Candidate[]): Promise<Map<string, Session>> {
  const ids = [...new Set(candidates.map(({ sessionId }) => sessionId))]
  const found = await Promise.all(ids.map((id) => store.sessions.byId(id as SessionId)))
  return new Map(found.filter((session) => session !== undefined).map((session) => [session.id, session]))
}
