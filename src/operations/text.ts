import type { SessionView, ThoughtView } from "./views.ts"

/** Plain text for people: a table whose columns are as wide as their widest cell. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)))
  const line = (cells: string[]) =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column]!))).join("  ")
  return [line(head), ...rows.map(line)].join("\n")
}

export function sessionTable(sessions: SessionView[]): string {
  return table(
    ["ID", "UPDATED", "THOUGHTS", "PROJECT", "TITLE"],
    sessions.map((session) => [
      session.id.slice(0, 8),
      session.updatedAt.slice(0, 16).replace("T", " "),
      session.branchCount > 0
        ? `${session.thoughtCount} (+${session.branchCount} branches)`
        : String(session.thoughtCount),
      projectName(session.mcpRootUri),
      `${session.pinned ? "[pinned] " : ""}${session.archived ? "[archived] " : ""}${clip(session.title, 60)}`,
    ]),
  )
}

export function sessionLine(session: SessionView): string {
  return `${session.id} "${session.title}" (${session.thoughtCount} thoughts, ${session.branchCount} branches, updated ${session.updatedAt})`
}

export function thoughtLines(thoughts: ThoughtView[]): string[] {
  return thoughts.map(
    (t) => `${t.thoughtNumber}${t.revisesThought === undefined ? "" : ` (revises ${t.revisesThought})`}. ${t.thought}`,
  )
}

export function projectName(rootUri: string | undefined): string {
  if (rootUri === undefined) return "-"
  const name = rootUri.split("/").at(-1) ?? ""
  try {
    return decodeURIComponent(name) || "/"
  } catch {
    return name
  }
}

export function clip(text: string, chars: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= chars ? line : `${line.slice(0, chars - 1)}…`
}
