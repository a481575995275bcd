import { Failure } from "../domain/failure.ts"
import { CONTEXT_RULES, isPlaceholder, type Rule, TOKEN_RULES } from "./redaction-rules.ts"

export interface RedactionOptions {
  /** Further secrets, as regular expressions. */
  extra?: { kind: string; pattern: string }[]
  /** Kinds that are left alone. */
  off?: string[]
}

/** Makes the one function through which every text goes before it is stored, indexed, logged or sent. */
export function makeRedactor({ extra = [], off = [] }: RedactionOptions = {}): (text: string) => string {
  for (const kind of off) {
    if (!REDACTION_KINDS.includes(kind))
      throw new Failure("config_invalid", `redaction: there is no kind "${kind}" to turn off`, { kind })
  }
  const on = (rules: readonly Rule[]) => rules.filter(({ kind }) => !off.includes(kind))
  const tokens = makeScan([...on(TOKEN_RULES).map(plain), ...on(TOKEN_RULES).flatMap(wrapped)], false)
  const contexts = makeScan(on(CONTEXT_RULES).map(inContext), true)
  const extras = extra.map(compileExtra)
  return (text) => {
    let clean = contexts(tokens(text))
    for (const replace of extras) clean = replace(clean)
    return clean
  }
}

export const REDACTION_KINDS: readonly string[] = [
  ...new Set([...TOKEN_RULES, ...CONTEXT_RULES].map(({ kind }) => kind)),
].toSorted()

interface Finder {
  anchor: string
  find(text: string, at: number): Hit | undefined
}

interface Hit {
  kind: string
  start: number
  end: number
}

interface Finders {
  anchors: readonly string[]
  find(text: string, at: number): Hit | undefined
}

/**
 * One loop over the text: a table of three-letter hashes says where an anchor may be, and only there is anything tried.
 * What is tried is bounded or consumes what it read, so the time is linear whatever the text.
 */
function makeScan(all: Finders[], anyCase: boolean): (text: string) => string {
  const slots = new Uint16Array(1 << 15)
  const buckets: Finder[][] = [[]]
  for (const { anchors, find } of all) {
    for (const anchor of anchors) {
      const hash = [0, 1, 2].reduce((hash, i) => mix(hash, anchor.charCodeAt(i)), 0)
      if (slots[hash] === 0) slots[hash] = buckets.push([]) - 1
      buckets[slots[hash]!]!.push({ anchor, find })
    }
  }
  const startsWith = anyCase
    ? startsWithAnyCase
    : (text: string, anchor: string, at: number) => text.startsWith(anchor, at)
  return (text) => {
    let clean = ""
    let done = 0
    let hash = 0
    for (let i = 0; i < text.length; i++) {
      hash = mix(hash, text.charCodeAt(i))
      const slot = slots[hash]!
      if (slot === 0 || i - 2 < done) continue
      for (const { anchor, find } of buckets[slot]!) {
        if (!startsWith(text, anchor, i - 2)) continue
        const hit = find(text, i - 2)
        if (hit === undefined || hit.start < done) continue
        clean += `${text.slice(done, hit.start)}[redacted:${hit.kind}]`
        done = hit.end
        i = hit.end - 1
        break
      }
    }
    return done === 0 ? text : clean + text.slice(done)
  }
}

function mix(hash: number, code: number): number {
  return ((hash << 5) ^ (code & 31)) & 0x7fff
}

/** `anchor` is in lower case. */
function startsWithAnyCase(text: string, anchor: string, at: number): boolean {
  for (let i = 0; i < anchor.length; i++) {
    const [code, wanted] = [text.charCodeAt(at + i), anchor.charCodeAt(i)]
    if (code !== wanted && !(wanted >= 97 && wanted <= 122 && code === wanted - 32)) return false
  }
  return true
}

function plain(rule: Rule): Finders {
  const { anchors, back = 0 } = rule
  const fits = (text: string, at: number) => at >= 0 && startsFresh(text, at)
  return { anchors, find: (text, at) => (fits(text, at - back) ? match(rule, text, at - back) : undefined) }
}

function inContext(rule: Rule): Finders {
  return { anchors: rule.anchors, find: (text, at) => match(rule, text, at) }
}

/** A whole secret in base64 begins with its prefix in base64, so it is found by that, and decoded to be sure. */
function wrapped(rule: Rule): Finders[] {
  if (rule.back !== undefined) return []
  const anchors = rule.anchors.map((anchor) => btoa(anchor).slice(0, Math.floor((anchor.length * 4) / 3)))
  const run = /[A-Za-z0-9+/]{20,22000}={0,2}/y
  return [
    {
      anchors,
      find(text, at) {
        if (/[A-Za-z0-9+/=]/.test(text[at - 1] ?? "") && !startsFresh(text, at)) return undefined
        run.lastIndex = at
        const [base64] = run.exec(text) ?? []
        if (base64 === undefined || match(rule, atob64(base64), 0) === undefined) return undefined
        return { kind: rule.kind, start: at, end: at + base64.length }
      },
    },
  ]
}

const atob64 = (base64: string) => Buffer.from(base64, "base64").toString("latin1")

function match(rule: Rule, text: string, at: number): Hit | undefined {
  rule.pattern.lastIndex = at
  const found = rule.pattern.exec(text)
  if (found === null) return undefined
  const secret = found.findLast((group) => group !== undefined)!
  if (rule.holds ? !rule.holds(secret) : isPlaceholder(secret)) return undefined
  const end = at + found[0].length
  return { kind: rule.kind, start: end - secret.length, end }
}

const ESCAPE = String.raw`\\[nrtbfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}`
const COLOUR = String.raw`(?:\x1b|\\u001b|\\x1b|\\e|\\033)\[[\d;]{0,12}m`
const ESCAPE_BEFORE = new RegExp(`(?:${ESCAPE}|${COLOUR})$`)

/** Not in the middle of a word; but an escape such as `\n` or `%3D` or a colour before it is no word. */
function startsFresh(text: string, at: number): boolean {
  return at === 0 || !/[A-Za-z0-9]/.test(text[at - 1]!) || ESCAPE_BEFORE.test(text.slice(Math.max(0, at - 20), at))
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
    // What is redacted already is stepped over, so that doing it twice changes nothing.
    expression = new RegExp(`\\[redacted:[\\w-]+\\]|(?:${pattern})`, "g")
  } catch (error) {
    throw invalid(`is no regular expression: ${(error as Error).message}`, error)
  }
  if (new RegExp(`^(?:${pattern})$`).test("")) throw invalid("matches nothing at all, that is, everywhere")
  return (text) =>
    text.replace(expression, (found) => (/^\[redacted:[\w-]+\]$/.test(found) ? found : `[redacted:${kind}]`))
}
