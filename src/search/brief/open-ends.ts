import { clip } from "../../domain/text.ts"
import type { Turn } from "../../domain/turn.ts"
import { jsonObject } from "../../lib/json-object.ts"
import { sentencesOf, withoutCode } from "./sentences.ts"

const MOST_CHARS = 240
const STILL =
  /\bTODO\b|\bFIXME\b|\bnext steps?\b|\bstill (?:need|needs|have|has|to|missing|open|fails?|failing)\b|\bnot yet\b|\bremaining\b|\bleft to do\b|\bfollow-?ups?\b|\bpending\b|\bblocked (?:on|by)\b|\bwill (?:need|have) to\b|\bI(?:'ll| will) (?:then|next|now|continue)\b|待办|接下来|残り|次に/i
const HEADING =
  /^\s*(?:#{1,6}\s*|\*\*)?(?:next(?: steps?)?|remaining(?: work)?|to ?dos?|open (?:questions?|ends|points|issues)|follow-?ups?|left to do|still (?:open|to do))\b[^\n]{0,40}?:?\**\s*$/i
const ITEM = /^\s*(?:[-*+•]|\d+[.)])\s+(?:\[ \]\s*)?(.+)$/
const FAILED = /\b[1-9]\d* (?:failed|failing|errors?)\b|\bFAIL(?:ED)?\b|\bTraceback\b|\bexit(?:ed with)? code:? [1-9]/

/** Unfinished work. `talk` has prompts, replies and summaries. */
export function openEnds(of: {
  talk: readonly Turn[]
  calls: readonly Turn[]
  results: readonly Turn[]
  todo: Turn | undefined
}): string[] {
  const replies = of.talk.filter(({ kind }) => kind === "reply").slice(-LAST_REPLIES)
  const last = of.talk.at(-1)
  // Older failures have been dealt with in the meantime.
  const recentMs = of.talk.filter(({ kind }) => kind === "prompt").at(-2)?.atMs ?? 0
  const results = of.results.filter(({ atMs }) => atMs >= recentMs)
  return [
    ...new Set([
      ...(last?.kind === "prompt" ? [`Not answered: ${clip(last.text, MOST_CHARS)}`] : []),
      ...todosIn(of.todo).map((text) => `To do: ${clip(text, MOST_CHARS)}`),
      ...failures(of.calls, results),
      ...replies.toReversed().flatMap(({ text }, index) => announced(text, index === 0)),
    ]),
  ]
}

const LAST_REPLIES = 3

/** Work that a reply announces, and the questions of the very last one. */
function announced(reply: string, isLast: boolean): string[] {
  const found: string[] = []
  let under = false
  for (const line of withoutCode(reply).split("\n")) {
    const item = ITEM.exec(line)?.[1]
    if (HEADING.test(line)) under = true
    else if (item !== undefined && (under || /^\s*[-*+]\s+\[ \]/.test(line))) found.push(item)
    else if (line.trim() !== "") {
      under = false
      found.push(...sentencesOf(line).filter((sentence) => STILL.test(sentence)))
    }
  }
  const asked = isLast
    ? sentencesOf(reply)
        .slice(-3)
        .filter((sentence) => /\?["')`]*$/.test(sentence))
    : []
  return [...found, ...asked.map((question) => `Asked: ${question}`)].map((text) => clip(text, MOST_CHARS))
}

/** Commands whose last run failed. */
function failures(calls: readonly Turn[], results: readonly Turn[]): string[] {
  const callOf = new Map(calls.map((call) => [call.toolCallId, call]))
  const open = new Map<string, string>()
  for (const { toolCallId, toolName, text, isError } of results) {
    const call = callOf.get(toolCallId)
    if (!call) continue
    const what = `${call.toolName ?? toolName ?? "tool"} ${commandOf(call.text)}`
    open.delete(what)
    if (isError || FAILED.test(text)) open.set(what, tellingLine(text))
  }
  return [...open].slice(-3).map(([what, why]) => `Failed: ${clip(what, 100)}: ${clip(why, 120)}`)
}

function commandOf(input: string): string {
  const parsed = jsonObject(input)
  const command = parsed?.command ?? parsed?.cmd ?? parsed?.file_path ?? parsed?.filePath ?? parsed?.path
  if (Array.isArray(command)) return command.join(" ")
  return typeof command === "string" ? command : input
}

function tellingLine(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "")
  return (
    lines.find((line) => FAILED.test(line)) ?? lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? "no output"
  )
}

export const TODO_TOOL =
  /^(?:TodoWrite|todowrite|todo_write|update_plan|write_todos|update_todo_list|manage_todo_list)$/

function todosIn(call: Turn | undefined): string[] {
  const input = call && jsonObject(call.text)
  const list = input?.todos ?? input?.plan ?? input?.todoList
  if (typeof list === "string") return [...list.matchAll(/^\s*[-*]?\s*\[[ -]\]\s*(.+)$/gm)].map((match) => match[1]!)
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: Record<string, unknown> | null) => {
    const text = entry?.content ?? entry?.step ?? entry?.description ?? entry?.title
    return typeof text === "string" && !/^(?:completed|done|cancelled)$/.test(String(entry?.status)) ? [text] : []
  })
}
