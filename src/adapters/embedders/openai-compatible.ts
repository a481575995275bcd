import * as z from "zod"
import type { EmbedderAdapter } from "../../domain/embedder.ts"
import { type Endpoint, postJson, refused } from "./shared/http.ts"
import { embedderOf } from "./shared/model.ts"

const settings = z.strictObject({
  kind: z.literal("openai-compatible"),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .default("https://api.openai.com/v1")
    .describe("What stands before /embeddings"),
  model: z.string().min(1).describe("The model's name, such as text-embedding-3-small"),
  apiKey: z.string().min(1).optional().meta({ secret: true }).describe("Sent as a bearer token"),
  dimensions: z.int().min(8).max(8192).optional().describe("Asked of models that can shorten their vectors"),
  maxTokens: z.int().min(64).default(8_000).describe("What the model reads of one text; more is cut"),
  timeoutMs: z.int().min(100).default(30_000).describe("How long one request may take"),
})

const Answer = z.object({ data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })) })

/** OpenAI, and every server that speaks its /embeddings: vLLM, llama.cpp, LM Studio, LiteLLM, text-embeddings-inference. */
export const openaiCompatible: EmbedderAdapter<typeof settings> = {
  kind: "openai-compatible",
  settings,
  open({ baseUrl, model, apiKey, dimensions, maxTokens, timeoutMs }, signal) {
    const endpoint: Endpoint = {
      url: withPath(baseUrl, "/embeddings"),
      apiKey,
      timeoutMs,
      onUnknownModel: `Check baseUrl, and that the server has the model ${model}`,
    }
    return embedderOf(
      {
        family: "openai",
        name: model,
        dimension: dimensions,
        limits: { texts: 96, tokens: Math.max(100_000, maxTokens), tokensOfOne: maxTokens },
        async ask(input, signal) {
          const body = { model, input, encoding_format: "float", ...(dimensions ? { dimensions } : {}) }
          const answer = Answer.safeParse(await postJson(endpoint, body, signal))
          if (!answer.success) throw refused(endpoint, "answers JSON that is not a list of embeddings")
          return answer.data.data.sort((a, b) => a.index - b.index).map(({ embedding }) => embedding)
        },
        refused: (why) => refused(endpoint, why),
      },
      signal,
    )
  },
}

/** Keeps the parameters that some servers want in the URL. */
function withPath(baseUrl: string, path: string): string {
  const url = new URL(baseUrl)
  url.pathname = url.pathname.replace(/\/*$/, path)
  return url.href
}
