/** What an agent says about an exchange beside its words: tags, a topic, whatever else it likes. */
export type Metadata = Record<string, unknown>

/** As JSON: enough for tags and a topic, and too little to bring a second conversation along. */
export const MAX_METADATA_CHARS = 4_000

/** Undefined where it cannot be stored: too long, too deep, or no JSON at all. */
export function boundedMetadata(value: unknown): Metadata | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  try {
    return JSON.stringify(value).length <= MAX_METADATA_CHARS ? (value as Metadata) : undefined
  } catch {
    return undefined
  }
}

/** Its values, a line each, without the names before them. */
export function metadataWords(metadata: Metadata): string {
  const words: string[] = []
  const take = (value: unknown): void => {
    if (typeof value === "string" || typeof value === "number") words.push(String(value))
    else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) take(inner)
  }
  take(metadata)
  return words.join("\n")
}

/** What search goes through of a turn. */
export const searchableText = ({ text, metadata }: { text: string; metadata?: Metadata | undefined }) =>
  metadata === undefined ? text : `${text}\n\n${metadataWords(metadata)}`
