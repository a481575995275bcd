/** How much of a model's context a text takes. */
export interface TokenCounter {
  /** In tokens of o200k: exact for OpenAI's models, near enough for others when a margin is kept. */
  count(text: string): number
  /** How many characters from the beginning take no more than this; reads no further. */
  fitting(text: string, most: number): number
}

/** Claude and Gemini count by vocabularies that nobody publishes; theirs may be this much more. */
const OTHERS_MARGIN = 0.9

/** What may be used of a budget that any model must be able to hold. */
export function countable(maxTokens: number): number {
  return Math.floor(maxTokens * OTHERS_MARGIN)
}
