import type { RichText, TextMark } from "../../domain/rich-text.ts"
import { clean } from "./clean.ts"
import { inline } from "./inline.ts"
import { legal, marked } from "./marks.ts"
import { isTableRule, tableText } from "./table.ts"

const FENCE = /^( *)(`{3,}|~{3,})[ \t]*([^`\n]*)$/
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/
const RULE = /^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$/
const QUOTE = /^ {0,3}>[> ]*/
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(.*)$/
const LANGUAGE = /^[\w+#.-]{1,32}/
const MOST_INDENT = 12

/**
 * Markdown as agents write it. It never fails: unknown syntax is text. Line breaks are kept, because in a chat
 * they are intended.
 */
export function markdown(source: string): RichText {
  const blocks = makeBlocks()
  read(clean(source).split("\n"), blocks, true)
  return legal(blocks.text())
}

function read(lines: readonly string[], blocks: Blocks, mayQuote: boolean): void {
  let paragraph: string[] = []
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.add(inline(paragraph.join("\n")))
    paragraph = []
  }
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const fence = FENCE.exec(line)
    const isQuote = mayQuote && QUOTE.test(line)
    const isTable = line.includes("|") && isTableRule(lines[at + 1] ?? "")
    const heading = HEADING.exec(line)
    const item = RULE.test(line) ? undefined : ITEM.exec(line)
    if (!fence && !isQuote && !isTable && !heading && !item && !RULE.test(line) && line.trim() !== "") {
      paragraph.push(line.trimEnd())
      continue
    }
    endParagraph()
    if (fence) {
      const end = closing(lines, at, fence[2]!)
      blocks.add(code(lines.slice(at + 1, end), fence))
      at = end
    } else if (isTable) {
      let end = at + 2
      while (end < lines.length && lines[end]!.includes("|")) end++
      const rows = lines.slice(at, end).toSpliced(1, 1)
      blocks.add(marked("pre", tableText(rows)))
      at = end - 1
    } else if (isQuote) {
      let end = at
      while (end < lines.length && QUOTE.test(lines[end]!)) end++
      blocks.add(quote(lines.slice(at, end)))
      at = end - 1
    } else if (heading) blocks.add(bold(inline(heading[1]!)))
    // The lines below may continue the item and its open marks.
    else if (item) paragraph = [itemText(item)]
    else if (line.trim() === "") blocks.gap()
    else blocks.add({ text: "———", marks: [] })
  }
  endParagraph()
}

/** The line that closes the fence, or the end of the text. */
function closing(lines: readonly string[], at: number, fence: string): number {
  for (let end = at + 1; end < lines.length; end++) {
    const line = lines[end]!.trim()
    if (line.length >= fence.length && line === fence[0]!.repeat(line.length)) return end
  }
  return lines.length
}

function code(lines: readonly string[], [, indent, , info]: RegExpExecArray): RichText {
  const inner = lines.map((line) => line.slice(Math.min(indent!.length, line.length - line.trimStart().length)))
  const text = inner.join("\n").replace(/\n+$/, "")
  if (text.trim() === "") return { text: "", marks: [] }
  const language = LANGUAGE.exec(info!.trim())?.[0]
  const mark: TextMark = { kind: "pre", offset: 0, length: text.length, ...(language !== undefined && { language }) }
  return { text, marks: [mark] }
}

function quote(lines: readonly string[]): RichText {
  const blocks = makeBlocks()
  read(
    lines.map((line) => line.replace(QUOTE, "")),
    blocks,
    false,
  )
  const { text, marks } = blocks.text()
  return { text, marks: [...marked("quote", text).marks, ...marks] }
}

function bold({ text, marks }: RichText): RichText {
  return { text, marks: [...marked("bold", text).marks, ...marks] }
}

function itemText([, indent, sign, box, words]: RegExpExecArray): string {
  const blanks = " ".repeat(Math.min(indent!.replaceAll("\t", "    ").length, MOST_INDENT))
  const bullet = box === undefined ? (/\d/.test(sign!) ? sign! : "•") : box === " " ? "☐" : "☑"
  return `${blanks}${bullet} ${words!.trimEnd()}`
}

interface Blocks {
  add(block: RichText): void
  /** An empty line; several count as one. */
  gap(): void
  text(): RichText
}

function makeBlocks(): Blocks {
  const pieces: string[] = []
  const marks: TextMark[] = []
  let length = 0
  let hasGap = false
  const push = (text: string) => {
    pieces.push(text)
    length += text.length
  }
  return {
    add(block) {
      if (block.text === "") return
      if (length > 0) push(hasGap ? "\n\n" : "\n")
      hasGap = false
      for (const mark of block.marks) marks.push({ ...mark, offset: mark.offset + length })
      push(block.text)
    },
    gap() {
      hasGap = true
    },
    text: () => ({ text: pieces.join(""), marks }),
  }
}
