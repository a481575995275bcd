/** What tells most about a call of a tool, in the order in which it is looked for. */
const TELLING = [
  "command",
  "cmd",
  "file_path",
  "filePath",
  "path",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "skill",
  "description",
  "prompt",
  "question",
  "title",
]

/** The one argument of a call that says what it is about; the call may have been cut off in the middle. */
export function tellingPart(call: string): string {
  if (!call.startsWith("{")) return call
  for (const name of TELLING) {
    const found = new RegExp(`"${name}"\\s*:\\s*(\\[\\s*)?"((?:[^"\\\\]|\\\\.)*)`).exec(call)
    if (!found) continue
    // A list of words is a command as it is started.
    if (found[1]) return wordsOf(call.slice(found.index)).join(" ")
    return unquoted(found[2]!)
  }
  return call
}

/** A longer one, such as a file that is written, would hold up the search that shows a line of it. */
const MOST_CHARS = 32_768

/** All arguments of a call on one line: what tells most comes first, the others by their names. Undefined where it is no call. */
export function readableCall(call: string): string | undefined {
  if (!call.startsWith("{") || call.length > MOST_CHARS) return undefined
  try {
    const input = JSON.parse(call) as Record<string, unknown>
    const first = TELLING.find((name) => name in input)
    const others = Object.entries(input).filter(([name]) => name !== first)
    return [...(first === undefined ? [] : [readable(input[first])]), ...others.map(named)].join(" · ")
  } catch {
    return undefined
  }
}

const named = ([name, value]: [string, unknown]): string => `${name}: ${readable(value)}`

function readable(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value)
  if (Array.isArray(value)) return value.map(readable).join(value.every((one) => typeof one === "string") ? " " : ", ")
  return Object.entries(value).map(named).join(", ")
}

/** The strings of the list that begins at the first bracket, up to its end or where it was cut. */
function wordsOf(text: string): string[] {
  const words: string[] = []
  const string = /\s*(?:"((?:[^"\\]|\\.)*)"?\s*,?|\])/y
  string.lastIndex = text.indexOf("[") + 1
  for (let found = string.exec(text); found?.[1] !== undefined; found = string.exec(text))
    words.push(unquoted(found[1]))
  return words
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    // It was cut off inside of an escape.
    return text
  }
}
