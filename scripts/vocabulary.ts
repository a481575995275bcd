// Packs the published vocabulary of o200k into the one file that the program counts tokens by. The package it comes
// from is thirty megabytes and its own reading of it takes a hundred; neither is needed to run.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { packVocabulary } from "../src/adapters/tokens/vocabulary.ts"

export const VOCABULARY = fileURLToPath(import.meta.resolve("gpt-tokenizer/data/o200k_base.tiktoken"))

export function packedVocabulary(): Buffer {
  const tokens: Buffer[] = []
  for (const line of readFileSync(VOCABULARY, "utf8").split("\n")) {
    const [bytes, rank] = line.split(" ")
    if (bytes && rank) tokens[Number(rank)] = Buffer.from(bytes, "base64")
  }
  return packVocabulary(Array.from(tokens))
}
