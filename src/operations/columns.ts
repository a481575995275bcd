/** A text's width in a terminal: most characters take one column, CJK and emoji two, combining marks none. */
export function columnsOf(text: string): number {
  let columns = 0
  for (const letter of text) columns += widthOf(letter)
  return columns
}

/** Fits a text on one line, padded to the width if `isFilled`. */
export function fitted(text: string, most: number, isFilled = false): string {
  const line = visible(text.replaceAll(SEQUENCE, "")).replaceAll(/\s+/g, " ").trim()
  let [kept, columns] = ["", 0]
  const isWhole = columnsOf(line) <= most
  for (const letter of line) {
    const width = widthOf(letter)
    if (columns + width > (isWhole ? most : most - 1)) break
    kept += letter
    columns += width
  }
  if (!isWhole) [kept, columns] = [`${kept}…`, columns + 1]
  return isFilled ? kept + " ".repeat(most - columns) : kept
}

/** Wraps at spaces, and inside a word only if it is longer than a line. */
export function lineRanges(text: string, columns: number): [start: number, end: number][] {
  const ranges: [number, number][] = []
  for (let start = 0; start < text.length; ) {
    let [end, width, blank] = [start, 0, -1]
    for (const letter of text.slice(start)) {
      if (letter === " ") blank = end
      if (width + widthOf(letter) > columns) break
      width += widthOf(letter)
      end += letter.length
    }
    const isLast = end >= text.length
    const cut = isLast || blank <= start ? Math.max(end, start + 1) : blank
    ranges.push([start, cut])
    start = text[cut] === " " ? cut + 1 : cut
  }
  return ranges
}

/** Replaces control characters, one for one, so that offsets stay valid. */
export function visible(text: string): string {
  return text.replaceAll(CONTROL, " ").replaceAll(HIDDEN, (letter) => " ".repeat(letter.length))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** Bidirectional controls and invisible characters. Joiners stay: scripts and emoji need them. */
const HIDDEN =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours are made of.
const SEQUENCE = /\u001b\[[0-9;?]*[a-zA-Z]/g
const NONE = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const TWO =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$|^\p{Emoji_Presentation}$/u

function widthOf(letter: string): number {
  if (letter >= " " && letter <= "~") return 1
  return NONE.test(letter) ? 0 : TWO.test(letter) ? 2 : 1
}
