/** Parses a screen that tmux captured with colours: its text, and the text that is not faint. */
export function readScreen(captured: string): { lines: string[]; bright: string[] } {
  const lines: string[] = []
  const bright: string[] = []
  let look: Look = { isFaint: false, isReversed: false }
  for (const row of captured.replace(/\n$/, "").split("\n")) {
    const pieces: (Look & { text: string })[] = []
    for (const [piece, codes] of row.matchAll(PIECES)) {
      if (codes !== undefined) look = lookAfter(codes, look)
      else if (piece.charCodeAt(0) >= 0x20) pieces.push({ text: piece, ...look })
    }
    lines.push(
      pieces
        .map(({ text }) => text)
        .join("")
        .trimEnd(),
    )
    bright.push(pieces.map(brightOnly).join("").trimEnd())
  }
  return { lines, bright }
}

/** Escape sequences, control characters, and text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what screens are made of
const PIECES = /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[^@-~]*[@-~]|\x1b.|[\x00-\x1f]|[^\x00-\x1f]+/g

interface Look {
  isFaint: boolean
  isReversed: boolean
}

/** Skip the colour numbers behind 38, 48 and 58: they are no attributes. */
function lookAfter(codes: string, before: Look): Look {
  const parts = codes.split(";")
  let { isFaint, isReversed } = before
  for (let at = 0; at < parts.length; at++) {
    const code = parts[at]
    if (code === "38" || code === "48" || code === "58") at += parts[at + 1] === "2" ? 4 : 2
    else if (code === "" || code === "0") isFaint = isReversed = false
    else if (code === "2") isFaint = true
    else if (code === "22") isFaint = false
    else if (code === "7") isReversed = true
    else if (code === "27") isReversed = false
  }
  return { isFaint, isReversed }
}

/** The agent's drawn cursor covers the first letter of a hint, which is reversed instead of faint. */
function brightOnly(
  { text, isFaint, isReversed }: Look & { text: string },
  at: number,
  all: (Look & { text: string })[],
) {
  const isHint = isFaint || (isReversed && [...text].length === 1 && all[at + 1]?.isFaint === true)
  return isHint ? " ".repeat(text.length) : text
}
