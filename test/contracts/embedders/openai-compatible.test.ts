import { afterEach, beforeEach, expect, test } from "vitest"
import { openaiCompatible } from "../../../src/adapters/embedders/openai-compatible.ts"
import { type EmbeddingsApi, startEmbeddingsApi } from "../../fixtures/embeddings-api.ts"
import { endpointContract, KEY } from "./endpoint.ts"

const open = (more: Record<string, unknown>) =>
  openaiCompatible.open(
    openaiCompatible.settings.parse({ kind: "openai-compatible", model: "small", apiKey: KEY, ...more }),
  )

endpointContract("openai-compatible", "/v1/embeddings", ({ url, ...more }) => open({ baseUrl: `${url}/v1`, ...more }))

let api: EmbeddingsApi
beforeEach(async () => {
  api = await startEmbeddingsApi()
})
afterEach(() => api.close())

test("the key goes into the header, and the parameters of the URL stay", async () => {
  await open({ baseUrl: `${api.url}/v1/?api-version=2024` })
  expect(api.requests[0]).toMatchObject({
    path: "/v1/embeddings?api-version=2024",
    headers: { authorization: `Bearer ${KEY}` },
    body: { model: "small", encoding_format: "float" },
  })
})

test("a user's name in the URL is sent as such, and the password is in no message", async () => {
  const baseUrl = `${api.url.replace("//", "//user:p%40ss@")}/v1`
  api.next({ status: 400, body: "you said p@ss" })
  const failure = await open({ baseUrl, apiKey: undefined }).catch((error: Error) => error.message)
  expect(failure).toBe(`${api.url}/v1/embeddings answers 400: you said ***`)
  expect(api.requests[0]!.headers.authorization).toBe(`Basic ${Buffer.from("user:p@ss").toString("base64")}`)
})

test("dimensions are asked for, checked, and part of the id, without a request at the start", async () => {
  const embedder = await open({ baseUrl: `${api.url}/v1`, model: "text-embedding-3-small", dimensions: 512 })
  expect([embedder.id, api.requests.length]).toEqual(["openai:text-embedding-3-small:512", 0])
  expect((await embedder.embed(["a"], "query"))[0]).toHaveLength(512)
  expect(api.requests[0]!.body.dimensions).toBe(512)
})

test("vectors are taken by their index, not by their place", async () => {
  const embedder = await open({ baseUrl: `${api.url}/v1` })
  const right = await embedder.embed(["a", "b", "c"], "document")
  api.next("shuffled")
  expect(await embedder.embed(["a", "b", "c"], "document")).toEqual(right)
})

test("a model of the e5 family gets its words before each text, and its id says so", async () => {
  const embedder = await open({ baseUrl: `${api.url}/v1`, model: "intfloat/e5-small-v2" })
  api.requests.length = 0
  const [[kept], [asked]] = [await embedder.embed(["a"], "document"), await embedder.embed(["a"], "query")]
  expect(api.requests.map(({ body }) => body.input)).toEqual([["passage: a"], ["query: a"]])
  expect(kept).not.toEqual(asked)
  expect(embedder.id).toBe("openai:intfloat/e5-small-v2:32:passage")
})
