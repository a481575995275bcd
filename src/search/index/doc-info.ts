import type { DocKind } from "../words/document.ts"
import { DOC_KINDS, type Docs, isSet } from "./docs.ts"
import type { IndexState, View } from "./index-state.ts"
import { lowerBound } from "./posting-list.ts"

/** A document's facts, without its words. */
export interface DocInfo {
  ref: number
  sessionId: string
  exchange: number
  kind: DocKind
  atMs: number
  length: number
  isHidden: boolean
}

export function infoOf(state: IndexState, ref: number): DocInfo | undefined {
  const at = state.find(ref)
  return at && infoAt(state, at.view, at.doc)
}

export function infoAt(state: IndexState, { docs }: View, doc: number): DocInfo {
  return {
    ref: docs.ref[doc]!,
    sessionId: state.sessions.idOf(docs.session[doc]!),
    exchange: docs.exchange[doc]!,
    kind: DOC_KINDS[docs.kind[doc]!]!,
    atMs: docs.atMs[doc]!,
    length: docs.length[doc]!,
    isHidden: isSet(docs.hidden, doc),
  }
}

const SAID = new Set(["prompt", "reply", "summary", "thought"].map((kind) => DOC_KINDS.indexOf(kind as DocKind)))

/** Prompts, replies, summaries and thoughts of a session, in the order in which they were stored. */
export function said(state: IndexState, sessionId: string): number[] {
  const session = state.sessions.numberOf(sessionId)
  if (session === undefined) return []
  const refs: number[] = []
  for (const view of [...state.segments, ...state.memtables])
    for (const doc of view.docsOfSession(session))
      if (SAID.has(view.docs.kind[doc]!) && !view.docs.isRemoved(doc)) refs.push(view.docs.ref[doc]!)
  return refs.sort((a, b) => a - b)
}

/** Prompts before this one that were not rewound, newest first. */
export function prompts(state: IndexState, before: number, limit: number): number[] {
  const found: number[] = []
  for (const { docs } of state.memtables)
    for (let doc = 0; doc < docs.size; doc++)
      if (isPrompt(docs, doc) && docs.ref[doc]! < before) found.push(docs.ref[doc]!)
  for (const { docs } of state.segments) {
    const most = found.length + limit
    // Documents of a segment are sorted by ref.
    for (let doc = lowerBound(0, docs.size, (at) => docs.ref[at]! < before) - 1; doc >= 0 && found.length < most; doc--)
      if (isPrompt(docs, doc)) found.push(docs.ref[doc]!)
  }
  return found.sort((a, b) => b - a).slice(0, limit)
}

export function countPrompts(state: IndexState): number {
  return [...state.segments, ...state.memtables].reduce((sum, { docs }) => sum + docs.countOf(PROMPT), 0)
}

const PROMPT = DOC_KINDS.indexOf("prompt")

const isPrompt = (docs: Docs, doc: number) =>
  docs.kind[doc] === PROMPT && !isSet(docs.removed, doc) && !isSet(docs.hidden, doc)

/** The live documents of every session. */
export function* refsBySession(state: IndexState): Iterable<{ sessionId: string; refs: number[] }> {
  for (const session of state.sessions.numbers()) {
    const refs = [...state.segments, ...state.memtables].flatMap((view) =>
      [...view.docsOfSession(session)].filter((doc) => !view.docs.isRemoved(doc)).map((doc) => view.docs.ref[doc]!),
    )
    if (refs.length > 0) yield { sessionId: state.sessions.idOf(session), refs }
  }
}
