import { Failure } from "../../domain/failure.ts"
import { withoutBare } from "./bare.ts"
import { fromBase64, isDummy, LOOKS } from "./looks.ts"
import { CONTEXT_RULES, type Rule, TOKEN_RULES } from "./rules.ts"
import { codesOf, type Finders, type Hit, makeScan } from "./scan.ts"

export interface RedactionOptions {
  /** Additional secrets as regular expressions. */
  extra?: { kind: string; pattern: string }[]
  /** Kinds that are not redacted. */
  off?: string[]
}

/** Makes the function through which every text goes before it is stored, indexed, logged or sent. */
export function makeRedactor({ extra = [], off = [] }: RedactionOptions = {}): (text: string) => string {
  for (const kind of off) {
    if (!REDACTION_KINDS.includes(kind))
      throw new Failure("config_invalid", `redaction: there is no kind "${kind}" to turn off`, { kind })
  }
  const on = (rules: readonly Rule[]) => rules.filter(({ kind }) => !off.includes(kind))
  const tokenFinders = [...on(TOKEN_RULES).map(plain), ...on(TOKEN_RULES).flatMap(wrapped)]
  const contextFinders = on(CONTEXT_RULES).map(inContext)
  // Most texts have no secret: a single scan for all anchors detects that; the others are built at the first hit.
  const both = makeScan([...tokenFinders, ...contextFinders])
  let separate: Record<"tokens" | "contexts", typeof both> | undefined
  const bare = off.includes("bare-key") ? (text: string) => text : withoutBare
  const extras = extra.map(compileExtra)
  const rest = (text: string, codes: Uint16Array) =>
    extras.reduce((clean, replace) => replace(clean), bare(text, codes))
  const full = (text: string) => {
    separate ??= { tokens: makeScan(tokenFinders), contexts: makeScan(contextFinders) }
    const { tokens, contexts } = separate
    const token = tokens(text, codesOf(text))
    const context = contexts(token, codesOf(token))
    return rest(context, codesOf(context))
  }
  return (text) => {
    const codes = codesOf(text)
    let clean = both(text, codes) === text ? rest(text, codes) : full(text)
    if (clean === text) return text
    // A redaction may uncover the edge of another secret: repeat until nothing changes.
    for (let before = text, round = 0; clean !== before && round < 8; round++) [before, clean] = [clean, full(clean)]
    return clean
  }
}

export const REDACTION_KINDS: readonly string[] = [
  ...new Set([...TOKEN_RULES.map(({ kind }) => kind), ...CONTEXT_RULES.map(({ kind }) => kind), "bare-key"]),
].toSorted()

function plain(rule: Rule): Finders {
  const { anchors, back = 0 } = rule
  return {
    anchors,
    anyCase: false,
    find(text, at, done) {
      const start = at - back
      return start >= done && (start === done || startsFresh(text, start)) ? match(rule, text, start) : undefined
    },
  }
}

function inContext(rule: Rule): Finders {
  return { anchors: rule.anchors, anyCase: true, find: (text, at) => match(rule, text, at) }
}

/** A base64-encoded secret starts with its encoded prefix; the match is decoded to verify it. */
function wrapped(rule: Rule): Finders[] {
  if (rule.back !== undefined) return []
  const anchors = rule.anchors.map((anchor) => btoa(anchor).slice(0, Math.floor((anchor.length * 4) / 3)))
  const run = /[A-Za-z0-9+/]{20,22000}={0,2}/y
  return [
    {
      anchors,
      anyCase: false,
      find(text, at, done) {
        if (at > done && (/[+/]/.test(text[at - 1]!) || !startsFresh(text, at))) return undefined
        run.lastIndex = at
        const [base64] = run.exec(text) ?? []
        if (base64 === undefined || match(rule, fromBase64(base64), 0) === undefined) return undefined
        return { kind: rule.kind, start: at, end: at + base64.length }
      },
    },
  ]
}

function match(rule: Rule, text: string, at: number): Hit | undefined {
  rule.pattern.lastIndex = at
  const found = rule.pattern.exec(text)
  if (found === null) return undefined
  const secret = found.findLast((group) => group !== undefined)!
  const end = at + found[0].length
  const start = end - secret.length
  return looksRight(rule, secret, text[start - 1], text[end]) ? { kind: rule.kind, start, end } : undefined
}

function looksRight(rule: Rule, secret: string, before = "", after = ""): boolean {
  // A longer secret is judged by its beginning, and is never a placeholder.
  const beginning = secret.slice(0, 400)
  if (rule.looks === undefined) return beginning !== secret || !isDummy(secret)
  // A function call.
  if (after === "(") return false
  return LOOKS[rule.looks](beginning, /["'`]/.test(before), rule.entropy ?? 0)
}

const ESCAPE = String.raw`\\[nrtbfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}`
/** Also without the escape character, which terminals strip. */
const COLOUR = String.raw`(?:\x1b|\\u001b|\\x1b|\\e|\\033)\[[\d;]{0,12}m|\[\d[\d;]{0,11}m`
const ESCAPE_BEFORE = new RegExp(`(?:${ESCAPE}|${COLOUR})$`)

const isWordCharacter = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90)

/** Not inside a word. Preceding escapes such as `\n` or `%3D` and colour codes are no word. */
function startsFresh(text: string, at: number): boolean {
  if (!isWordCharacter(text.charCodeAt(at - 1))) return true
  return /[\\%m]/.test(text.slice(Math.max(0, at - 6), at)) && ESCAPE_BEFORE.test(text.slice(Math.max(0, at - 20), at))
}

function compileExtra({ kind, pattern }: { kind: string; pattern: string }): (text: string) => string {
  const invalid = (why: string, cause?: unknown) =>
    new Failure(
      "config_invalid",
      `redaction: the pattern "${pattern}" of "${kind}" ${why}`,
      { kind, pattern },
      { cause },
    )
  if (!/^[A-Za-z0-9][\w-]{0,40}$/.test(kind)) throw invalid("needs a kind of letters, digits and hyphens")
  let expression: RegExp
  try {
    new RegExp(pattern)
    // Skips existing redactions, to be idempotent.
    expression = new RegExp(`\\[redacted:[\\w-]+\\]|(?:${pattern})`, "g")
  } catch (error) {
    throw invalid(`is no regular expression: ${(error as Error).message}`, error)
  }
  if (new RegExp(`^(?:${pattern})$`).test("")) throw invalid("matches nothing at all, that is, everywhere")
  return (text) =>
    text.replace(expression, (found) => (/^\[redacted:[\w-]+\]$/.test(found) ? found : `[redacted:${kind}]`))
}
