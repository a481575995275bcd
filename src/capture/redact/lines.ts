/** A line break, also in JSON, with the prefix that a quotation, diff or listing adds. */
export const NEXT_LINE =
  "(?:\\r?\\n|\\\\{1,3}[nr])(?:[ \\t]{0,8}(?:(?:[\\w./-]{1,100}[:-])?\\d{1,6}(?:[\\t→|:-]|\\\\{1,3}t)|\\+|(?:[>|] ?){0,2}[>|]))?"
/** Whitespace between two words, including lines. Unambiguous, so matching is linear. */
export const GAP = `(?:${NEXT_LINE}|[^\\S\\r\\n]|\\\\{1,3}t)`
