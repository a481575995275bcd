import type { Message } from "grammy/types"

/** The words of a rich message: its blocks one below the other, without how they look. Undefined where it is none. */
export function richTextOf({ rich_message: rich }: Message): string | undefined {
  if (!rich) return undefined
  return rich.blocks
    .map((block) => wordsOf(block).trim())
    .filter((words) => words !== "")
    .join("\n\n")
}

/** Members that hold words or blocks, in the order in which they are read; kinds that come later are read by the same names. */
const INLINE = ["text", "alternative_text", "expression"] as const
const BELOW = ["summary", "blocks", "items", "cells", "caption", "credit"] as const

function wordsOf(part: unknown): string {
  if (typeof part === "string") return part
  if (Array.isArray(part)) return part.map(wordsOf).join("")
  if (typeof part !== "object" || part === null) return ""
  const fields = part as Record<string, unknown>
  const inline = INLINE.map((name) => wordsOf(fields[name])).join("")
  const below = BELOW.flatMap((name) => linesOf(fields[name], name))
  const all = [inline, ...below].filter((words) => words.trim() !== "").join("\n")
  // Of a list's item: its number or bullet.
  return typeof fields.label === "string" ? `${fields.label} ${all}` : all
}

function linesOf(part: unknown, name: string): string[] {
  if (!Array.isArray(part)) return part === undefined ? [] : [wordsOf(part)]
  // The cells of a table are rows of them.
  if (name === "cells" && part.every(Array.isArray))
    return part.map((row: unknown[]) => row.map((cell) => wordsOf(cell)).join(" | "))
  return part.map(wordsOf)
}
