/** Counting bytes is native code and faster than a pattern. */
export const isAscii = (text: string) => Buffer.byteLength(text) === text.length

/** Phrase test for ASCII. Searches the longest word, usually the rarest: a pattern would try every place of the first. */
export function plainPhrase(runs: readonly string[]): (text: string) => boolean {
  const words = runs.map((run) => run.toLowerCase())
  const anchor = words.reduce((best, word, at) => (word.length > words[best]!.length ? at : best), 0)
  return (text) => {
    const small = text.toLowerCase()
    if (!small.includes(words[anchor]!)) return false
    return isThere(small, words, anchor) || (small.includes("\\") && isThere(unescaped(small), words, anchor))
  }
}

/** Blanks out line breaks as JSON writes them: their n belongs to no word. Keeps the length. */
export function unescaped(text: string): string {
  return text.replace(/\\[nrt]/g, "  ")
}

function isThere(small: string, words: readonly string[], anchor: number): boolean {
  const word = words[anchor]!
  for (let at = small.indexOf(word); at >= 0; at = small.indexOf(word, at + 1)) {
    const end = at + word.length
    if (isOfWord(small, at - 1) || isOfWord(small, end)) continue
    if (followedBy(small, words, anchor + 1, end) && precededBy(small, words, anchor - 1, at)) return true
  }
  return false
}

function followedBy(small: string, words: readonly string[], from: number, end: number): boolean {
  let at = end
  for (let which = from; which < words.length; which++) {
    const word = words[which]!
    while (at < small.length && !isOfWord(small, at)) at++
    if (!small.startsWith(word, at)) return false
    at += word.length
    if (isOfWord(small, at)) return false
  }
  return true
}

function precededBy(small: string, words: readonly string[], from: number, begin: number): boolean {
  let end = begin
  for (let which = from; which >= 0; which--) {
    const word = words[which]!
    while (end > 0 && !isOfWord(small, end - 1)) end--
    if (!small.endsWith(word, end)) return false
    end -= word.length
    if (isOfWord(small, end - 1)) return false
  }
  return true
}

function isOfWord(small: string, at: number): boolean {
  const code = small.charCodeAt(at)
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
}
