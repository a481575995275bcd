import type { Exchange } from "../../domain/exchange.ts"

/** Most models read little more, and what an exchange is about stands at its beginning. */
const MAX_CHARS = 2_000
/** A prompt may be a pasted log: what was answered must have its share. */
const MAX_PROMPT_CHARS = 1_200

/** What of an exchange is made into a vector: what was asked, then what was answered, without blocks of code. */
export function embeddedText({ user, ai }: Pick<Exchange, "user" | "ai">): string {
  const asked = prose(user).slice(0, MAX_PROMPT_CHARS)
  return `${asked}\n\n${prose(ai).slice(0, MAX_CHARS - asked.length)}`.trim()
}

/** A prompt that is nothing but code stays what it is. */
function prose(text: string): string {
  const without = text.replaceAll(/^(```|~~~).*?(^\1|$(?![\s\S]))/gms, "").trim()
  return without === "" ? text.trim() : without
}
