// Patterns as Go writes them, read into a tree, so that they can be written as JavaScript and asked how they begin.

type Node =
  | { type: "chars"; ranges: [from: number, to: number][]; not: boolean }
  | { type: "assert"; source: string }
  | { type: "group"; options: Node[][] }
  | { type: "repeat"; node: Node; min: number; source: string }

interface Flags {
  anyCase: boolean
  dotAll: boolean
}

export type Pattern = Node[][]

export function parsePattern(source: string): Pattern {
  const reader = { source, at: 0 }
  const options = parseOptions(reader, { anyCase: false, dotAll: false })
  if (reader.at < source.length) throw new Error(`unexpected ${source[reader.at]} at ${reader.at}`)
  return options
}

interface Reader {
  source: string
  at: number
}

function parseOptions(reader: Reader, flags: Flags): Node[][] {
  const options: Node[][] = [[]]
  const { source } = reader
  while (reader.at < source.length && source[reader.at] !== ")") {
    if (source[reader.at] === "|") {
      reader.at++
      options.push([])
      continue
    }
    const node = parseNode(reader, flags)
    if (node !== undefined) options.at(-1)!.push(quantified(reader, node))
  }
  return options
}

function parseNode(reader: Reader, flags: Flags): Node | undefined {
  const { source } = reader
  const char = source[reader.at]!
  if (char === "(") return parseGroup(reader, flags)
  if (char === "[") return parseClass(reader, flags)
  reader.at++
  if (char === "\\") return parseEscape(reader)
  if (char === "^" || char === "$") return { type: "assert", source: char }
  if (char === ".") return flags.dotAll ? chars([[0, 0xffff]]) : chars([[10, 10]], true)
  // Literals are case-sensitive: providers issue their prefixes in one case only.
  return chars([same(char.charCodeAt(0))])
}

function parseGroup(reader: Reader, flags: Flags): Node | undefined {
  const [head, on = "", off = "", end] = /^\(\?([a-z]*)(?:-([a-z]+))?([:)])/.exec(reader.source.slice(reader.at)) ?? []
  if (head === undefined) {
    const named = /^\(\?P<\w+>/.exec(reader.source.slice(reader.at))?.[0]
    reader.at += named?.length ?? 1
    return closed(reader, { ...flags })
  }
  reader.at += head.length
  const changed = {
    anyCase: on.includes("i") || (flags.anyCase && !off.includes("i")),
    dotAll: on.includes("s") || (flags.dotAll && !off.includes("s")),
  }
  if (end === ":") return closed(reader, changed)
  // Without a group of its own it counts until the surrounding one ends.
  Object.assign(flags, changed)
  return undefined
}

function closed(reader: Reader, flags: Flags): Node {
  const options = parseOptions(reader, flags)
  if (reader.source[reader.at++] !== ")") throw new Error("a group does not end")
  return { type: "group", options }
}

const CLASSES: Record<string, [number, number][]> = {
  w: ranges("azAZ09__"),
  d: ranges("09"),
  s: [
    [9, 13],
    [32, 32],
  ],
}
const POSIX: Record<string, [number, number][]> = { alnum: ranges("azAZ09"), xdigit: ranges("afAF09") }

function ranges(ends: string): [number, number][] {
  const found: [number, number][] = []
  for (let i = 0; i < ends.length; i += 2) found.push([ends.charCodeAt(i), ends.charCodeAt(i + 1)])
  return found
}

function parseEscape(reader: Reader): Node {
  const char = reader.source[reader.at++]!
  if (char === "b" || char === "B") return { type: "assert", source: `\\${char}` }
  if (char === "z") return { type: "assert", source: "$" }
  if (CLASSES[char]) return chars(CLASSES[char])
  if (CLASSES[char.toLowerCase()]) return chars(CLASSES[char.toLowerCase()]!, true)
  return chars([same(escaped(reader, char))])
}

function escaped(reader: Reader, char: string): number {
  if (char === "x") {
    reader.at += 2
    return Number.parseInt(reader.source.slice(reader.at - 2, reader.at), 16)
  }
  const control = { n: 10, r: 13, t: 9 }[char]
  if (control === undefined && /[A-Za-z0-9]/.test(char)) throw new Error(`\\${char} is not known`)
  return control ?? char.charCodeAt(0)
}

const same = (code: number): [number, number] => [code, code]

function parseClass(reader: Reader, flags: Flags): Node {
  const { source } = reader
  reader.at++
  const not = source[reader.at] === "^"
  if (not) reader.at++
  const found: [number, number][] = []
  for (let first = true; first || source[reader.at] !== "]"; first = false) {
    if (reader.at >= source.length) throw new Error("a class does not end")
    const [posix, name] = /^\[:(\w+):\]/.exec(source.slice(reader.at)) ?? []
    if (posix !== undefined) {
      reader.at += posix.length
      found.push(...(POSIX[name!] ?? []))
      continue
    }
    const from = classChar(reader)
    if (typeof from !== "number") {
      found.push(...from)
      continue
    }
    if (source[reader.at] === "-" && source[reader.at + 1] !== "]") {
      reader.at++
      found.push([from, classChar(reader) as number])
    } else found.push(same(from))
  }
  reader.at++
  return folded(found, flags, not)
}

function classChar(reader: Reader): number | [number, number][] {
  const char = reader.source[reader.at++]!
  if (char !== "\\") return char.charCodeAt(0)
  const next = reader.source[reader.at++]!
  if (CLASSES[next]) return CLASSES[next]
  if (next === "S") throw new Error("\\S in a class is not known")
  return escaped(reader, next)
}

const chars = (ranges: [number, number][], not = false): Node => ({ type: "chars", ranges, not })

function folded(found: [number, number][], { anyCase }: Flags, not = false): Node {
  if (!anyCase) return chars(found, not)
  const more = found.flatMap(([from, to]): [number, number][] => {
    const other = (low: number, high: number, by: number): [number, number][] => {
      const [start, end] = [Math.max(from, low), Math.min(to, high)]
      return start <= end ? [[start + by, end + by]] : []
    }
    return [...other(97, 122, -32), ...other(65, 90, 32)]
  })
  return chars([...found, ...more], not)
}

function quantified(reader: Reader, node: Node): Node {
  const [source] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(reader.source.slice(reader.at)) ?? []
  if (source === undefined) return node
  reader.at += source.length
  const min = source[0] === "+" ? 1 : source[0] === "{" ? Number.parseInt(source.slice(1), 10) : 0
  return { type: "repeat", node, min, source }
}

/** The alternatives of the outermost level, verbatim. */
export function alternativesOf(source: string): string[] {
  const found: string[] = [""]
  for (let depth = 0, inClass = false, at = 0; at < source.length; at++) {
    const char = source[at]!
    if (char === "\\") {
      found[found.length - 1] += char + source[++at]
      continue
    }
    if (char === "[" && !inClass) inClass = true
    else if (char === "]") inClass = false
    else if (char === "(" && !inClass) depth++
    else if (char === ")" && !inClass) depth--
    if (char === "|" && depth === 0 && !inClass) found.push("")
    else found[found.length - 1] += char
  }
  return found
}

/** As JavaScript without flags; nothing is captured. */
export function toSource(pattern: Pattern): string {
  return pattern.map((nodes) => nodes.map(nodeSource).join("")).join("|")
}

function nodeSource(node: Node): string {
  if (node.type === "assert") return node.source
  if (node.type === "group") return `(?:${toSource(node.options)})`
  if (node.type === "repeat") return nodeSource(node.node) + node.source
  return charsSource(node.ranges, node.not)
}

function charsSource(found: [number, number][], not: boolean): string {
  const merged = merge(found)
  if (!not && merged.length === 1 && merged[0]![0] === merged[0]![1])
    return literal(merged[0]![0], /[\^$\\.*+?()[\]{}|/]/)
  const inner = merged.map(([from, to]) => {
    const [low, high] = [from, to].map((code) => literal(code, /[\^\\\]-]/))
    return from === to ? low : to === from + 1 ? `${low}${high}` : `${low}-${high}`
  })
  return `[${not ? "^" : ""}${inner.join("")}]`.replace("0-9A-Z_a-z", "\\w").replace(/^\[\\w\]$/, "\\w")
}

function literal(code: number, special: RegExp): string {
  const char = String.fromCharCode(code)
  if (code < 32 || code > 126 || char === "`") return `\\u${code.toString(16).padStart(4, "0")}`
  return special.test(char) ? `\\${char}` : char
}

function merge(found: [number, number][]): [number, number][] {
  const merged: [number, number][] = []
  for (const [from, to] of found.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}

const MAX_PREFIXES = 64
const MAX_PREFIX = 24

/** Every text with which a match can begin, as long as it is certain. */
export function prefixesOf(pattern: Pattern): string[] {
  return [...new Set(pattern.flatMap((nodes) => prefixesOfAll(nodes).map(({ text }) => text)))]
}

interface Prefix {
  text: string
  goesOn: boolean
}

function prefixesOfAll(nodes: Node[]): Prefix[] {
  let all: Prefix[] = [{ text: "", goesOn: true }]
  for (const node of nodes) {
    const next = all.flatMap((prefix) =>
      prefix.goesOn ? prefixesOfNode(node).map(({ text, goesOn }) => ({ text: prefix.text + text, goesOn })) : [prefix],
    )
    // Too many to look for: what is known so far will do.
    if (next.length > MAX_PREFIXES) return all
    all = next.map(({ text, goesOn }) => ({ text, goesOn: goesOn && text.length < MAX_PREFIX }))
  }
  return all
}

function prefixesOfNode(node: Node): Prefix[] {
  if (node.type === "assert") return [{ text: "", goesOn: true }]
  if (node.type === "group") return node.options.flatMap(prefixesOfAll)
  if (node.type === "repeat") return [{ text: "", goesOn: false }]
  const size = node.ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
  if (node.not || size > 4) return [{ text: "", goesOn: false }]
  return node.ranges.flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, i) => ({ text: String.fromCharCode(from + i), goesOn: true })),
  )
}
