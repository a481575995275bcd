import { describe, expect, test } from "vitest"
import { docOf, randomOf } from "../../../test/fixtures/indexed.ts"
import { Counts, CountsWriter, eachCount, FIRST_COUNTS_ROW } from "./counts.ts"
import { Docs } from "./docs.ts"
import { countOf, impactOf } from "./impact.ts"
import { decodePostings, encodePostings, impactIn } from "./posting-list.ts"
import { isPageRow, PostingPageReader, pageOf, postingsInPage, RowWriter, rowOf, termOf } from "./posting-page.ts"

/** As drivers hand bytes out: somewhere in a pool that is used again for other things. */
function pooled(bytes: Uint8Array, offset: number): Buffer {
  const pool = Buffer.alloc(bytes.length + offset + 64, 0xaa)
  pool.set(bytes, offset)
  return pool.subarray(offset, offset + bytes.length)
}

describe("a list", () => {
  test.each([
    ["of one", 1, 262_144],
    ["of a few", 100, 262_144],
    ["of some", 9_000, 262_144],
    ["of just not half", 490, 1000],
    ["of more than half", 510, 1000],
    ["of all", 1000, 1000],
    ["of nearly all of the largest segment", 262_143, 262_144],
    ["of half of the largest segment", 130_000, 262_144],
    ["of a segment of one", 1, 1],
  ])("%s is read as it was written, wherever its bytes lie", (_, count, size) => {
    const docs = Uint32Array.from({ length: count }, (_, at) => Math.floor((at * size) / count))
    const impacts = Uint8Array.from({ length: count }, (_, at) => 1 + (at % 255))
    const bytes = encodePostings(
      Uint32Array.from(docs, (doc, at) => (doc << 8) | impacts[at]!),
      size,
    )
    const blocks = Math.ceil(size / 256)
    const few = 4 * Math.ceil(size / 65_536) + 3 * count
    expect(bytes.length).toBe(8 + Math.min(few, 3 * blocks + 2 * count, blocks + size))
    for (const offset of [0, 1, 2, 3]) {
      const list = decodePostings(pooled(bytes, offset), size)
      expect([list.count, list.max]).toEqual([count, Math.max(...impacts.subarray(0, 255))])
      const has = new Map(Array.from(docs, (doc, at) => [doc, impacts[at]!]))
      for (const doc of size > 1000
        ? [...docs.filter((_, at) => at % 97 === 0), 5, size - 1]
        : Array.from({ length: size }, (_, d) => d))
        expect(impactIn(list, doc)).toBe(has.get(doc) ?? 0)
    }
  })

  test.each([
    ["cut short", (bytes: Uint8Array) => bytes.subarray(0, 9)],
    ["of an unknown kind", (bytes: Uint8Array) => bytes.with(0, 7)],
    ["that counts wrong", (bytes: Uint8Array) => bytes.with(4, 9)],
    ["whose block counts wrong", (bytes: Uint8Array) => bytes.with(8, 1)],
    ["of a document that is not", (bytes: Uint8Array) => bytes.with(12, 255)],
    ["of nothing", (bytes: Uint8Array) => bytes.subarray(0, 0)],
  ])("%s is damaged", (_, damage) => {
    const bytes = encodePostings(Uint32Array.of((1 << 8) | 9, (2 << 8) | 9), 100)
    expect(() => decodePostings(damage(bytes), 100)).toThrow(expect.objectContaining({ reason: "damaged" }))
  })
})

describe("rows of lists", () => {
  const size = 262_144
  const random = randomOf(5)
  const lists = new Map(
    Array.from({ length: 400 }, (_, at) => {
      const count = at % 9 === 0 ? 33 + Math.floor(random() * 300) : 1 + Math.floor(random() ** 3 * 32)
      const docs = [...new Set(Array.from({ length: count }, () => Math.floor(random() * size)))].sort((a, b) => a - b)
      const term = 60 + at * (at < 200 ? 1 : 37)
      return [term, Uint32Array.from(docs, (doc) => (doc << 8) | (1 + Math.floor(random() * 255)))]
    }),
  )
  const writer = new RowWriter(size)
  for (const [term, postings] of lists) writer.add(term, postings)
  const countRows = writer.finish()
  const rows = new Map(writer.take().map(({ row, bytes }) => [row, bytes]))
  for (const { row } of countRows) rows.delete(row)

  test("have each list, in a page or by itself, and no other", () => {
    for (let term = 0; term < 8_000; term++) {
      const [own, page] = [rows.get(rowOf(term)), rows.get(pageOf(term))]
      const postings = lists.get(term)
      const list = own ? decodePostings(own, size) : page ? postingsInPage(page, term, size) : null
      expect(list?.count).toBe(postings?.length)
      for (const posting of postings ?? []) expect(impactIn(list!, posting >> 8)).toBe(posting & 255)
      if (own) expect([isPageRow(rowOf(term)), termOf(rowOf(term))]).toEqual([false, term])
    }
  })

  test("are read in the order of terms, the page before the rows of its terms", () => {
    const reader = new PostingPageReader()
    const terms: number[] = []
    for (const [row, bytes] of rows) {
      if (!isPageRow(row)) terms.push(termOf(row))
      else for (reader.open(bytes, row); Number.isFinite(reader.term); reader.next()) terms.push(reader.term)
    }
    expect(terms.sort((a, b) => a - b)).toEqual([...lists.keys()])
    for (const term of lists.keys()) expect(pageOf(term)).toBeLessThan(rowOf(term))
  })

  test("are followed by the counts of each word, in as many rows as it takes", () => {
    const many = new CountsWriter()
    for (let term = 1; term <= 40_000; term++) many.add(term * 300, term)
    many.finish()
    const counts = new Counts()
    for (const { bytes } of [...countRows, ...many.rows]) eachCount(bytes, (term, count) => counts.add(term, count))
    expect([many.rows.length > 1, many.rows.map(({ row }) => row)]).toEqual([
      true,
      many.rows.map((_, at) => FIRST_COUNTS_ROW + at),
    ])
    expect([counts.of(300 * 40_000), counts.of(300 * 40_000 - 1), counts.of(2 ** 29)]).toEqual([40_000, 0, 0])
    for (const [term, postings] of lists)
      expect(counts.of(term)).toBe(postings.length + (term % 300 === 0 ? term / 300 : 0))
    const [first] = many.rows
    expect(() => eachCount(first!.bytes.subarray(0, -1), () => {})).toThrow(
      expect.objectContaining({ reason: "damaged" }),
    )
  })

  test.each([
    ["is cut", (page: Uint8Array) => page.subarray(0, -1)],
    ["counts wrong", (page: Uint8Array) => page.with(2, 99)],
    ["ends within a number", () => Uint8Array.of(0, 64, 255, 255)],
  ])("a page that %s is damaged", (_, damage) => {
    const two = new RowWriter(size)
    two.add(0, Uint32Array.of((1 << 8) | 9, (2 << 8) | 9))
    two.finish()
    const [page] = two.take()
    expect(() => postingsInPage(damage(page!.bytes), 1, size)).toThrow(expect.objectContaining({ reason: "damaged" }))
  })
})

describe("what is known of documents", () => {
  const docs = new Docs(1)
  for (let ref = 0; ref < 300; ref++) {
    const { atMs, exchange } = docOf(ref, "")
    docs.push({ ref: ref * 1e7, session: ref, kind: ref % 8, atMs, exchange, length: 65_535 - ref })
  }
  docs.remove(299)
  docs.hide(7)

  test.each([0, 1, 4, 7])("is read as it was packed, %i bytes into a pool", (offset) => {
    const bytes = pooled(docs.encode(), offset)
    const read = Docs.decode(bytes, 300)
    read.restoreTombstones(pooled(docs.removed.subarray(0, 38), offset), pooled(docs.hidden.subarray(0, 38), offset))
    new Uint8Array(bytes.buffer).fill(0)
    for (const column of ["atMs", "ref", "session", "exchange", "length", "kind"] as const)
      expect([...read[column]]).toEqual([...docs[column].subarray(0, 300)])
    expect([read.firstMs, read.lastMs]).toEqual([docs.firstMs, docs.lastMs])
    expect([read.isRemoved(299), read.isRemoved(298), read.removedCount, read.hide(7)]).toEqual([true, false, 1, false])
  })

  test("is damaged when a bit of it is another", () => {
    const bytes = docs.encode()
    for (const at of [0, 1000, bytes.length - 8])
      expect(() => Docs.decode(bytes.with(at, bytes[at]! ^ 1), 300)).toThrow(
        expect.objectContaining({ reason: "damaged" }),
      )
    expect(() => Docs.decode(bytes, 299)).toThrow(expect.objectContaining({ reason: "damaged" }))
    expect(() => Docs.decode(new Uint8Array(3), 0)).toThrow(expect.objectContaining({ reason: "damaged" }))
  })
})

test("an impact tells the count that it was made of, within a fifth of it up to 12 occurrences", () => {
  const random = randomOf(3)
  for (let time = 0; time < 1000; time++) {
    const length = 1 + Math.floor(random() * 1000)
    const count = 0.5 + random() * 11.5
    expect(Math.abs(countOf(impactOf(count, length), length) - count)).toBeLessThan(count * 0.2)
  }
})
