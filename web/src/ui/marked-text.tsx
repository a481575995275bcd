import type { ComponentChildren } from "preact"

/** A text with the places marked that were searched for; each is [from, to). */
export function MarkedText({ text, marks }: { text: string; marks: readonly (readonly [number, number])[] }) {
  const parts: ComponentChildren[] = []
  let at = 0
  for (const [from, to] of marks) {
    if (from < at || to > text.length) continue
    parts.push(text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>)
    at = to
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  )
}
