import { describe, expect, test } from "vitest"
import type { Embedder } from "../../src/domain/embedder.ts"

/** What every Embedder must do, whatever makes its vectors. */
export function embedderContract(name: string, open: () => Promise<Embedder>): void {
  describe(`${name} fulfils the port`, () => {
    test("its id names it and its dimension, and is the same the next time", async () => {
      const [one, other] = [await open(), await open()]
      expect(one.id).toMatch(new RegExp(`:${one.dimension}(:|$)`))
      expect(other.id).toBe(one.id)
    })

    test("the same text gets the same vector, of length 1 and of its dimension", async () => {
      const embedder = await open()
      const [first, second] = await embedder.embed(["where is the lock taken", "where is the lock taken"], "document")
      const [again] = await (await open()).embed(["where is the lock taken"], "document")
      expect(first).toHaveLength(embedder.dimension)
      expect(second).toEqual(first)
      expect(again).toEqual(first)
      expect(Math.hypot(...first!)).toBeCloseTo(1, 5)
    })

    test("nothing gets nothing, and an empty text gets the zero vector in its place", async () => {
      const embedder = await open()
      expect(await embedder.embed([], "document")).toEqual([])
      const [before, empty, blank, after] = await embedder.embed(["before", "", " \n", "after"], "document")
      expect([empty, blank]).toEqual([new Float32Array(embedder.dimension), new Float32Array(embedder.dimension)])
      expect(await embedder.embed(["before", "after"], "document")).toEqual([before, after])
    })

    test("ten thousand texts come back in their order", async () => {
      const embedder = await open()
      const texts = Array.from({ length: 10_000 }, (_, index) => `exchange number ${index}`)
      const vectors = await embedder.embed(texts, "document")
      expect(vectors).toHaveLength(texts.length)
      for (const index of [0, 1, 95, 96, 97, 5_000, 9_999])
        expect(await embedder.embed([texts[index]!], "document"), texts[index]).toEqual([vectors[index]])
    })

    test("a very long text, half an emoji and control characters are texts like others", async () => {
      const embedder = await open()
      for (const vector of await embedder.embed(["word ".repeat(100_000), "\ud83d", "\0\u0007x"], "query"))
        expect(Math.abs(Math.hypot(...vector) - 1) < 1e-5 || vector.every((value) => value === 0)).toBe(true)
    })

    test("an abort before the call is honoured, with its reason", async () => {
      const reason = new Error("stopped")
      const embedder = await open()
      await expect(embedder.embed(["a"], "query", AbortSignal.abort(reason))).rejects.toBe(reason)
    })
  })
}
