/**
 * What agents' programs write around the summary of a conversation that was compacted. It is addressed to the model in
 * the user's place, and is neither a person's word nor the model's.
 */
const HEADS = [
  /^This session is being continued from a previous conversation\b[^\n.]*\.?/,
  /^Another language model started to solve this problem and produced a summary\b[^\n]*?(?:analysis:|$)/m,
]
const LINES =
  /^[ \t]*(?:The (?:conversation|session) is summarized below\b|The summary below covers\b|Please continue the conversation from where\b|Continue the conversation from where\b|Continue with the last task that you were asked\b|Resume directly\b|If you need specific details from before compaction\b|Recent messages are preserved verbatim\b).*$/gm
const TAGS = /^[ \t]*<\/?(?:summary|state_snapshot)>[ \t]*$/gm

/** The summary alone, where the text is such a message; undefined where it is something that somebody said. */
export function compactionSummary(text: string): string | undefined {
  const trimmed = text.trimStart()
  const head = HEADS.map((pattern) => pattern.exec(trimmed)).find((match) => match?.index === 0)
  return head ? bareSummary(trimmed.slice(head[0].length)) : undefined
}

/** A text that is known to be a summary, without what the program wrote around it. */
export function bareSummary(text: string): string {
  return (compactionSummary(text) ?? text)
    .replaceAll(LINES, "")
    .replaceAll(TAGS, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()
}
