import * as z from "zod"
import type { EmbedderAdapter } from "../../domain/embedder.ts"
import { type Endpoint, postJson, refused } from "./shared/http.ts"
import { embedderOf } from "./shared/model.ts"

const settings = z.strictObject({
  kind: z.literal("ollama"),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .default("http://127.0.0.1:11434")
    .describe("Where Ollama listens"),
  model: z.string().min(1).describe("A model that was pulled, such as nomic-embed-text"),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .meta({ secret: true })
    .describe("Sent as a bearer token, where a proxy wants one"),
  keepAlive: z.string().min(1).default("10m").describe("How long Ollama keeps the model in memory after a request"),
  timeoutMs: z.int().min(100).default(120_000).describe("How long one request may take, loading the model included"),
})

const Answer = z.object({ embeddings: z.array(z.array(z.number())) })

/** A model that Ollama runs on this machine or another. */
export const ollama: EmbedderAdapter<typeof settings> = {
  kind: "ollama",
  settings,
  open({ baseUrl, model, apiKey, keepAlive, timeoutMs }, signal) {
    const endpoint: Endpoint = {
      url: `${baseUrl.replace(/\/+$/, "")}/api/embed`,
      apiKey,
      timeoutMs,
      onUnknownModel: `\`ollama pull ${model}\` fetches the model`,
    }
    return embedderOf(
      {
        family: "ollama",
        name: model,
        limits: { texts: 64, tokens: 50_000, tokensOfOne: 8_000 },
        async ask(input, signal) {
          const body = { model, input, truncate: true, keep_alive: keepAlive }
          const answer = Answer.safeParse(await postJson(endpoint, body, signal))
          if (!answer.success) throw refused(endpoint, "answers JSON that is not a list of embeddings")
          return answer.data.embeddings
        },
        refused: (why) => refused(endpoint, why),
      },
      signal,
    )
  },
}
