/** By how long it is in UTF-8, which is counted natively; a pattern would look at every letter. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
