/** Text as every database and every reader accepts it: no NUL, no half of a surrogate pair. */
export function plainText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes("\0") ? whole.replaceAll("\0", "") : whole
}

/** For what is said in one line with other facts: a name of a branch or a folder must not begin another one. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ").trim()
}
