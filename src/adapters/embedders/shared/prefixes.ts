import type { EmbeddedAs } from "../../../domain/embedder.ts"

type Prefixes = Readonly<Record<EmbeddedAs, string>>

const RETRIEVAL = "Represent this sentence for searching relevant passages: "
const NONE: Prefixes = { query: "", document: "" }

/** Model families trained with a prefix before each text; without it they lose several points. */
const families: [name: RegExp, prefixes: Prefixes][] = [
  [/e5-.*instruct/, { query: "Instruct: Find the conversation that answers this.\nQuery: ", document: "" }],
  [/(^|[/-])e5-/, { query: "query: ", document: "passage: " }],
  [/bge-m3/, NONE],
  [/bge-.*-zh/, { query: "为这个句子生成表示以用于检索相关文章：", document: "" }],
  [/bge-|mxbai-embed|snowflake-arctic-embed/, { query: RETRIEVAL, document: "" }],
  [/nomic-embed-text/, { query: "search_query: ", document: "search_document: " }],
]

/** By the model's name, whatever serves it. */
export function prefixesOf(model: string): Prefixes {
  const name = model.toLowerCase()
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? NONE
}
