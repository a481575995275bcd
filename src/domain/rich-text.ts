/** Text and how parts of it look. Offsets count UTF-16 units, and nothing in the text has to be escaped. */
export interface RichText {
  text: string
  marks: readonly TextMark[]
}

export type TextMark = { offset: number; length: number } & (
  | { kind: "bold" | "italic" | "strike" | "code" | "quote" | "spoiler" }
  | { kind: "pre"; language?: string }
  | { kind: "link"; url: string }
)

export const plain = (text: string): RichText => ({ text, marks: [] })

/** At most so many units, never ending in the middle of a surrogate pair. */
export function cutText(text: string, units: number): string {
  if (text.length <= units) return text
  const isHighHalf = (text.charCodeAt(units - 2) & 0xfc00) === 0xd800
  return `${text.slice(0, isHighHalf ? units - 2 : units - 1)}…`
}
