/**
 * The text without the tagged blocks that a program put into it: `<tag>…</tag>` on lines of its own, or one that spans
 * several lines. What a person quotes stays: in a code fence, in backticks or quotation marks, behind `>`, or within a
 * line of their own words. So does a block that is never closed, because nobody can say where it would end.
 */
export function cutBlocks(text: string, isTag: (name: string) => boolean): string {
  const cuts = blocksIn(text, isTag)
  if (cuts.length === 0) return text
  let kept = ""
  let from = 0
  for (const { start, end } of cuts) {
    kept = joined(kept, text.slice(from, start))
    from = end
  }
  return joined(kept, text.slice(from)).trim()
}

interface Block {
  start: number
  end: number
}

/** A fence, or a tag. One pass over the text, whatever is in it. */
const TOKEN = /^[ \t]{0,3}(```|~~~)|<(\/?)([A-Za-z][\w:-]*)(?:[ \t][^<>\n]*)?>/gm

/** Outermost blocks only, in order. */
function blocksIn(text: string, isTag: (name: string) => boolean): Block[] {
  const open = new Map<string, Block[]>()
  const found: Block[] = []
  let fence: string | undefined
  let depth = 0
  for (const { 0: token, 1: mark, 2: slash, 3: name = "", index } of text.matchAll(TOKEN)) {
    if (mark !== undefined) {
      // What is in a block says nothing about the text around it.
      if (depth === 0) fence = fence === undefined ? mark : fence === mark ? undefined : fence
      continue
    }
    if (fence !== undefined || !isTag(name)) continue
    const stack = open.get(name) ?? []
    open.set(name, stack)
    const end = index + token.length
    if (slash === "") {
      stack.push({ start: index, end })
      depth++
      continue
    }
    const begun = stack.pop()
    if (!begun) continue
    depth--
    const block = { start: begun.start, end }
    if (!isInjected(text, block)) continue
    while (found.length > 0 && found.at(-1)!.start > block.start) found.pop()
    found.push(block)
  }
  return found
}

/** How far a line is looked at on either side of a block: text without line breaks must not cost its square. */
const LINE_CHARS = 2_000

function isInjected(text: string, { start, end }: Block): boolean {
  const above = text.slice(Math.max(0, start - LINE_CHARS), start)
  const below = text.slice(end, end + LINE_CHARS)
  const before = above.slice(above.lastIndexOf("\n") + 1)
  const after = below.split("\n", 1)[0]!
  if (/^(?: {0,3}>| {4}|\t)/.test(before) || isInCode(before)) return false
  const isOnItsOwn = before.trim() === "" && after.trim() === ""
  return isOnItsOwn || (text.slice(start, end).includes("\n") && !/["'“‘«([]$/.test(before))
}

/** After an odd number of backticks. */
const isInCode = (before: string) => before.split("`").length % 2 === 0

/** The gap is as wide as it was on one side of the block, not on both. */
function joined(before: string, after: string): string {
  if (before.trim() === "") return after
  const [behind, ahead] = [
    before.slice(before.trimEnd().length),
    after.slice(0, after.length - after.trimStart().length),
  ]
  const gap = behind.length > ahead.length ? behind : ahead
  return `${before.trimEnd()}${gap}${after.trimStart()}`
}
