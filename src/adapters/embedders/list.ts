import * as z from "zod"
import type { Embedder } from "../../domain/embedder.ts"
import { hashed } from "./hashed.ts"
import { ollama } from "./ollama.ts"
import { openaiCompatible } from "./openai-compatible.ts"
import { transformers } from "./transformers.ts"

/** Every kind of embedder. To add one, write its file and name it here twice. */
export const embedders = [ollama, openaiCompatible, transformers, hashed] as const

/** The setting `embedder`. Without one, search is by keywords and nothing is fetched or sent. */
export const EmbedderSetting = z.union([
  z.literal("none"),
  z.discriminatedUnion("kind", [ollama.settings, openaiCompatible.settings, transformers.settings, hashed.settings]),
])
export type EmbedderSetting = z.output<typeof EmbedderSetting>

export async function openEmbedder(setting: Exclude<EmbedderSetting, "none">, signal?: AbortSignal): Promise<Embedder> {
  const adapter = embedders.find(({ kind }) => kind === setting.kind)!
  // Found by the setting's kind, so the settings are its own.
  return (adapter.open as (setting: unknown, signal?: AbortSignal) => Promise<Embedder>)(setting, signal)
}
