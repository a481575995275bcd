/** What another agent or a person sent stands below a line that says so: who it was, and the words without that line. */
export function mailOf(text: string): { from: string; words: string } | undefined {
  const found = HEADING.exec(text)
  return found ? { from: found[1]!, words: text.slice(found[0].length) } : undefined
}

const HEADING = /^\[(?:Message|Notice) m-[0-9a-f]+ from ([^\]\n]+?)(?: to [^\]\n]+)?, via Throughline\]\s*/
