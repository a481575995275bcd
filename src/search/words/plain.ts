/** By how long it is in UTF-8, which is counted natively; a pattern would look at every letter. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
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
