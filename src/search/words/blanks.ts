/** Whitespace, control and bidi characters, lone surrogates, and code fences. */
export function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code === BACKTICK) return isFence(text, at)
  if (code <= 32 || (code >= 0x7f && code <= 0xa0)) return true
  if (code < 0x1680) return false
  if (isHigh(code)) return !isLow(text.charCodeAt(at + 1))
  if (isLow(code)) return !isHigh(text.charCodeAt(at - 1))
  return /[\s\u2028-\u202e\u2066-\u2069\u200e\u200f\ufeff]/.test(text[at]!)
}

export const BACKTICK = 96

/** Part of three or more backticks. */
function isFence(text: string, at: number): boolean {
  let run = 1
  for (let left = at - 1; run < 3 && text.charCodeAt(left) === BACKTICK; left--) run++
  for (let right = at + 1; run < 3 && text.charCodeAt(right) === BACKTICK; right++) run++
  return run >= 3
}

export function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

export function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
