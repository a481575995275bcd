import { type IndexTables, IndexUnusable } from "../../domain/index-tables.ts"
import type { DocKind } from "../words/document.ts"
import { countPrompts, type DocInfo, infoOf, prompts, refsBySession, said } from "./doc-info.ts"
import { DOC_KINDS, Docs } from "./docs.ts"
import { type ExchangeCounts, exchangeCounts, placesOf } from "./exchange.ts"
import { AVERAGE_LENGTH, countOf, MAX_LENGTH } from "./impact.ts"
import { IndexState, type View } from "./index-state.ts"
import { Memtable } from "./memtable.ts"
import { impactIn } from "./posting-list.ts"
import { type EngineFilter, type EngineHit, type EngineQuery, expanded, fitting, search } from "./search.ts"
import { Segment } from "./segment.ts"
import { Work } from "./work.ts"

export type { DocInfo } from "./doc-info.ts"
export type { EngineFilter, EngineHit, EngineQuery } from "./search.ts"

export interface NewDoc {
  /** Unique, never reused; 32 bits. */
  ref: number
  sessionId: string
  kind: DocKind
  atMs: number
  exchange: number
  /** By word, how often it occurs, weighted by where. */
  words: ReadonlyMap<string, number>
  length: number
}

export interface EngineFacts {
  documents: number
  segments: number
  /** The journal number up to which everything can be found. */
  position: number
  /** The journal number from which to continue after a crash. */
  durablePosition: number
  /** Documents in memory only. */
  memtable: number
  sizeBytes: number
}

export interface Engine {
  /** Searchable at once; durable at the next flush, together with `position`. Replaces a document of the same ref. */
  add(docs: readonly NewDoc[], position: number): void
  /** Permanently, also from segments. */
  remove(refs: readonly number[]): void
  /** Rewound by the agent: excluded from results unless requested. */
  hide(refs: readonly number[]): void
  /** Leaves no word in any file that only removed documents had. Pauses between batches. */
  purge(): Promise<void>
  has(ref: number): boolean
  search(query: EngineQuery): EngineHit[]
  /** Weighted counts by word, then by document, with the precision of a byte. */
  weights(docs: readonly number[], words: readonly string[]): Float32Array[]
  docsOfExchange(sessionId: string, exchange: number): number[]
  info(ref: number): DocInfo | undefined
  /** Which documents match now. */
  fitting(filter: EngineFilter): (ref: number) => boolean
  /** Prompts, replies, summaries and thoughts of a session, in order. */
  said(sessionId: string): number[]
  /** The words of a query, with prefixes expanded, each once. */
  expand(query: Pick<EngineQuery, "words" | "all">): { word: string; weight: number }[]
  /** Each exchange, or single document, as one text. */
  exchangeCounts(
    of: readonly { sessionId: string; exchange: number; ref: number; isAlone: boolean }[],
    words: readonly string[],
  ): ExchangeCounts
  sessions(): Iterable<{ sessionId: string; refs: number[] }>
  /** Prompts before this one, newest first. */
  prompts(before: number, limit: number): number[]
  countPrompts(): number
  facts(): EngineFacts
  /** Writes or merges one batch; true if there is more. With `idle`, also what could wait. */
  work(when?: { idle?: boolean }): boolean
  /** Discards the memtables; they are read again from the journal after `durablePosition`. */
  close(): void
}

/** Must change with the meaning of any stored byte. */
const FORMAT = `4 ${AVERAGE_LENGTH} ${DOC_KINDS.join(",")}`

/** Throws IndexUnusable when the tables have another format or are damaged: clear them and index everything again. */
export function openEngine(tables: IndexTables): Engine {
  tables.open()
  const state = new IndexState(tables)
  return makeEngine(state, new Work(state, restore(state)))
}

function restore(state: IndexState): number {
  const { tables } = state
  const meta = tables.meta()
  if (meta.format === undefined) tables.write({ meta: { format: FORMAT, position: "0", terms: "0" } })
  else if (meta.format !== FORMAT)
    throw new IndexUnusable("version", `the index is of another version: ${meta.format} instead of ${FORMAT}`)
  const [position, terms] = meta.format === undefined ? [0, 0] : [Number(meta.position), Number(meta.terms)]
  if (!Number.isSafeInteger(position) || !Number.isSafeInteger(terms))
    throw new IndexUnusable("damaged", "the index does not know how far it is")
  state.sessions.restore(tables.sessions())
  const segments = tables.segments().map(({ segment, size, docs }) => {
    const unpacked = Docs.decode(docs, size)
    for (let doc = 0; doc < size; doc++)
      if (state.sessions.idOf(unpacked.session[doc]!) === undefined)
        throw new IndexUnusable("damaged", "a document of the index has no session")
    return new Segment(segment, unpacked, terms + 1)
  })
  for (const { segment, removed, hidden } of tables.tombstones())
    segments.find(({ number }) => number === segment)?.docs.restoreTombstones(removed, hidden)
  state.replaceSegments([], segments)
  for (const segment of segments) state.restoreCounts(segment)
  state.nextTerm = terms + 1
  // Left by an interrupted flush or merge. Their numbers are reused only once they are dropped.
  const listed = new Set(segments.map(({ number }) => number))
  state.toDrop = tables.segmentsWithPostings().filter((number) => !listed.has(number))
  return position
}

function makeEngine(state: IndexState, work: Work): Engine {
  const setTombstones = (refs: readonly number[], how: (at: { view: View; doc: number }) => void) => {
    work.assertOpen()
    for (const ref of refs) {
      const at = state.find(ref)
      if (at) how(at)
    }
    if (state.segments.some((segment) => segment.hasNewTombstones)) state.commit([], {})
  }
  return {
    add(docs, upTo) {
      work.assertOpen()
      for (const doc of docs) {
        addOne(state, work.memtable, doc)
        if (work.isFull) work.makeRoom()
      }
      work.reached(upTo)
    },
    remove: (refs) => setTombstones(refs, removeAt),
    hide: (refs) =>
      setTombstones(refs, ({ view, doc }) => {
        if (view.docs.hide(doc) && view instanceof Segment) view.hasNewTombstones = true
      }),
    purge: () => work.purge(),
    has: (ref) => state.find(ref) !== undefined,
    search: (query) => search(state, query),
    weights(refs, words) {
      const { views, lists } = state.load(words)
      const places = refs.map((ref) => {
        const at = state.find(ref)
        return at && { doc: at.doc, view: views.indexOf(at.view), length: at.view.docs.length[at.doc]! }
      })
      return words.map((_, word) =>
        Float32Array.from(places, (at) => {
          const list = at && lists[word]![at.view]
          const impact = list ? impactIn(list, at.doc) : 0
          return impact === 0 ? 0 : countOf(impact, at!.length)
        }),
      )
    },
    docsOfExchange(sessionId, exchange) {
      return placesOf(state, [...state.segments, ...state.memtables], sessionId, exchange).map(({ ref }) => ref)
    },
    info: (ref) => infoOf(state, ref),
    fitting: (filter) => fitting(state, filter),
    said: (sessionId) => said(state, sessionId),
    expand: (query) => Array.from(expanded(state, query), ([word, weight]) => ({ word, weight })),
    exchangeCounts: (of, words) => exchangeCounts(state, of, words),
    sessions: () => refsBySession(state),
    prompts: (before, limit) => prompts(state, before, limit),
    countPrompts: () => countPrompts(state),
    facts: () => {
      const live = (docs: Docs) => docs.size - docs.removedCount
      const memtable = state.memtables.reduce((sum, { docs }) => sum + live(docs), 0)
      return {
        documents: state.segments.reduce((sum, { docs }) => sum + live(docs), memtable),
        segments: state.segments.length,
        position: work.position,
        durablePosition: work.durablePosition,
        memtable,
        sizeBytes: work.sizeBytes,
      }
    },
    work: ({ idle = false } = {}) => work.step(idle),
    close: () => work.close(),
  }
}

function addOne(state: IndexState, memtable: Memtable, { words, sessionId, kind, ...doc }: NewDoc): void {
  if (!Number.isInteger(doc.ref) || doc.ref < 0 || doc.ref >= 2 ** 32) throw new RangeError(`no ref: ${doc.ref}`)
  const earlier = state.find(doc.ref)
  if (earlier) removeAt(earlier)
  memtable.add(
    {
      ...doc,
      session: state.sessions.numberFor(sessionId),
      kind: DOC_KINDS.indexOf(kind),
      length: Math.min(MAX_LENGTH, Math.max(1, Math.round(doc.length))),
    },
    words,
  )
}

function removeAt({ view, doc }: { view: View; doc: number }): void {
  if (view instanceof Memtable) view.remove(doc)
  else {
    view.docs.remove(doc)
    view.hasNewTombstones = true
  }
}
