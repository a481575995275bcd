import type { Turn } from "../../domain/turn.ts"

const REQUEST =
  /^(?:ok(?:ay)?[,.]?\s+|now[,]?\s+|next[,:]?\s+|then\s+|please\s+|could you\s+|can you\s+|let'?s\s+|i (?:want|need|would like)|we (?:want|need|should)|goal\s*:|task\s*:|implement|add|fix|build|make|create|write|refactor|rewrite|change|remove|replace|move|port|migrate|investigate|find out|update|improve|design|test)\b/i

export interface Goal {
  first: Turn | undefined
  /** A later prompt that sets a new task. */
  latest: Turn | undefined
  /** What the agent wrote when its context was full. */
  summary: Turn | undefined
}

export function goalOf(opening: readonly Turn[], talk: readonly Turn[]): Goal {
  const first = opening.find(isTask) ?? opening[0]
  const lastPrompt = talk.findLast(({ kind }) => kind === "prompt")
  const latest = talk.findLast(
    (turn) => turn.kind === "prompt" && turn !== lastPrompt && isTask(turn) && REQUEST.test(turn.text.trim()),
  )
  return {
    first,
    latest: latest?.seq === first?.seq ? undefined : latest,
    summary: talk.findLast(({ kind }) => kind === "summary"),
  }
}

/** Not a hello, a slash command or a word of assent. */
function isTask({ text }: Turn): boolean {
  const plain = text.trim()
  return plain.length >= 12 && !/^[/!][\w:-]+/.test(plain)
}
