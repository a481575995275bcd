/** Both databases get the same plain words, or each would split paths, names and accents in its own way. */
export function plainWords(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]+/g, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " ")
    .trim()
}
