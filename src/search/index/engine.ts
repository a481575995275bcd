import { type IndexTables, IndexUnusable } from "../../domain/index-tables.ts"
import type { DocKind } from "../words/document.ts"
import { Delta } from "./delta.ts"
import { DOC_KINDS, Docs } from "./docs.ts"
import { AVERAGE_LENGTH, countOf, MAX_LENGTH } from "./impact.ts"
import { impactIn } from "./list.ts"
import { countPrompts, type DocLook, look, prompts, refsBySession, said } from "./look.ts"
import { purge } from "./purge.ts"
import { type EngineFilter, type EngineHit, type EngineQuery, expanded, fitting, search } from "./search.ts"
import { Segment } from "./segment.ts"
import { Shelf } from "./shelf.ts"
import { placesOf, type Wholes, wholesOf } from "./whole.ts"
import { Work } from "./work.ts"

export type { DocLook } from "./look.ts"
export type { EngineFilter, EngineHit, EngineQuery } from "./search.ts"

export interface NewDoc {
  /** Unique for good; a 32-bit number. */
  ref: number
  sessionId: string
  kind: DocKind
  atMs: number
  exchange: number
  /** Of each word how often it occurs, weighted by where it stands. */
  words: ReadonlyMap<string, number>
  length: number
}

export interface EngineFacts {
  documents: number
  segments: number
  /** The journal number up to which everything can be found. */
  position: number
  /** The journal number from which to go on after a crash. */
  durablePosition: number
  /** Documents that are in memory only. */
  delta: number
  sizeBytes: number
}

export interface Engine {
  /** Searchable at once; durable at the next flush, together with `position`. Replaces a document of the same ref. */
  add(docs: readonly NewDoc[], position: number): Promise<void>
  /** Gone for good, also from what is written. */
  remove(refs: readonly number[]): Promise<void>
  /** Taken back by the platform: left out of results unless asked for. */
  hide(refs: readonly number[]): Promise<void>
  /** Of everything that was removed, no word is left in any file that only it had. */
  purge(): Promise<void>
  has(ref: number): boolean
  search(query: EngineQuery): Promise<EngineHit[]>
  /** By word, then by document: the weighted counts, as well as a byte can tell. 0 for what is not there. */
  weights(docs: readonly number[], words: readonly string[]): Promise<Float32Array[]>
  docsOfExchange(sessionId: string, exchange: number): number[]
  look(ref: number): DocLook | undefined
  /** Which documents fit at this moment. */
  fitting(filter: EngineFilter): (ref: number) => boolean
  /** What was said in a session, in order; what tools did in between is left out. */
  said(sessionId: string): number[]
  /** The words that a query stands for: prefixes written out, each word once. */
  expand(query: Pick<EngineQuery, "words" | "all">): Promise<{ word: string; weight: number }[]>
  /** Each exchange, or document that stands alone, as one text. */
  wholes(
    of: readonly { sessionId: string; exchange: number; ref: number; isAlone: boolean }[],
    words: readonly string[],
  ): Promise<Wholes>
  sessions(): Iterable<{ sessionId: string; refs: number[] }>
  /** Prompts before this one, the latest first. */
  prompts(before: number, limit: number): number[]
  countPrompts(): number
  facts(): EngineFacts
  /** One slice of what is to be written or merged; true when there is more. With `idle`, also what could still wait. */
  work(when?: { idle?: boolean }): Promise<boolean>
  /** Gives back the memory that only makes the next searches faster. */
  dropCaches(): void
  /** What is not written yet is lost: the journal's number says from where to add it again. */
  close(): Promise<void>
}

export interface EngineOptions {
  cacheBytes?: number
  cachedWords?: number
}

/** Anything that changes what the bytes mean must change this. */
const FORMAT = `4 ${AVERAGE_LENGTH} ${DOC_KINDS.join(",")}`
const CACHE_BYTES = 40 * 1024 * 1024
const CACHED_WORDS = 40_000

/** Throws IndexUnusable when the tables are of another format or damaged: clear them, and add everything again. */
export async function openEngine(tables: IndexTables, options: EngineOptions = {}): Promise<Engine> {
  await tables.open()
  const shelf = new Shelf(tables, {
    cacheBytes: options.cacheBytes ?? CACHE_BYTES,
    cachedWords: options.cachedWords ?? CACHED_WORDS,
  })
  const position = await restore(shelf)
  return makeEngine(shelf, new Work(shelf, position, await tables.sizeBytes()))
}

async function restore(shelf: Shelf): Promise<number> {
  const { tables } = shelf
  const meta = await tables.meta()
  if (meta.format === undefined) await tables.write({ meta: { format: FORMAT, position: "0", terms: "0" } })
  else if (meta.format !== FORMAT)
    throw new IndexUnusable("version", `the index is of another version: ${meta.format} instead of ${FORMAT}`)
  const [position, terms] = meta.format === undefined ? [0, 0] : [Number(meta.position), Number(meta.terms)]
  if (!Number.isSafeInteger(position) || !Number.isSafeInteger(terms))
    throw new IndexUnusable("damaged", "the index does not know how far it is")
  shelf.sessions.restore(await tables.sessions())
  const segments = (await tables.segments()).map(({ segment, size, docs }) => {
    const unpacked = Docs.unpack(docs, size)
    for (let doc = 0; doc < size; doc++)
      if (shelf.sessions.idOf(unpacked.session[doc]!) === undefined)
        throw new IndexUnusable("damaged", "a document of the index has no session")
    return new Segment(segment, unpacked, terms + 1)
  })
  for (const { segment, removed, hidden } of await tables.marks())
    segments.find(({ number }) => number === segment)?.docs.mark(removed, hidden)
  shelf.replaceSegments([], segments)
  for (const segment of segments) await shelf.restoreCounts(segment)
  shelf.nextTerm = terms + 1
  // Left by a process that ended in the middle. Their numbers are not given out before they are gone.
  const listed = new Set(segments.map(({ number }) => number))
  shelf.toDrop = (await tables.segmentsWithLists()).filter((number) => !listed.has(number))
  return position
}

function makeEngine(shelf: Shelf, work: Work): Engine {
  const mark = async (refs: readonly number[], how: (at: NonNullable<ReturnType<Shelf["find"]>>) => void) => {
    for (const ref of refs) {
      const at = shelf.find(ref)
      if (at) how(at)
    }
    if (shelf.segments.some((segment) => segment.isDirty)) await shelf.commit([], {})
  }
  return {
    add: (docs, upTo) =>
      work.alone(async () => {
        for (const doc of docs) {
          addOne(shelf, work.delta, doc)
          if (work.isFull) await work.makeRoom()
        }
        work.reached(upTo)
      }),
    remove: (refs) => work.alone(() => mark(refs, (at) => removeAt(at))),
    hide: (refs) =>
      work.alone(() =>
        mark(refs, ({ view, doc }) => {
          if (view.docs.hide(doc) && view instanceof Segment) view.isDirty = true
        }),
      ),
    purge: () =>
      work.alone(async () => {
        await work.finish()
        await purge(shelf)
      }),
    has: (ref) => shelf.find(ref) !== undefined,
    search: (query) => search(shelf, query),
    async weights(refs, words) {
      const { views, lists } = await shelf.load(words)
      const places = refs.map((ref) => {
        const at = shelf.find(ref)
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
      return placesOf(shelf, [...shelf.segments, ...shelf.deltas], sessionId, exchange).map(({ ref }) => ref)
    },
    look: (ref) => look(shelf, ref),
    fitting: (filter) => fitting(shelf, filter),
    said: (sessionId) => said(shelf, sessionId),
    expand: async (query) => [...(await expanded(shelf, query))].map(([word, weight]) => ({ word, weight })),
    wholes: (of, words) => wholesOf(shelf, of, words),
    sessions: () => refsBySession(shelf),
    prompts: (before, limit) => prompts(shelf, before, limit),
    countPrompts: () => countPrompts(shelf),
    facts: () => {
      const live = (docs: Docs) => docs.size - docs.removedCount
      const delta = shelf.deltas.reduce((sum, { docs }) => sum + live(docs), 0)
      return {
        documents: shelf.segments.reduce((sum, { docs }) => sum + live(docs), delta),
        segments: shelf.segments.length,
        position: work.position,
        durablePosition: work.durablePosition,
        delta,
        sizeBytes: work.sizeBytes,
      }
    },
    work: ({ idle = false } = {}) => work.alone(() => work.step(idle)),
    dropCaches() {
      shelf.lists.clear()
      shelf.forgetWords()
    },
    close: () => work.close(),
  }
}

function addOne(shelf: Shelf, delta: Delta, { words, sessionId, kind, ...doc }: NewDoc): void {
  if (!Number.isInteger(doc.ref) || doc.ref < 0 || doc.ref >= 2 ** 32) throw new RangeError(`no ref: ${doc.ref}`)
  const earlier = shelf.find(doc.ref)
  if (earlier) removeAt(earlier)
  delta.add(
    {
      ...doc,
      session: shelf.sessions.numberFor(sessionId),
      kind: DOC_KINDS.indexOf(kind),
      length: Math.min(MAX_LENGTH, Math.max(1, Math.round(doc.length))),
    },
    words,
  )
}

function removeAt({ view, doc }: { view: Segment | Delta; doc: number }): void {
  if (view instanceof Delta) view.remove(doc)
  else {
    view.docs.remove(doc)
    view.isDirty = true
  }
}
