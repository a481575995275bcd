import { Failure } from "../domain/failure.ts"
import { CONTEXT_RULES, type Look, type Rule, TOKEN_RULES } from "./redaction-rules.ts"

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
  const once = (text: string) => extras.reduce((clean, replace) => replace(clean), contexts(tokens(text)))
  return (text) => {
    let clean = once(text)
    if (clean === text) return text
    // What was taken out may have hidden another one's edge: only what changes nothing more may be called clean.
    for (let before = text, round = 0; clean !== before && round < 8; round++) [before, clean] = [clean, once(clean)]
    return clean
  }
}

export const REDACTION_KINDS: readonly string[] = [
  ...new Set([...TOKEN_RULES, ...CONTEXT_RULES].map(({ kind }) => kind)),
].toSorted()

interface Finder {
  anchor: string
  find(text: string, at: number, done: number): Hit | undefined
}

interface Hit {
  kind: string
  start: number
  end: number
}

interface Finders {
  anchors: readonly string[]
  find(text: string, at: number, done: number): Hit | undefined
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
        const hit = find(text, i - 2, done)
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
  return {
    anchors,
    find(text, at, done) {
      const start = at - back
      return start >= done && (start === done || startsFresh(text, start)) ? match(rule, text, start) : undefined
    },
  }
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

const fromBase64 = (base64: string) => Buffer.from(base64, "base64").toString("latin1")

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
  // What is longer is judged by its beginning, and is no placeholder.
  const beginning = secret.slice(0, 400)
  if (rule.looks === undefined) return beginning !== secret || !isPlaceholder(secret)
  // A function of that name.
  if (after === "(") return false
  return LOOKS[rule.looks](beginning, /["'`]/.test(before))
}

const ESCAPE = String.raw`\\[nrtbfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}`
const COLOUR = String.raw`(?:\x1b|\\u001b|\\x1b|\\e|\\033)\[[\d;]{0,12}m`
const ESCAPE_BEFORE = new RegExp(`(?:${ESCAPE}|${COLOUR})$`)

/** Not in the middle of a word; but an escape such as `\n` or `%3D` or a colour before it is no word. */
function startsFresh(text: string, at: number): boolean {
  return at === 0 || !/[A-Za-z0-9]/.test(text[at - 1]!) || ESCAPE_BEFORE.test(text.slice(Math.max(0, at - 20), at))
}

const LOOKS: Record<Look, (value: string, quoted: boolean) => boolean> = {
  /** `postgres:postgres@` and `user:password@` in an address hide nothing. */
  password: (value) => value.length >= 5 && !isPlaceholder(value),
  strong: (value, quoted) => !isPlaceholder(value) && (isRandom(value, quoted) || isMadeUp(value)),
  random: isRandom,
  userAndPassword: (value) => /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(fromBase64(value)),
  keyLines: (value) => /[A-Za-z0-9+/=]{30}/.test(value),
}

const PLACEHOLDERS = [
  /example|your[-_ ]|placeholder|change[-_]?me|redacted|x{5,}|\*{3}|\.{3}|…|(.)\1{6,}|12345678|abcdefgh/i,
  /^(?:[<{[]|\$[{(A-Za-z_]|%\(|%\w+%$|#\{|process\.|os\.|env\.)/,
  /^\w{0,8}(?:pass(?:word|wd)?|pwd|secret|token)\d{0,3}$|^(?:user|postgres|root|admin|test|guest|mysql|redis|mongo|none|null|undefined)$/i,
]

function isPlaceholder(value: string): boolean {
  return PLACEHOLDERS.some((placeholder) => placeholder.test(value))
}

/** A password of a person: three of the four sorts of characters, and neither a name nor an expression of code. */
function isMadeUp(value: string): boolean {
  if (value.length < 8 || /^[\w$.]*(?:password|passwd|token|secret|auth|credential)[\w$.]*$/i.test(value)) return false
  if (/:\/\/|^[\w$.*:()[\]{}]*(?:[a-z][.:][A-Za-z]|[()[\]{}])[\w$.*:()[\]{}]*$/.test(value)) return false
  return [/[a-z]/, /[A-Z]/, /\d/, /[^\w.:/-]/].filter((sort) => sort.test(value)).length >= 3
}

/** Drawn by a machine, rather than a word, a name, a path, a version or an expression. */
function isRandom(value: string, quoted: boolean): boolean {
  if (value.length < 12 || isPlaceholder(value)) return false
  if (/^[0-9a-f]+$/i.test(value)) return value.length >= 20 && /\d/.test(value) && /[a-f]/i.test(value)
  let [changes, pairs, common] = [0, 0, 0]
  for (let i = 1; i < value.length; i++) {
    const [before, sort] = [sortOf(value, i - 1), sortOf(value, i)]
    if (sort === OTHER || before === OTHER) continue
    if (sort !== before) changes++
    if (sort !== LOWER || before === DIGIT) continue
    pairs++
    if (FOLLOWERS[(value.charCodeAt(i - 1) | 32) - 97]!.includes(value[i]!)) common++
  }
  const [rate, wordiness] = [changes / value.length, common / Math.max(1, pairs)]
  const isMember = !quoted && /^\w+(?:\.\w+)+$/.test(value)
  if (!/\d/.test(value)) return value.length >= 16 && changes >= 3 && wordiness < (isMember ? 0.35 : 0.6)
  // In code a name without quotation marks may well look strange; what stands between them is meant as it is.
  if (rate >= (quoted ? 0.33 : 0.5)) return true
  const digitRuns = value.match(/\d+/g)!.length
  return rate >= 0.4 ? wordiness < 0.8 : changes >= 3 && wordiness < (digitRuns > 1 ? 0.67 : 0.5)
}

/** For each letter, those that often follow it in words: 87 of 100 pairs in names and prose, 27 in random letters. */
const FOLLOWERS =
  "bcdgilmnprstuvy aelou aehiklortu aeios acdefglmnprstvx aefioru ehir aeio acdefglmnorstvz . ei adeilostuy aeiop acdegiost bcdilmnoprstuvw aeiloprt u acdeimnorstuy acehiopstu aehiorstuy celmnprst aei aeio . . e".split(
    " ",
  )
const [OTHER, DIGIT, UPPER, LOWER] = [0, 1, 2, 3]

function sortOf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 97) return code <= 122 ? LOWER : OTHER
  if (code >= 65) return code <= 90 ? UPPER : OTHER
  return code >= 48 && code <= 57 ? DIGIT : OTHER
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
