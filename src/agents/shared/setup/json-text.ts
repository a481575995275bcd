import { createScanner, findNodeAtLocation, type JSONPath, type Node, parseTree } from "jsonc-parser"

/** Tokens of jsonc-parser's scanner, whose enum does not survive type stripping. */
const COMMA = 5
const TRIVIA = [12, 13, 14, 15]

/**
 * Edits of a JSON text that leave every other character in place: jsonc-parser's own edits reformat whatever shares a line
 * with the change, and drop comments in between.
 */
export function nodeAt(text: string, path: JSONPath): Node | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  return tree && findNodeAtLocation(tree, path)
}

/** Adds a property to an object, or with `key` undefined an item to an array, as the last one. */
export function insertInto(text: string, container: Node, key: string | undefined, value: unknown): string {
  const layout = layoutOf(text)
  const children = container.children ?? []
  const close = container.offset + container.length - 1
  const first = children[0]
  const last = children.at(-1)
  const isOneLine = first ? !text.slice(container.offset, first.offset).includes("\n") : !layout.isMultiline
  const indent = first && !isOneLine ? indentAt(text, first.offset) : indentAt(text, container.offset) + layout.unit
  const name = key === undefined ? "" : `${JSON.stringify(key)}: `
  const written = isOneLine ? JSON.stringify(value) : pretty(value, layout, indent)
  const line = `${layout.eol}${indent}${name}${written}`
  if (!last) {
    // It may still have a comment.
    const inside = text.slice(container.offset + 1, close).trimEnd()
    const start = container.offset + 1 + inside.length
    if (isOneLine) return splice(text, start, close, ` ${name}${written} `)
    return splice(
      text,
      start,
      inside === "" ? close : start,
      line + (inside === "" ? layout.eol + indentAt(text, container.offset) : ""),
    )
  }
  const lastEnd = last.offset + last.length
  const comma = tokenAfter(text, lastEnd, close)
  const hasTrailingComma = comma !== undefined
  if (isOneLine) {
    const at = hasTrailingComma ? comma + 1 : lastEnd
    return splice(text, at, at, `${hasTrailingComma ? "" : ","} ${name}${written}${hasTrailingComma ? "," : ""}`)
  }
  // After the rest of the last item's line: a comment there belongs to it.
  const end = hasTrailingComma ? comma + 1 : lastEnd
  const eol = text.indexOf("\n", end)
  const at = eol < 0 || eol > close ? end : text[eol - 1] === "\r" ? eol - 1 : eol
  const added = splice(text, at, at, line + (hasTrailingComma ? "," : ""))
  return hasTrailingComma ? added : splice(added, lastEnd, lastEnd, ",")
}

export function replace(text: string, node: Node, value: unknown): string {
  const layout = layoutOf(text)
  const old = text.slice(node.offset, node.offset + node.length)
  const isOneLine = !layout.isMultiline || (node.type !== "string" && !old.includes("\n"))
  const written = isOneLine ? JSON.stringify(value) : pretty(value, layout, indentAt(text, node.offset))
  return splice(text, node.offset, node.offset + node.length, written)
}

/** Removes a value with its key and comma, and its lines if nothing else is on them. */
export function cut(text: string, value: Node): string {
  const node = value.parent?.type === "property" ? value.parent : value
  const container = node.parent
  if (!container) return text
  const children = container.children ?? []
  const previous = children[children.indexOf(node) - 1]
  const close = container.offset + container.length - 1
  let end = node.offset + node.length
  const after = tokenAfter(text, end, close)
  if (after !== undefined) end = after + 1
  let start = node.offset
  const lineStart = text.lastIndexOf("\n", start - 1) + 1
  const lineEnd = text.indexOf("\n", end)
  const isAlone =
    text.slice(lineStart, start).trim() === "" &&
    lineEnd >= 0 &&
    text.slice(end, lineEnd).trim() === "" &&
    lineStart > 0
  if (isAlone) [start, end] = [lineStart, lineEnd + 1]
  else if (after !== undefined && previous && text[start - 1] === " ") start--
  else if (after !== undefined && text[end] === " ") end++
  let left = splice(text, start, end, "")
  if (after === undefined && previous) {
    const before = tokenAfter(text, previous.offset + previous.length, start) ?? start
    const isNext = text.slice(before + 1, start).trim() === "" && !isAlone
    left = splice(left, before, isNext ? start : before + 1, "")
  }
  return children.length > 1 ? left : collapse(left, container.offset)
}

/** Removes blanks from an empty object or array. */
function collapse(text: string, open: number): string {
  const blanks = /^\s*(?=[}\]])/.exec(text.slice(open + 1))?.[0].length ?? 0
  return splice(text, open + 1, open + 1 + blanks, "")
}

/** The offset of the next comma, if only blanks and comments precede it. */
function tokenAfter(text: string, from: number, to: number): number | undefined {
  const scanner = createScanner(text.slice(0, to), false)
  scanner.setPosition(from)
  let token: number = scanner.scan()
  while (TRIVIA.includes(token)) token = scanner.scan()
  return token === COMMA ? scanner.getTokenOffset() : undefined
}

interface Layout {
  isMultiline: boolean
  unit: string
  eol: string
}

/** The file's own layout; a file on one line stays on one line. */
function layoutOf(text: string): Layout {
  return {
    isMultiline: text.trim() === "{}" || text.trim().includes("\n"),
    unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ",
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  }
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))![0]
}

function pretty(value: unknown, { unit, eol }: Layout, indent: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", eol + indent)
}

function splice(text: string, start: number, end: number, inserted: string): string {
  return text.slice(0, start) + inserted + text.slice(end)
}
