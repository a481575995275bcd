import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Embedder } from "../../../src/domain/embedder.ts"
import { Failure } from "../../../src/domain/failure.ts"
import { type EmbeddingsApi, startEmbeddingsApi } from "../../fixtures/embeddings-api.ts"
import { embedderContract } from "../embedder.ts"

export const KEY = "sk-key-that-nobody-may-see"

interface Opened {
  url: string
  model?: string
  timeoutMs?: number
}

/** What every embedder behind an HTTP endpoint must do, on top of the port's contract. */
export function endpointContract(name: string, path: string, open: (at: Opened) => Promise<Embedder>): void {
  let api: EmbeddingsApi
  beforeEach(async () => {
    api = await startEmbeddingsApi()
  })
  afterEach(() => api.close())
  const opened = () => open({ url: api.url })
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail("it succeeded"),
      (error: unknown) => {
        if (!(error instanceof Failure)) throw error
        expect(JSON.stringify(error)).not.toContain(KEY)
        return error
      },
    )

  embedderContract(name, opened)

  describe(`${name} and its endpoint`, () => {
    test("ten thousand texts are sent in order, at most 96 at once", async () => {
      const embedder = await opened()
      api.requests.length = 0
      const texts = Array.from({ length: 10_000 }, (_, index) => `text ${index}`)
      await embedder.embed(texts, "document")
      expect(api.requests.flatMap(({ body }) => body.input)).toEqual(texts)
      expect(Math.max(...api.requests.map(({ body }) => body.input.length))).toBeLessThanOrEqual(96)
    })

    test("long texts are sent in batches of fewer, and cut to what a model reads", async () => {
      const embedder = await opened()
      api.requests.length = 0
      await embedder.embed(
        Array.from({ length: 40 }, () => "x".repeat(60_000)),
        "document",
      )
      expect(api.requests.length).toBeGreaterThan(2)
      for (const { body } of api.requests) {
        expect(body.input.join("").length).toBeLessThan(320_000)
        for (const text of body.input) expect(text.length).toBeLessThan(25_000)
      }
    })

    test("429 is tried again when the server asked for it, and 500 after a pause", async () => {
      const embedder = await opened()
      const right = await embedder.embed(["a"], "document")
      api.next({ status: 429, headers: { "retry-after": "1" } })
      const start = performance.now()
      expect(await embedder.embed(["a"], "document")).toEqual(right)
      expect(performance.now() - start).toBeGreaterThan(950)
      api.next({ status: 503 }, { status: 500 })
      expect(await embedder.embed(["a"], "document")).toEqual(right)
    })

    test("a server that stays overloaded is out of reach, and says for how long", async () => {
      const embedder = await opened()
      api.next({ status: 429, headers: { "retry-after": "3600" }, body: `slow down, ${KEY}` })
      const failure = await failureOf(embedder.embed(["a"], "document"))
      expect(failure).toMatchObject({ code: "embedder_unreachable", data: { retryAfterMs: 3_600_000 } })
      expect(failure.message).toContain(`${api.url}${path} answers 429`)
    })

    test("a server that keeps failing is given up after four attempts", async () => {
      const embedder = await opened()
      api.requests.length = 0
      api.next(
        ...Array.from({ length: 9 }, () => ({ status: 500, headers: { "retry-after": "0" }, body: "out of memory" })),
      )
      const failure = await failureOf(embedder.embed(["a"], "document"))
      expect(failure.code).toBe("embedder_unreachable")
      expect(failure.message).toContain("answers 500: out of memory")
      expect(api.requests).toHaveLength(4)
    })

    test("a request that is wrong is not repeated, and no message shows the key", async () => {
      const embedder = await opened()
      api.requests.length = 0
      api.next({ status: 401, body: JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } }) })
      const failure = await failureOf(embedder.embed(["a"], "document"))
      expect(failure.code).toBe("embedder_refused")
      expect(failure.message).toMatch(/answers 401: .*Check the key$/)
      expect(api.requests).toHaveLength(1)
    })

    test.each([
      ["garbage", { garbage: "<html>a proxy's page</html>" }, "answers what is not JSON: <html>"],
      ["other JSON", { garbage: '{"ok":true}' }, "is not a list of embeddings"],
      ["fewer vectors than texts", "short", "answers 1 vectors for 2 texts"],
      ["vectors of another dimension", "wrong dimension", "answers vectors of 31 numbers instead of 32"],
      ["what is not a number", "not a number", "is not a list of embeddings"],
    ] as const)("%s instead of vectors is refused", async (_, answer, message) => {
      const embedder = await opened()
      api.next(answer)
      const failure = await failureOf(embedder.embed(["a", "b"], "document"))
      expect(failure.code).toBe("embedder_refused")
      expect(failure.message).toContain(message)
      expect(failure.message).toContain(`${api.url}${path}`)
    })

    test("a model that the server does not have is refused with what to do", async () => {
      const failure = await failureOf(open({ url: api.url, model: "unknown" }))
      expect(failure.code).toBe("embedder_refused")
      expect(failure.message).toMatch(/answers 404: .*the model|ollama pull unknown/)
    })

    test("a slow server is given up after the timeout", async () => {
      const embedder = await open({ url: api.url, timeoutMs: 200 })
      api.next({ delayMs: 2_000 })
      const failure = await failureOf(embedder.embed(["a"], "document"))
      expect(failure.code).toBe("embedder_unreachable")
      expect(failure.message).toContain("did not answer within 200 ms")
    })

    test("nothing listening, an unknown host and a broken connection are Failures with help", async () => {
      const embedder = await opened()
      api.next("hang up")
      const broken = await failureOf(embedder.embed(["a"], "document"))
      const port = new URL(api.url).port
      await api.close()
      const closed = await failureOf(embedder.embed(["a"], "document"))
      const unknown = await failureOf(open({ url: "http://user:secret@nowhere.invalid" }))
      for (const failure of [broken, closed, unknown]) {
        expect(failure.code).toBe("embedder_unreachable")
        expect(failure.kind.help).toMatch(/endpoint answers/)
      }
      expect(closed.message).toBe(`http://127.0.0.1:${port}${path} refuses connections: nothing listens there`)
      expect(unknown.message).toMatch(/^http:\/\/nowhere\.invalid\S+ has a host name/)
      api = await startEmbeddingsApi()
    })

    test("an abort ends a request under way, and a pause before the next attempt", async () => {
      const embedder = await opened()
      for (const answer of [{ delayMs: 60_000 }, { status: 429, headers: { "retry-after": "19" } }]) {
        api.next(answer)
        const stop = new AbortController()
        const reason = new Error("the daemon stops")
        const call = embedder.embed(["a"], "document", stop.signal)
        const start = performance.now()
        setTimeout(() => stop.abort(reason), 100)
        await expect(call).rejects.toBe(reason)
        expect(performance.now() - start).toBeLessThan(15_000)
      }
    })
  })
}
