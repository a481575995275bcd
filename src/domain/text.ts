/** Text as every database and every reader accepts it: no NUL, no half of a surrogate pair. */
export function plainText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes("\0") ? whole.replaceAll("\0", "") : whole
}
