import { inline } from "./inline.ts"

const RULE_ROW = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
/** Wider columns are not padded: on a phone they would wrap anyway. */
const MOST_WIDTH = 32
const MOST_FILLED = 4_000

/** The delimiter row of a table. */
export const isTableRule = (line: string) => line.length < 2_000 && line.includes("|") && RULE_ROW.test(line)

/** Aligns columns for a monospaced font. */
export function tableText(lines: readonly string[]): string {
  const rows = lines.map(cellsOf)
  const isSmall = rows.reduce((sum, row) => sum + row.length, 0) <= MOST_FILLED
  const widths: number[] = []
  if (isSmall)
    for (const row of rows)
      for (const [column, cell] of row.entries())
        widths[column] = Math.max(widths[column] ?? 0, Math.min([...cell].length, MOST_WIDTH))
  const texts = rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)))
      .join(" │ ")
      .trimEnd(),
  )
  const [head = "", ...rest] = texts
  const rule = widths.map((width) => "─".repeat(Math.max(1, width))).join("─┼─")
  return [head, ...(isSmall ? [rule] : []), ...rest].join("\n")
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
  return inner.split(/(?<!\\)\|/).map((cell) => inline(cell.replaceAll("\\|", "|").trim()).text.replaceAll("\n", " "))
}
