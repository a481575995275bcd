/** Between two lines, also in JSON, and what a quotation, a diff or a listing puts before each. */
export const NEXT_LINE =
  "(?:\\r?\\n|\\\\{1,3}[nr])(?:[ \\t]{0,8}(?:(?:[\\w./-]{1,100}[:-])?\\d{1,6}(?:[\\t→|:-]|\\\\{1,3}t)|\\+|(?:[>|] ?){0,2}[>|]))?"
/** What is between two words, lines included; each character can be read in one way only, so that the time is linear. */
export const GAP = `(?:${NEXT_LINE}|[^\\S\\r\\n]|\\\\{1,3}t)`
