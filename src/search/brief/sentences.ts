/** The sentences of a text, without code, quotes, tables and HTML. */
export function sentencesOf(text: string): string[] {
  const found: string[] = []
  for (const line of withoutCode(text).split("\n")) {
    if (/^\s*(?:>|\||<\/?\w)/.test(line)) continue
    const plain = line
      .replace(/^\s*(?:[-*+•]|\d+[.)]|#{1,6})\s+(?:\[[ xX]\]\s*)?/, "")
      .replaceAll(/\*\*|__/g, "")
      .replaceAll("’", "'")
      .trim()
    // A period ends a sentence only before a space and a capital or digit: not in `src/a.ts` nor in `e.g. this`.
    for (const sentence of plain.split(/(?<=[.!?。！？])\s+(?=["'(`]?[\p{Lu}\p{Lo}\p{N}])|(?<=[。！？])/u)) {
      const trimmed = sentence.trim()
      if (trimmed.length >= LEAST_CHARS) found.push(trimmed)
    }
  }
  return found
}

const LEAST_CHARS = 8

export function withoutCode(text: string): string {
  return text.replaceAll(/^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|(?![\s\S]))/gm, "")
}
