const MAX_QUOTE_CHARS = 200
/** So much of a text identifies it. */
const TELLING_CHARS = 60

/**
 * Quotes the beginning of the answered message before the text. The agent's last reply needs no quote: any text
 * answers that.
 */
export function quoted(text: string, answered: string, lastReply: string | undefined): string {
  const head = [...answered.trim()].slice(0, MAX_QUOTE_CHARS).join("")
  if (head === "" || (lastReply !== undefined && bare(lastReply).includes(bare(head).slice(0, TELLING_CHARS))))
    return text
  const isCut = head.length < answered.trim().length
  const lines = `${head}${isCut ? "…" : ""}`.split("\n").map((line) => `> ${line}`.trimEnd())
  return `${lines.join("\n")}\n\n${text}`
}

/** Without Markdown syntax, which a messenger shows in another way. */
const bare = (text: string) => text.replaceAll(/[\s*_`#>~[\]()-]+/g, "")
