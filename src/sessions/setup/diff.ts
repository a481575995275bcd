const CONTEXT = 2
/** Beyond this the changed middle is shown as it was and as it is, without looking for what they share. */
const MAX_CELLS = 4_000_000

interface Line {
  mark: " " | "-" | "+"
  text: string
}

/** What a person reads before saying yes: changed lines with a little around them. */
export function diffText(before: string | null, after: string | null): string {
  const [a, b] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const same = (lines: string[]): Line[] => lines.map((text) => ({ mark: " ", text }))
  const all = [
    ...same(a.slice(0, start)),
    ...changes(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ]
  const near = all.map((_, at) =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== " "),
  )
  return all.flatMap(({ mark, text }, at) => (near[at] ? [`${mark} ${text}`] : near[at - 1] ? ["  …"] : [])).join("\n")
}

function linesOf(text: string | null): string[] {
  return text === null || text === "" ? [] : text.replace(/\n$/, "").split("\n")
}

/** By the longest common subsequence. */
function changes(a: string[], b: string[]): Line[] {
  const removed = a.map((text): Line => ({ mark: "-", text }))
  const added = b.map((text): Line => ({ mark: "+", text }))
  if (a.length * b.length > MAX_CELLS) return [...removed, ...added]
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!)
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ mark: " ", text: a[i]! })
      i++
      j++
    } else if (common[i + 1]![j]! >= common[i]![j + 1]!) lines.push(removed[i++]!)
    else lines.push(added[j++]!)
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)]
}
