import type { AgentConsole, ConsoleScreen } from "../../domain/agent-console.ts"
import type { PaneLook } from "../../domain/panes.ts"

/** The largest paste that the agents accept as one prompt. */
export const MAX_PASTE_BYTES = 200_000

/**
 * Text that is safe in a terminal: no control characters except line feed and tab, so that nothing ends the paste or acts as a
 * key; no lone surrogates; nothing invisible or reordering. Joiners of emoji and letters stay.
 */
function sanitised(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(UNWANTED, (sign) => (JOINERS.includes(sign) ? sign : ""))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
const UNWANTED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}/gu
const JOINERS = "\u200c\u200d\ufe0e\ufe0f"

/** Why the text cannot be pasted, or undefined. */
function unfit(text: string): string | undefined {
  if (text.trim() === "") return "it has no printable text"
  const bytes = Buffer.byteLength(text)
  return bytes > MAX_PASTE_BYTES
    ? `it has ${bytes} bytes, and ${MAX_PASTE_BYTES} can be pasted: write it to a file and name that`
    : undefined
}

type Prepared = ReturnType<AgentConsole["prepare"]>

/** The text as words for an agent whose special inputs are `SPECIAL`, or as a command that does not match `endsSession`. */
export function prepared(wanted: string, isCommand: boolean, endsSession: RegExp): Prepared {
  const text = sanitised(wanted)
  const why = unfit(text)
  if (why !== undefined) return { refused: why }
  if (!isCommand) return { text: SPECIAL.test(text) ? `Message: ${text.trimStart()}` : text }
  const command = text.trim()
  if (!/^\/[a-z]/i.test(command) || command.includes("\n"))
    return { refused: "a command is one line that starts with /" }
  return endsSession.test(command)
    ? { refused: "it would end the session: `throughline down` does that" }
    : { text: command }
}

/**
 * A shell command, a slash command, or a word that ends the session, also as typed on Japanese keyboards; not a path. A
 * leading blank does not prevent any of them in every version.
 */
const SPECIAL = /^\s*(?:[!！]|[/／][^\s/]*(?:\s|$)|(?:exit|quit|:q!?|:wq!?)\s*$)/

/** Input lines wrap and indent, and terminals drop characters: compare letters, digits and ASCII only. */
const inkOf = (text: string) => (text.normalize("NFD").match(/[!-~]|[\p{L}\p{N}]/gu) ?? []).filter(isShort).join("")
const isShort = (sign: string) => sign.length === 1

/** Whether an input line shows this text, or its end if it is too long for the screen. */
export function showsText(draft: string, text: string): boolean {
  const [shown, whole] = [inkOf(draft), inkOf(text)]
  return shown === whole || (shown.length >= ENOUGH && whole.endsWith(shown))
}

const ENOUGH = 200

/**
 * The draft at the cursor, if that is in an agent's input line: a prompt sign in the first column, further lines indented
 * below it, and rules above and below if the agent draws them. Undefined elsewhere.
 */
export function inputLine(
  { lines, bright, cursor }: Pick<PaneLook, "lines" | "bright" | "cursor">,
  { prompt, rule }: { prompt: RegExp; rule?: RegExp },
): string | undefined {
  let first = cursor.row
  while (first > 0 && isIndented(lines[first])) first--
  if (!prompt.test(lines[first] ?? "")) return undefined
  let last = cursor.row
  if (rule) {
    while (last + 1 < lines.length && isIndented(lines[last + 1])) last++
    if (!rule.test(lines[first - 1] ?? "") || !rule.test(lines[last + 1] ?? "")) return undefined
  }
  const typed = bright.slice(first, last + 1).map((line) => line.slice(INDENT))
  return typed.join("\n").trim()
}

/** A screen without an input line: a question that Enter would answer, or unknown. */
export function dialogIn(lines: readonly string[], sign: RegExp): ConsoleScreen {
  const at = lines.findIndex((line) => sign.test(line))
  if (at < 0) return { kind: "unknown" }
  // Text after the question mark explains the question.
  const asked = lines.slice(0, at + 1).findLast((line) => /\?(\s|$)/.test(line))
  return { kind: "dialog", what: (/^.*\?(?=\s|$)/.exec(asked ?? "")?.[0] ?? lines[at]!).trim() }
}

const INDENT = 2
const isIndented = (line: string | undefined) =>
  line !== undefined && (line === "" || line.startsWith(" ".repeat(INDENT)))
