import type { TokenCounter } from "../../domain/tokens.ts"

export interface Section {
  name: SectionName
  title: string
  items: string[]
}

export const SECTIONS = [
  "goal",
  "decisions",
  "files",
  "openEnds",
  "taskState",
  "lastExchange",
  "earlierSessions",
  "related",
] as const
export type SectionName = (typeof SECTIONS)[number]

export interface Packed {
  text: string
  tokens: number
  /** The sections that are in the text, with the number of their items. */
  sections: { name: SectionName; items: number; tokens: number }[]
}

/** In allocation order; unused budget is carried over to the next section, and the last one may use all of it. */
const SHARES: readonly [name: SectionName, share: number, mostOfItem: number][] = [
  ["goal", 0.18, 0.6],
  ["lastExchange", 0.22, 0.7],
  ["openEnds", 0.12, 0.5],
  ["taskState", 0.1, 1],
  ["decisions", 0.16, 0.5],
  ["files", 0.08, 0.5],
  ["earlierSessions", 0.05, 0.5],
  ["related", 1, 0.34],
]
/** The minimum of a section, whatever its share. */
const LEAST_SECTION = 48
/** A shorter item is useless. */
const LEAST_ITEM = 14

/** Fills the budget; the whole text never exceeds it. */
export function pack(head: string, sections: readonly Section[], budget: number, tokens: TokenCounter): Packed {
  const headText = cutToTokens(head, budget, tokens)
  let left = budget - tokens.count(`${headText}\n`)
  let carried = 0
  const chosen = new Map<SectionName, { title: string; items: string[] }>()
  for (const [name, share, mostOfItem] of SHARES) {
    const section = sections.find((other) => other.name === name)
    if (!section || section.items.length === 0) {
      carried += share * budget
      continue
    }
    const title = `\n## ${section.title}\n`
    const cap = Math.min(left, Math.max(share * budget + carried, LEAST_SECTION))
    const { items, used } = fill(section.items, cap - tokens.count(title), mostOfItem, tokens)
    const spent = items.length === 0 ? 0 : used + tokens.count(title)
    if (items.length > 0) chosen.set(name, { title, items })
    left -= spent
    carried = Math.max(0, share * budget + carried - spent)
  }
  return render(headText, chosen, budget, tokens)
}

function fill(items: readonly string[], cap: number, mostOfItem: number, tokens: TokenCounter) {
  const taken: string[] = []
  let used = 0
  for (const item of items) {
    const room = cap - used - 1
    if (room < LEAST_ITEM) break
    const isLast = items.length === 1
    const most = Math.min(room, Math.max(LEAST_SECTION, isLast ? cap : Math.floor(cap * mostOfItem)))
    const fitting = cutToTokens(item, most, tokens)
    if (fitting !== item && taken.length > 0 && most < LEAST_SECTION) break
    const cost = tokens.count(`${fitting}\n`)
    if (fitting === "" || used + cost > cap) break
    taken.push(fitting)
    used += cost
  }
  return { items: taken, used }
}

function render(
  head: string,
  chosen: Map<SectionName, { title: string; items: string[] }>,
  budget: number,
  tokens: TokenCounter,
): Packed {
  for (;;) {
    const shown = SECTIONS.flatMap((name) => {
      const section = chosen.get(name)
      return section ? [{ name, text: `${section.title}${section.items.join("\n")}`, items: section.items.length }] : []
    })
    const text = [head, ...shown.map((section) => section.text)].join("\n").trim()
    const total = tokens.count(text)
    // Joined, the parts can have more tokens than their sum; then the least important item is dropped.
    const last = SHARES.findLast(([name]) => chosen.has(name))?.[0]
    if (total <= budget || last === undefined) {
      const fitting = total <= budget ? text : cutToTokens(text, budget, tokens)
      return {
        text: fitting,
        tokens: tokens.count(fitting),
        sections: shown.map(({ name, items, text }) => ({ name, items, tokens: tokens.count(text) })),
      }
    }
    const { items } = chosen.get(last)!
    items.pop()
    if (items.length === 0) chosen.delete(last)
  }
}

/** As much of the beginning as fits, with a note of how much is missing. */
export function cutToTokens(text: string, most: number, tokens: TokenCounter): string {
  if (most <= 0) return ""
  if (tokens.fitting(text, most) === text.length) return text
  for (let room = most - MARK_TOKENS; room > 0; room--) {
    const kept = text.slice(0, tokens.fitting(text, room)).trimEnd()
    const marked = `${kept}…[${text.length - kept.length} more characters]`
    if (kept === "") return ""
    if (tokens.count(marked) <= most) return marked
  }
  return ""
}

/** The size of that note, unless the number is very long. */
const MARK_TOKENS = 7
