import { isDeepStrictEqual } from "node:util"
import { parse, TomlError } from "smol-toml"
import type { FileEdit } from "../../../domain/setup.ts"
import { malformed, malformedAt, readText } from "./files.ts"

/** One table of a TOML file, such as mcp_servers.throughline, edited as text: the rest stays unchanged. */
export interface TomlTable {
  path: readonly [string, string]
  /** Written above the table, to show its origin. */
  comment: string
}

export function setTable(
  file: string,
  { path, comment }: TomlTable,
  change: (there: Table) => Table,
  summary: string,
): FileEdit[] {
  const before = readText(file)
  const text = before ?? ""
  const value = parsed(file, text)
  const there = at(value, path)
  const wanted = change(there ?? {})
  // Keep a person's additions to the table, such as a timeout.
  if (there && Object.keys(wanted).every((name) => same(there[name], wanted[name]))) return []
  const rest = there ? without(file, text, path) : text
  const eol = text.includes("\r\n") ? "\r\n" : "\n"
  const merged = { ...there, ...wanted }
  const lines = [`# ${comment}`, `[${path.join(".")}]`, ...Object.entries(merged).map(line), ""]
  const gap =
    rest === "" || rest.endsWith("\n\n") || rest.endsWith("\r\n\r\n") ? "" : rest.endsWith("\n") ? eol : eol + eol
  const after = rest + gap + lines.join(eol)
  verify(file, text, after, withTable(value, path, merged))
  return [{ path: file, before, after, summary }]
}

export function removeTable(file: string, { path }: TomlTable, summary: string): FileEdit[] {
  const before = readText(file)
  if (before === null || !at(parsed(file, before), path)) return []
  const after = without(file, before, path)
  return [{ path: file, before, after: after.trim() === "" ? "" : after, summary }]
}

/** Everything but the table, its subtables and the comment above it. */
function without(file: string, text: string, path: TomlTable["path"]): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const name = path.map((part) => `(?:${part}|"${part}"|'${part}')`).join("\\s*\\.\\s*")
  const ours = new RegExp(`^\\s*\\[\\[?\\s*${name}\\s*[.\\]]`)
  const kept: string[] = []
  let inside = false
  for (const line of lines) {
    if (/^\s*\[/.test(line)) {
      const isOurs = ours.test(line)
      if (isOurs && !inside) dropCommentAbove(kept)
      inside = isOurs
    }
    if (!inside) kept.push(line)
  }
  const after = kept.join("")
  verify(file, text, after, withTable(parsed(file, text), path, undefined))
  return after
}

/** The comment and blank line written with the table. */
function dropCommentAbove(kept: string[]): void {
  if (kept.at(-1)?.startsWith("# Added by `throughline setup`")) kept.pop()
  if (kept.length > 1 && kept.at(-1)?.trim() === "") kept.pop()
}

/** Checks that the edited text parses to exactly the expected value. */
function verify(file: string, before: string, after: string, expected: unknown): void {
  try {
    if (same(parse(after), expected)) return
  } catch {
    // Reported below.
  }
  throw malformed(file, before, 0, "it is written in a way that cannot be changed without touching the rest")
}

type Table = Record<string, unknown>

/** Ignores the parser's prototypes and empty tables. */
function same(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(plain(a), plain(b))
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, plain(inner)] as const)
  return Object.fromEntries(entries.filter(([, inner]) => !isEmptyTable(inner)))
}

function isEmptyTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)
    ? Object.keys(value).length === 0
    : false
}

function parsed(file: string, text: string): Table {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw malformedAt(file, error.line, error.column, error.message.split("\n")[0]!)
  }
}

function at(value: Table, [outer, inner]: TomlTable["path"]): Table | undefined {
  return (value[outer] as Record<string, Table> | undefined)?.[inner]
}

function withTable(value: Table, [outer, inner]: TomlTable["path"], table: unknown) {
  const { [inner]: _, ...others } = (value[outer] ?? {}) as Table
  const { [outer]: __, ...rest } = value
  const tables = table === undefined ? others : { ...others, [inner]: table }
  return { ...rest, [outer]: tables }
}

const line = ([name, value]: [string, unknown]) => `${name} = ${toml(value)}`

/** JSON's strings are TOML's basic strings. */
function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${JSON.stringify(key)} = ${toml(inner)}`)
      .join(", ")} }`
  return JSON.stringify(value)
}
