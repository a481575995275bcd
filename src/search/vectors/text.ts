import type { Exchange } from "../../domain/exchange.ts"

/** Most models read little more, and the topic of an exchange is at its beginning. */
const MAX_CHARS = 2_000
/** A prompt may be a pasted log: leave a share for the reply. */
const MAX_PROMPT_CHARS = 1_200

/** The text to embed: the prompt, then the replies, without code blocks. */
export function embeddedText({ user, ai }: Pick<Exchange, "user" | "ai">): string {
  const asked = prose(user).slice(0, MAX_PROMPT_CHARS)
  return `${asked}\n\n${prose(ai).slice(0, MAX_CHARS - asked.length)}`.trim()
}

/** A prompt of nothing but code is kept. */
function prose(text: string): string {
  const without = text.replaceAll(/^(```|~~~).*?(^\1|$(?![\s\S]))/gms, "").trim()
  return without === "" ? text.trim() : without
}
