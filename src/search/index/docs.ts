import { crc32 } from "node:zlib"
import { IndexUnusable } from "../../domain/index-tables.ts"
import { TURN_KINDS } from "../../domain/turn.ts"

/** A turn's kind, or a thought. Stored as an index into this list, so its order is part of the format. */
export const DOC_KINDS = [...TURN_KINDS, "thought"] as const
export interface DocFacts {
  ref: number
  session: number
  kind: number
  atMs: number
  exchange: number
  length: number
}

const BYTES_PER_DOC = 8 + 4 + 4 + 4 + 2 + 1
const CHECKSUM_BYTES = 8

/** The facts about the documents of a segment or memtable, one typed array per column. */
export class Docs {
  size = 0
  atMs!: Float64Array
  ref!: Uint32Array
  session!: Uint32Array
  exchange!: Uint32Array
  length!: Uint16Array
  kind!: Uint8Array
  removed: Uint8Array
  hidden: Uint8Array
  removedCount = 0
  #counted: { kind: number; count: number } | undefined
  firstMs = Number.POSITIVE_INFINITY
  lastMs = Number.NEGATIVE_INFINITY

  constructor(capacity: number) {
    this.#lay(new ArrayBuffer(capacity * BYTES_PER_DOC), capacity)
    this.removed = bits(capacity)
    this.hidden = bits(capacity)
  }

  push(facts: DocFacts): number {
    if (this.size === this.ref.length) this.#grow()
    const doc = this.size++
    this.#counted = undefined
    this.ref[doc] = facts.ref
    this.session[doc] = facts.session
    this.kind[doc] = facts.kind
    this.atMs[doc] = facts.atMs
    this.exchange[doc] = facts.exchange
    this.length[doc] = facts.length
    this.#span(facts.atMs)
    return doc
  }

  /** Copies a document without its tombstones. */
  pushFrom(other: Docs, doc: number): void {
    this.push({
      ref: other.ref[doc]!,
      session: other.session[doc]!,
      kind: other.kind[doc]!,
      atMs: other.atMs[doc]!,
      exchange: other.exchange[doc]!,
      length: other.length[doc]!,
    })
  }

  copyTombstones(doc: number, other: Docs, otherDoc: number): void {
    if (isSet(other.removed, otherDoc)) this.remove(doc)
    if (isSet(other.hidden, otherDoc)) this.hide(doc)
  }

  isRemoved(doc: number): boolean {
    return isSet(this.removed, doc)
  }

  remove(doc: number): void {
    if (isSet(this.removed, doc)) return
    this.removed[doc >> 3]! |= 1 << (doc & 7)
    this.removedCount++
    this.#counted = undefined
  }

  /** False if it was hidden already. */
  hide(doc: number): boolean {
    if (isSet(this.hidden, doc)) return false
    this.hidden[doc >> 3]! |= 1 << (doc & 7)
    this.#counted = undefined
    return true
  }

  /** Documents of this kind that are neither removed nor hidden. Cached until something changes. */
  countOf(kind: number): number {
    if (this.#counted?.kind !== kind) {
      let count = 0
      for (let doc = 0; doc < this.size; doc++)
        if (this.kind[doc] === kind && !isSet(this.removed, doc) && !isSet(this.hidden, doc)) count++
      this.#counted = { kind, count }
    }
    return this.#counted.count
  }

  encode(): Uint8Array {
    const packed = new Docs(this.size)
    for (const column of COLUMNS) packed[column].set(this[column].subarray(0, this.size))
    const columns = new Uint8Array(packed.ref.buffer)
    const bytes = new Uint8Array(columns.length + CHECKSUM_BYTES)
    bytes.set(columns)
    new DataView(bytes.buffer).setUint32(columns.length, crc32(columns))
    return bytes
  }

  static decode(bytes: Uint8Array, size: number): Docs {
    const end = bytes.length - CHECKSUM_BYTES
    // Copy: slicing a Buffer gives a view of the driver's pool, which is reused.
    const columns = new Uint8Array(bytes.subarray(0, Math.max(end, 0)))
    const sum = end < 0 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(end)
    if (end !== size * BYTES_PER_DOC || crc32(columns) !== sum)
      throw new IndexUnusable("damaged", "a segment of the index is damaged")
    const docs = new Docs(0)
    docs.#lay(columns.buffer, size)
    docs.size = size
    docs.removed = bits(size)
    docs.hidden = bits(size)
    for (const atMs of docs.atMs) docs.#span(atMs)
    return docs
  }

  restoreTombstones(removed: Uint8Array, hidden: Uint8Array): void {
    if (removed.length !== this.removed.length || hidden.length !== this.hidden.length)
      throw new IndexUnusable("damaged", "the tombstones of a segment of the index are damaged")
    this.removed = new Uint8Array(removed)
    this.hidden = new Uint8Array(hidden)
    this.removedCount = 0
    this.#counted = undefined
    for (let doc = 0; doc < this.size; doc++) if (isSet(removed, doc)) this.removedCount++
  }

  #lay(buffer: ArrayBuffer, capacity: number): void {
    let at = 0
    const next = (bytes: number) => {
      const from = at
      at += bytes * capacity
      return from
    }
    this.atMs = new Float64Array(buffer, next(8), capacity)
    this.ref = new Uint32Array(buffer, next(4), capacity)
    this.session = new Uint32Array(buffer, next(4), capacity)
    this.exchange = new Uint32Array(buffer, next(4), capacity)
    this.length = new Uint16Array(buffer, next(2), capacity)
    this.kind = new Uint8Array(buffer, next(1), capacity)
  }

  #grow(): void {
    const grown = new Docs(Math.max(64, this.ref.length * 2))
    for (const column of [...COLUMNS, "removed", "hidden"] as const) {
      grown[column].set(this[column])
      Object.assign(this, { [column]: grown[column] })
    }
  }

  #span(atMs: number): void {
    if (atMs < this.firstMs) this.firstMs = atMs
    if (atMs > this.lastMs) this.lastMs = atMs
  }
}

const COLUMNS = ["atMs", "ref", "session", "exchange", "length", "kind"] as const

const bits = (capacity: number) => new Uint8Array((capacity + 7) >> 3)

export const isSet = (bitmap: Uint8Array, doc: number) => (bitmap[doc >> 3]! & (1 << (doc & 7))) !== 0
