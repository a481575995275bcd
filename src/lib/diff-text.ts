import { diffArrays } from "diff"

const CONTEXT = 2
/** Beyond so many changed lines the old and the new are shown whole, without looking for what they share. */
const MOST_CHANGES = 2_000

/** What a person reads before saying yes: changed lines with a little around them. */
export function diffText(before: string | null, after: string | null): string {
  const [a, b] = [linesOf(before), linesOf(after)]
  const changes = diffArrays(a, b, { maxEditLength: MOST_CHANGES }) ?? [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ]
  const all = changes.flatMap(({ value, added, removed }) =>
    value.map((text) => ({ mark: added ? "+" : removed ? "-" : " ", text })),
  )
  const near = all.map((_, at) =>
    all.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== " "),
  )
  return all.flatMap(({ mark, text }, at) => (near[at] ? [`${mark} ${text}`] : near[at - 1] ? ["  …"] : [])).join("\n")
}

function linesOf(text: string | null): string[] {
  return text === null || text === "" ? [] : text.replace(/\n$/, "").split("\n")
}
