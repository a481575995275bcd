/** What another agent or a person sent stands below a line that says so: who it was, and the words without that line. */
export function mailOf(text: string): { from: string; words: string } | undefined {
  const found = HEADING.exec(text)
  return found ? { from: found[1]!, words: unquoted(text.slice(found[0].length)) } : undefined
}

/** The words as they were written: each line is marked on its way, and a note of ours stands below. */
function unquoted(text: string): string {
  const lines = text.split("\n")
  const end = lines.findIndex((line) => !line.startsWith(">"))
  if (end === 0) return text
  return lines
    .slice(0, end < 0 ? undefined : end)
    .map((line) => line.replace(/^> ?/, ""))
    .join("\n")
}

const HEADING = /^\[(?:Message|Notice) m-[0-9a-f]+ from ([^\]\n]+?)(?: to [^\]\n]+)?, via Throughline\]\s*/
