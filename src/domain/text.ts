/** Text as every database and every reader accepts it: no NUL, no half of a surrogate pair. */
export function plainText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes("\0") ? whole.replaceAll("\0", "") : whole
}

/** For what is said in one line with other facts: a name of a branch or a folder must not begin another one. */
export function oneLine(text: string): string {
  return withoutAnsi(text)
    .replaceAll(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim()
}

/** On one line, cut to `maxChars` with an ellipsis. */
export function clip(text: string, maxChars: number): string {
  const plain = text.replaceAll(/\s+/g, " ").trim()
  if (plain.length <= maxChars) return plain
  const cut = plain.slice(0, maxChars - 1).toWellFormed()
  return `${cut.trimEnd()}…`
}

/** Without the colours and cursor movements of a terminal, which would otherwise become parts of words. */
export function withoutAnsi(text: string): string {
  return text.includes("\u001b") || text.includes("\u009b") ? text.replace(ANSI, "") : text
}

// A title that is never ended must not swallow the rest, nor be looked for again and again.
const ANSI = new RegExp(
  [
    "\\u001b\\][^\\u0007\\u001b\\n]{0,500}(?:\\u0007|\\u001b\\\\)",
    "(?:\\u001b\\[|\\u009b)[0-?]{0,50}[ -/]{0,10}[@-~]",
    "\\u001b[ -/]{0,10}[0-Z\\\\^-~]",
  ].join("|"),
  "g",
)
