import type * as z from "zod"

/** Turns texts into vectors of one space. The offline default is to have none. */
export interface Embedder {
  /** Names the model and everything that changes its space, such as `openai:text-embedding-3-small:512`. */
  readonly id: string
  readonly dimension: number
  /**
   * One vector of length 1 per text, in order; a text without words may give the zero vector, which nothing is near to.
   * Some models embed what is asked differently from what is kept: `as` says which it is.
   */
  embed(texts: readonly string[], as: EmbeddedAs, signal?: AbortSignal): Promise<Float32Array[]>
}

export type EmbeddedAs = "document" | "query"

/** One kind of embedder, as the setting `embedder` names it. */
export interface EmbedderAdapter<Settings extends z.ZodObject = z.ZodObject> {
  readonly kind: string
  /** A strict object whose `kind` is this one's. */
  readonly settings: Settings
  /** May ask the model for one vector, to learn its dimension; fails when it cannot be reached. */
  open(settings: z.output<Settings>, signal?: AbortSignal): Promise<Embedder>
}
