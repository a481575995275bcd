import { expect, test } from "vitest"
import { ollama } from "../../../src/adapters/embedders/ollama.ts"
import { startEmbeddingsApi } from "../../fixtures/embeddings-api.ts"
import { endpointContract, KEY } from "./endpoint.ts"

const open = (more: Record<string, unknown>) =>
  ollama.open(ollama.settings.parse({ kind: "ollama", model: "all-minilm", apiKey: KEY, ...more }))

endpointContract("ollama", "/api/embed", ({ url, ...more }) => open({ baseUrl: url, ...more }))

test("Ollama is told how long to keep the model, and to cut what is too long for it", async () => {
  const api = await startEmbeddingsApi()
  const embedder = await open({ baseUrl: `${api.url}/`, model: "nomic-embed-text", keepAlive: "30s" })
  await embedder.embed(["a"], "query")
  expect(api.requests.at(-1)).toMatchObject({
    path: "/api/embed",
    body: { model: "nomic-embed-text", input: ["search_query: a"], keep_alive: "30s", truncate: true },
  })
  expect(embedder.id).toBe("ollama:nomic-embed-text:32:search_document")
  await api.close()
})
