import { SEED_WORDS } from "./seed-words.ts"

/** Checks that a matched value looks like a secret. */
export type LookName = keyof typeof LOOKS

type Check = (value: string, quoted: boolean, entropy: number) => boolean

export const LOOKS = {
  /** `postgres:postgres@` and `user:password@` in a URL hide nothing. */
  password: (value: string) => value.length >= 5 && !isPlaceholder(value),
  strong: (value: string, quoted: boolean) =>
    !isPlaceholder(value) && (isRandom(value, quoted) || isMadeUp(value) || isPassphrase(value)),
  random: isRandom,
  mixed: (value: string) => !isDummy(value) && isMixed(value) && entropyOf(value) >= 2.8,
  provider: (value: string, _: boolean, entropy: number) =>
    !WORDS_FOR_NOTHING.test(value) && isMixed(value) && entropyOf(value) >= Math.max(2.6, entropy),
  userAndPassword: (value: string) => /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(fromBase64(value)),
  keyLines: (value: string) => /[A-Za-z0-9+/=]{30}/.test(value),
  /** After an unambiguous name: anything but a placeholder or a single word. */
  anyPassword: (value: string) =>
    value.length >= 6 && !isPlaceholder(value) && !/^(?:[A-Z]?[a-z_.]+|[A-Z_]+|[a-z]+\(.*|\d+)$/.test(value),
  passphrase: isPassphrase,
  cookie: (value: string) =>
    entropyOf(value) >= 2.8 && isMixed(value) && !WORDS_FOR_NOTHING.test(value) && value.length >= 12,
  /** Entries of a Kubernetes Secret: at least one decodes to text or is as long as a key. */
  encodedEntries: (value: string) =>
    [...value.matchAll(/:\s?\\{0,3}["']?([A-Za-z0-9+/]{4,}={0,2})/g)].some(
      ([, encoded]) => /^[\s\x20-\x7e]{3,}$/.test(fromBase64(encoded!)) || encoded!.length >= 32,
    ),
  /** SASL PLAIN: identity, user and password, separated by zero bytes. */
  plainLogin: (value: string) => /^[^\0]*\0[^\0]+\0[^\0]+$/.test(fromBase64(value)),
  /** A mix of letters, digits and signs that no sentence has. */
  strange: (value: string) => !WORDS_FOR_NOTHING.test(value) && entropyOf(value) >= 4.5 && /\d/.test(value),
  card: isCardNumber,
  seed: (value: string) => {
    const words = value.toLowerCase().split(/[^a-z]+/)
    return words.filter((word) => SEED_WORDS.has(word)).length >= words.length * 0.75
  },
} satisfies Record<string, Check>

/** Prefix and length of a card network, with a valid check digit. */
function isCardNumber(value: string): boolean {
  const digits = value.replace(/\D/g, "")
  if (
    !/^(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14,17})$/.test(
      digits,
    )
  )
    return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0 && new Set(digits).size > 1
}

export const fromBase64 = (base64: string) => Buffer.from(base64, "base64").toString("latin1")

const WORDS_FOR_NOTHING = /example|your[-_ ]|placeholder|change[-_]?me|redacted|x{5,}|\*{3}|\.{3}|…/i
const COUNTING = /12345678|abcdefgh/i
const PLACEHOLDERS = [
  WORDS_FOR_NOTHING,
  /(.)\1{6,}/i,
  /^(?:[<{[]|\$[{(A-Za-z_]|%\(|%\w+%$|#\{|process\.|os\.|env\.)/,
  // Single case only: people really use "S3cr3tPass" and "MyPassword1".
  /^[a-z_-]{0,8}(?:pass(?:word|wd)?|pwd|secret|token)\d{0,3}$|^[A-Z_-]{0,8}(?:PASS(?:WORD|WD)?|PWD|SECRET|TOKEN)\d{0,3}$/,
  /^(?:password|secret|token|user|postgres|root|admin|test|guest|mysql|redis|mongo|none|null|undefined)$/i,
]

export function isPlaceholder(value: string): boolean {
  return COUNTING.test(value) || isDummy(value)
}

/** For a provider's exact format, where even a counting token may be real. */
export function isDummy(value: string): boolean {
  return PLACEHOLDERS.some((placeholder) => placeholder.test(value))
}

/** Letters and digits, as nearly every generated token has. */
function isMixed(value: string): boolean {
  if (!/[A-Za-z]/.test(value)) return false
  if (/\d/.test(value) || isRandom(value, true)) return true
  // Without a digit, the case must change far more often than in names.
  return (value.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0) >= value.length * 0.28
}

/** Shannon entropy in bits per character. */
export function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/** A person's password: three of four character classes, and neither a name nor code. */
function isMadeUp(value: string): boolean {
  if (value.length < 8 || /^[\w$.]*(?:password|passwd|token|secret|auth|credential)[\w$.]*$/i.test(value)) return false
  if (/:\/\/|^[\w$.*:()[\]{}]*(?:[a-z][.:][A-Za-z]|[()[\]{}])[\w$.*:()[\]{}]*$/.test(value)) return false
  return [/[a-z]/, /[A-Z]/, /\d/, /[^\w.:/-]/].filter((sort) => sort.test(value)).length >= 3
}

const COMMON =
  /^(?:the|a|an|of|to|is|are|and|or|for|in|on|with|from|by|as|at|be|it|this|that|not|no|your|you|must|may|can|will|if|when|than|into|its|use|set|pass|passphrase|password|secret|token|key|keys|file|path|name|value|field|input|string|env|var|config|confirm|required|optional|default|new|old|enter|reset|forgot|change|hash|policy|text|type|min|max|length|user|users|login|auth|api|app|id)$/i

/** Four to twelve words in a row, as a generator of passphrases gives them: no sentence, and no name of something. */
export function isPassphrase(value: string): boolean {
  const [, separator] = /^[A-Za-z]{3,12}([ ._-])/.exec(value) ?? []
  if (separator === undefined) return false
  const words = value.split(separator)
  if (words.length < 4 || words.length > 12) return false
  return words.every((word) => /^[A-Za-z]{3,12}\d{0,3}$/.test(word) && !COMMON.test(word))
}

/** Generated, rather than a word, name, path, version or expression. */
export function isRandom(value: string, quoted: boolean): boolean {
  if (value.length < 12 || isPlaceholder(value)) return false
  if (/^[0-9a-f]+$/i.test(value)) return value.length >= 20 && /\d/.test(value) && /[a-f]/i.test(value)
  let [changes, pairs, common] = [0, 0, 0]
  for (let i = 1; i < value.length; i++) {
    const [before, sort] = [sortOf(value, i - 1), sortOf(value, i)]
    if (sort === OTHER || before === OTHER) continue
    if (sort !== before) changes++
    if (sort !== LOWER || before === DIGIT) continue
    pairs++
    if (NEXT_LETTERS[(value.charCodeAt(i - 1) | 32) - 97]!.includes(value[i]!)) common++
  }
  const [rate, wordiness] = [changes / value.length, common / Math.max(1, pairs)]
  const isMember = !quoted && /^\w+(?:\.\w+)+$/.test(value)
  if (!/\d/.test(value)) return value.length >= 16 && changes >= 3 && wordiness < (isMember ? 0.35 : 0.6)
  // Unquoted names in code may look random; quoted values are literal.
  if (rate >= (quoted ? 0.33 : 0.5)) return true
  const digitRuns = value.match(/\d+/g)!.length
  return rate >= 0.4 ? wordiness < 0.8 : changes >= 3 && wordiness < (digitRuns > 1 ? 0.67 : 0.5)
}

/** For each letter, the letters that often follow it: 87 % of pairs in names and prose, 27 % in random text. */
const NEXT_LETTERS =
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
