import type { Message } from "grammy/types"

/** The plain text of a rich message. Undefined for others. */
export function richTextOf({ rich_message: rich }: Message): string | undefined {
  if (!rich) return undefined
  return rich.blocks
    .map((block) => wordsOf(block).trim())
    .filter((words) => words !== "")
    .join("\n\n")
}

/** Fields with text or blocks, in reading order; future kinds use the same names. */
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
  // The number or bullet of a list item.
  return typeof fields.label === "string" ? `${fields.label} ${all}` : all
}

function linesOf(part: unknown, name: string): string[] {
  if (!Array.isArray(part)) return part === undefined ? [] : [wordsOf(part)]
  // A table's cells are rows.
  if (name === "cells" && part.every(Array.isArray))
    return part.map((row: unknown[]) => row.map((cell) => wordsOf(cell)).join(" | "))
  return part.map(wordsOf)
}
