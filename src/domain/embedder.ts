import type * as z from "zod"

/** Turns texts into vectors of one space. None by default. */
export interface Embedder {
  /** Names the model and everything that changes its space, such as `openai:text-embedding-3-small:512`. */
  readonly id: string
  readonly dimension: number
  /**
   * One unit vector per text, in order; a text without words may give the zero vector, which matches nothing.
   * Some models embed queries differently from documents.
   */
  embed(texts: readonly string[], as: EmbeddedAs, signal?: AbortSignal): Promise<Float32Array[]>
}

export type EmbeddedAs = "document" | "query"

/** One kind of embedder, named by the setting `embedder`. */
export interface EmbedderAdapter<Settings extends z.ZodObject = z.ZodObject> {
  readonly kind: string
  /** A strict object whose `kind` is this one's. */
  readonly settings: Settings
  /** May request one vector to learn the dimension; fails when the model cannot be reached. */
  open(settings: z.output<Settings>, signal?: AbortSignal): Promise<Embedder>
}
