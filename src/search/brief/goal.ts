import type { Turn } from "../../domain/turn.ts"
import type { Material } from "./gather.ts"

const REQUEST =
  /^(?:ok(?:ay)?[,.]?\s+|now[,]?\s+|next[,:]?\s+|then\s+|please\s+|could you\s+|can you\s+|let'?s\s+|i (?:want|need|would like)|we (?:want|need|should)|goal\s*:|task\s*:|implement|add|fix|build|make|create|write|refactor|rewrite|change|remove|replace|move|port|migrate|investigate|find out|update|improve|design|test)\b/i

/** The first task, a later prompt that sets a new one, and what the agent wrote when its context was full. */
export function goalItems({ opening, talk }: Pick<Material, "opening" | "talk">): string[] {
  const first = opening.find(isTask) ?? opening[0]
  const lastPrompt = talk.findLast(({ kind }) => kind === "prompt")
  const latest = talk.findLast(
    (turn) => turn.kind === "prompt" && turn !== lastPrompt && isTask(turn) && REQUEST.test(turn.text.trim()),
  )
  const summary = talk.findLast(({ kind }) => kind === "summary")
  return [
    ...(first ? [first.text.trim()] : []),
    ...(latest && latest.seq !== first?.seq ? [`Then: ${latest.text.trim()}`] : []),
    ...(summary ? [`Summed up by the agent: ${summary.text.trim()}`] : []),
  ]
}

/** Not a hello, a slash command or a word of assent. */
function isTask({ text }: Turn): boolean {
  const plain = text.trim()
  return plain.length >= 12 && !/^[/!][\w:-]+/.test(plain)
}
