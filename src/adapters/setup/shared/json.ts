import {
  applyEdits,
  type FormattingOptions,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser"
import type { FileEdit } from "../../../domain/setup.ts"
import { malformed, readText } from "./files.ts"

const BOM = "\uFEFF"

/** A JSON file under change. Comments, order and layout of what is not changed stay as they are. */
export class JsonFile {
  readonly path: string
  text: string

  constructor(path: string, text: string) {
    this.path = path
    this.text = text
  }

  /** Undefined where nothing stands. */
  at(path: JSONPath): unknown {
    return path.reduce<unknown>(
      (value, name) => (typeof value === "object" && value !== null ? (value as never)[name] : undefined),
      parse(this.text, [], { allowTrailingComma: true }),
    )
  }

  object(path: JSONPath): Record<string, unknown> {
    const value = this.at(path)
    if (value === undefined) return {}
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    throw this.#wrong(path, "must be an object")
  }

  array(path: JSONPath): unknown[] {
    const value = this.at(path)
    if (value === undefined) return []
    if (Array.isArray(value)) return value
    throw this.#wrong(path, "must be an array")
  }

  set(path: JSONPath, value: unknown): void {
    this.#apply(path, value, false)
  }

  append(path: JSONPath, value: unknown): void {
    if (this.at(path) === undefined) this.set(path, [value])
    else this.#apply([...path, -1], value, true)
  }

  remove(path: JSONPath): void {
    this.#apply(path, undefined, false)
  }

  #apply(path: JSONPath, value: unknown, isArrayInsertion: boolean): void {
    const layout = layoutOf(this.text)
    const options = { isArrayInsertion, ...(layout ? { formattingOptions: layout } : {}) }
    this.text = applyEdits(this.text, modify(this.text, path, value, options))
  }

  #wrong(path: JSONPath, why: string) {
    const tree = parseTree(this.text, [], { allowTrailingComma: true })
    const node = tree && findNodeAtLocation(tree, path)
    return malformed(this.path, this.text, node?.offset ?? 0, `${path.join(".")} ${why}`)
  }
}

/** What the change makes of the file; nothing when it changes nothing. */
export function editJson(path: string, summary: string, change: (file: JsonFile) => void): FileEdit[] {
  const before = readText(path)
  const mark = before?.startsWith(BOM) ? BOM : ""
  const given = (before ?? "").slice(mark.length)
  const start = given.trim() === "" ? "{}\n" : given
  check(path, start)
  const file = new JsonFile(path, start)
  change(file)
  if (file.text === start) return []
  const after = file.text
  // Done again it must change nothing; a key that is there twice is read from one place and written at the other.
  change(file)
  if (file.text !== after) throw malformed(path, start, 0, "a key stands in it more than once")
  return [{ path, before, after: mark + after, summary }]
}

function check(path: string, text: string): void {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error) throw malformed(path, text, error.offset, printParseErrorCode(error.error))
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw malformed(path, text, 0, "it must hold an object")
}

/** As the file does it itself; a file on one line stays on one line. */
function layoutOf(text: string): FormattingOptions | undefined {
  if (text.trim() !== "{}" && !text.trim().includes("\n")) return undefined
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  }
}
