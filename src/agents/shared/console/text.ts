/** As large as a paste may be; the agents take it as one prompt. */
export const MAX_PASTE_BYTES = 200_000

/**
 * What may go into a terminal: no control but line feed and tab, so that nothing ends the paste or is taken for a key; no
 * halves of characters; and nothing that is not seen, or shows a line in another order than it is read. What joins signs
 * and letters into one stays.
 */
export function sanitised(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(UNWANTED, (sign) => (JOINERS.includes(sign) ? sign : ""))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNWANTED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}/gu
const JOINERS = "\u200c\u200d\ufe0e\ufe0f"

/** Why no console takes it, or undefined. */
export function unfit(text: string): string | undefined {
  if (text.trim() === "") return "there is nothing in it that can be typed"
  const bytes = Buffer.byteLength(text)
  return bytes > MAX_PASTE_BYTES
    ? `it has ${bytes} bytes, and ${MAX_PASTE_BYTES} can be pasted: write it to a file and name that`
    : undefined
}

/** Where agents would take a text for something else than words, it is introduced. */
export const introduced = (text: string) => `Message: ${text.trimStart()}`

/** Input lines wrap and indent, and terminals drop what they cannot draw: only plain signs and bare letters can be compared. */
const inkOf = (text: string) => (text.normalize("NFD").match(/[!-~]|[\p{L}\p{N}]/gu) ?? []).filter(isShort).join("")
const isShort = (sign: string) => sign.length === 1

/** Whether an input line shows this text, or the end of it where it is too long for the screen. */
export function showsText(draft: string, text: string): boolean {
  const [shown, whole] = [inkOf(draft), inkOf(text)]
  return shown === whole || (shown.length >= ENOUGH && whole.endsWith(shown))
}

const ENOUGH = 200
