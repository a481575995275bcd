/** Longer texts get their own array, to limit the memory held. */
const SHARED_LENGTH = 1 << 20
const shared = Buffer.allocUnsafeSlow(SHARED_LENGTH * 2)
const sharedCodes = new Uint16Array(shared.buffer)

/** Character codes as an array: three times as fast as `charCodeAt`. Valid until the next call, and up to the text's length. */
export function codesOf(text: string): Uint16Array {
  if (text.length > SHARED_LENGTH) {
    const own = Buffer.allocUnsafeSlow(text.length * 2)
    own.write(text, "utf16le")
    return new Uint16Array(own.buffer)
  }
  shared.write(text, "utf16le")
  return sharedCodes
}
