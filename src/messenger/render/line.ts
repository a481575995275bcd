import type { Turn } from "../../domain/turn.ts"
import { firstLine } from "./clean.ts"

const MOST_CHARS = 80
/** Longer ones hold files; the identifying part is at the beginning. */
const MOST_PARSED = 1_000_000

/** One line for a tool call: icon, name, and the identifying argument. */
export function callLine({ toolName, text }: Pick<Turn, "toolName" | "text">, projectPath: string | null): string {
  const name = nameOf(toolName)
  const what = telling(text, projectPath)
  return `${iconOf(name)} ${name}${what === "" ? "" : `: ${what}`}`
}

/** One line for a tool result: the reason of a failure, or the beginning of the output. */
export function resultLine({ toolName, text, isError }: Pick<Turn, "toolName" | "text" | "isError">): string {
  const head = firstLine(
    isError ? (/(?:^|\n)((?:Error|Exit code)\b[^\n]*)/i.exec(text.slice(0, 4_000))?.[1] ?? text) : text,
    MOST_CHARS,
  )
  const of = toolName ? `${nameOf(toolName)}: ` : ""
  return isError ? `   ✗ ${of}${head || "failed"}` : `   ↳ ${head || "nothing"}`
}

/** MCP tools are named `mcp__server__tool`. */
function nameOf(toolName: string | null): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(toolName ?? "") ?? []
  return firstLine(server === undefined ? (toolName ?? "") : `${server} ${tool}`, 60) || "tool"
}

const ICONS: [RegExp, string][] = [
  [/todo|plan/i, "📋"],
  [/bash|shell|exec|terminal|command|stdin/i, "💻"],
  [/edit|write|patch|replace|notebook|create_file|insert/i, "✏️"],
  [/web|fetch|browser|url/i, "🌐"],
  [/grep|glob|search|find|list|\bls\b/i, "🔎"],
  [/read|view|open|cat/i, "📖"],
  [/task|agent|delegate/i, "🤖"],
  [/ask|question/i, "❓"],
]
const iconOf = (name: string) => ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? "🔧"

/** Names of arguments in agents, most identifying first. */
const TELLING = (
  "command cmd file_path filePath absolute_path target_file notebook_path path pattern query regex url description " +
  "prompt question skill name"
).split(" ")

function telling(text: string, projectPath: string | null): string {
  const input = inputOf(text)
  if (typeof input !== "object") return short(patched(text) ?? text, projectPath)
  for (const key of [...TELLING, ...Object.keys(input).slice(0, 20)]) {
    const words = wordsOf(input[key])
    if (words !== "") return short(words, projectPath)
  }
  return ""
}

function inputOf(text: string): Record<string, unknown> | undefined {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    if (text.length <= MOST_PARSED) return JSON.parse(text) as Record<string, unknown>
  } catch {
    // Truncated or no JSON: search its beginning.
  }
  const found = text.slice(0, 4_000).matchAll(/"(\w{1,40})"\s*:\s*"((?:[^"\\]|\\.){0,400})/g)
  return Object.fromEntries(
    found.map(([, key, value]) => [key!, value!.replaceAll("\\n", "\n").replace(/\\(.)/g, "$1")]),
  )
}

/** A list is a program with arguments; show the script of a shell, not the shell. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value.trim()
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return ""
  const script = /(?:^|\/)(?:ba|z|da)?sh$/.test(value[0] ?? "") && /^-\w*c$/.test(value[1] ?? "") ? value[2] : undefined
  return (script ?? value.join(" ")).trim()
}

/** Codex edits files with a patch that names them. */
const patched = (text: string) => /^\*\*\* (?:Add|Update|Delete) File: (.+)$/m.exec(text.slice(0, 4_000))?.[1]

function short(words: string, projectPath: string | null): string {
  const root = projectPath && `${projectPath.replace(/[/\\]+$/, "")}/`
  const near = words.slice(0, 4_000)
  return firstLine(root ? near.replaceAll(root, "") : near, MOST_CHARS)
}
