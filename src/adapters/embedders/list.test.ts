import { describe, expect, test } from "vitest"
import { EmbedderSetting, embedders, openEmbedder } from "./list.ts"
import { prefixesOf } from "./shared/prefixes.ts"

describe("the setting `embedder`", () => {
  test("names every embedder of the list, and nothing else", () => {
    for (const { kind } of embedders) expect(EmbedderSetting.parse({ kind, ...need(kind) })).toMatchObject({ kind })
    for (const wrong of ["ollama", { kind: "word2vec" }, { kind: "ollama" }, {}, null])
      expect(EmbedderSetting.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
  })

  test("refuses a key that its kind does not have, and an address that is none", () => {
    for (const wrong of [
      { kind: "hashed", model: "x" },
      { kind: "ollama", model: "x", dimensions: 8 },
      { kind: "ollama", model: "x", baseUrl: "localhost:11434" },
      { kind: "openai-compatible", model: "x", baseUrl: "file:///etc/passwd" },
    ])
      expect(EmbedderSetting.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
  })

  test("opens the embedder it names", async () => {
    const setting = EmbedderSetting.parse({ kind: "hashed" })
    expect(setting).not.toBe("none")
    expect((await openEmbedder(setting as Exclude<typeof setting, "none">)).id).toBe("hashed:1:384")
  })
})

const need = (kind: string) => (kind === "hashed" ? {} : { model: "m" })

test.each([
  ["intfloat/multilingual-e5-small", "query: ", "passage: "],
  ["Xenova/e5-base-v2", "query: ", "passage: "],
  ["bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""],
  ["BAAI/bge-m3", "", ""],
  ["nomic-embed-text:v1.5", "search_query: ", "search_document: "],
  ["text-embedding-3-small", "", ""],
  ["nemo-e5x", "", ""],
])("%s is asked with %j and kept with %j", (model, query, document) => {
  expect(prefixesOf(model)).toEqual({ query, document })
})
