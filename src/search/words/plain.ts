/** Counting bytes is native code and faster than a pattern. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
