import { type JSONPath, type ParseError, parse, printParseErrorCode } from "jsonc-parser"
import type { FileEdit } from "../../../domain/setup.ts"
import { jsonIn } from "../records/jsonl.ts"
import { malformed, readText } from "./files.ts"
import { cut, insertInto, nodeAt, replace } from "./json-text.ts"

const BOM = "\uFEFF"

/** A JSON file being edited. Comments, order and layout of everything else stay. */
export class JsonFile {
  readonly path: string
  text: string

  constructor(path: string, text: string) {
    this.path = path
    this.text = text
  }

  /** Undefined if the path does not exist. */
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
    const there = nodeAt(this.text, path)
    if (there) this.text = replace(this.text, there, value)
    else {
      const [parents, name] = [path.slice(0, -1), String(path.at(-1))]
      const container = nodeAt(this.text, parents)
      if (container) this.text = insertInto(this.text, container, name, value)
      else this.set(parents, { [name]: value })
    }
  }

  append(path: JSONPath, value: unknown): void {
    const container = nodeAt(this.text, path)
    if (container) this.text = insertInto(this.text, container, undefined, value)
    else this.set(path, [value])
  }

  remove(path: JSONPath): void {
    const there = nodeAt(this.text, path)
    if (there) this.text = cut(this.text, there)
  }

  /** Keeps one that still has a comment. */
  removeIfEmpty(path: JSONPath): void {
    const there = nodeAt(this.text, path)
    if (there && /^(\{\s*\}|\[\s*\])$/.test(this.text.slice(there.offset, there.offset + there.length)))
      this.remove(path)
  }

  #wrong(path: JSONPath, why: string) {
    return malformed(this.path, this.text, nodeAt(this.text, path)?.offset ?? 0, `${path.join(".")} ${why}`)
  }
}

/** For agents that read strict JSON: comments stay, but the person is told that the agent rejects them. */
export function editStrictJson(path: string, summary: string, change: (file: JsonFile) => void): FileEdit[] {
  return editJson(path, summary, change).map((edit) =>
    jsonIn(edit.after) ? edit : { ...edit, summary: `${summary}; ${NOT_READ}` },
  )
}

const NOT_READ = "but the agent does not read this file while it has comments or trailing commas"

/** The edit that a change makes, or none. */
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
  check(path, after)
  // Must be idempotent: a duplicate key is read from one place and written to the other.
  change(file)
  if (file.text !== after) throw malformed(path, start, 0, "a key occurs more than once")
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
