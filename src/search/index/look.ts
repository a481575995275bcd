import type { DocKind } from "../words/document.ts"
import { DOC_KINDS, type Docs, isSet } from "./docs.ts"
import type { Shelf, View } from "./shelf.ts"

/** What is known of a document without its words. */
export interface DocLook {
  ref: number
  sessionId: string
  exchange: number
  kind: DocKind
  atMs: number
  length: number
  isHidden: boolean
}

export function look(shelf: Shelf, ref: number): DocLook | undefined {
  const at = shelf.find(ref)
  return at && lookAt(shelf, at.view, at.doc)
}

export function lookAt(shelf: Shelf, { docs }: View, doc: number): DocLook {
  return {
    ref: docs.ref[doc]!,
    sessionId: shelf.sessions.idOf(docs.session[doc]!),
    exchange: docs.exchange[doc]!,
    kind: DOC_KINDS[docs.kind[doc]!]!,
    atMs: docs.atMs[doc]!,
    length: docs.length[doc]!,
    isHidden: isSet(docs.hidden, doc),
  }
}

const SAID = new Set(["prompt", "reply", "summary", "thought"].map((kind) => DOC_KINDS.indexOf(kind as DocKind)))

/** Of a session, in the order in which it was kept; what tools did in between is left out. */
export function said(shelf: Shelf, sessionId: string): number[] {
  const session = shelf.sessions.numberOf(sessionId)
  if (session === undefined) return []
  const refs: number[] = []
  for (const view of [...shelf.segments, ...shelf.deltas])
    for (const doc of view.docsOfSession(session))
      if (SAID.has(view.docs.kind[doc]!) && !view.docs.isRemoved(doc)) refs.push(view.docs.ref[doc]!)
  return refs.sort((a, b) => a - b)
}

/** Those before this one that nobody took back, the latest first. */
export function prompts(shelf: Shelf, before: number, limit: number): number[] {
  const found: number[] = []
  for (const { docs } of shelf.deltas)
    for (let doc = 0; doc < docs.size; doc++)
      if (isPrompt(docs, doc) && docs.ref[doc]! < before) found.push(docs.ref[doc]!)
  for (const { docs } of shelf.segments) {
    const most = found.length + limit
    for (let doc = firstNotBelow(docs, before) - 1; doc >= 0 && found.length < most; doc--)
      if (isPrompt(docs, doc)) found.push(docs.ref[doc]!)
  }
  return found.sort((a, b) => b - a).slice(0, limit)
}

export function countPrompts(shelf: Shelf): number {
  return [...shelf.segments, ...shelf.deltas].reduce((sum, { docs }) => sum + docs.countOf(PROMPT), 0)
}

/** Documents of a segment are in the order of their refs. */
function firstNotBelow({ ref, size }: Docs, wanted: number): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >> 1
    if (ref[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}

const PROMPT = DOC_KINDS.indexOf("prompt")

const isPrompt = (docs: Docs, doc: number) =>
  docs.kind[doc] === PROMPT && !isSet(docs.removed, doc) && !isSet(docs.hidden, doc)

/** The documents of every session. */
export function* refsBySession(shelf: Shelf): Iterable<{ sessionId: string; refs: number[] }> {
  for (const session of shelf.sessions.numbers()) {
    const refs = [...shelf.segments, ...shelf.deltas].flatMap((view) =>
      [...view.docsOfSession(session)].filter((doc) => !view.docs.isRemoved(doc)).map((doc) => view.docs.ref[doc]!),
    )
    if (refs.length > 0) yield { sessionId: shelf.sessions.idOf(session), refs }
  }
}
