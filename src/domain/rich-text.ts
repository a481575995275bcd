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
