import { IRREGULAR } from "./irregular.ts"

const LONGEST = 21

/** The Porter2 stem of a lower-case English word; other words stay as they are. */
export function stem(word: string): string {
  if (word.length < 3 || word.length > LONGEST || !/^[a-z]+$/.test(word)) return word
  const base = IRREGULAR.get(word) ?? word
  return EXCEPTIONS.get(base) ?? porter(base)
}

const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ skis: "ski", skies: "sky", dying: "die", lying: "lie", tying: "tie", idly: "idl" }),
  ...Object.entries({ gently: "gentl", ugly: "ugli", early: "earli", only: "onli", singly: "singl" }),
  ..."sky news howe atlas cosmos bias andes".split(" ").map((word) => [word, word] as const),
])

/** Forms that may not start like their stem. */
export const ODD_FORMS: readonly string[] = [...IRREGULAR.keys(), ...EXCEPTIONS.keys()]

const DONE_AFTER_PLURAL = new Set("inning outing canning herring earring evening proceed exceed succeed".split(" "))

const STEP_2: Suffix[] = suffixes(
  "ational:ate fulness:ful iveness:ive ization:ize ousness:ous biliti:ble lessli:less tional:tion alism:al aliti:al " +
    "ation:ate entli:ent fulli:ful iviti:ive ousli:ous ogist:og abli:able alli:al anci:ance ator:ate enci:ence izer:ize bli:ble ogi:og li:",
)
const STEP_3: Suffix[] = suffixes("ational:ate tional:tion alize:al icate:ic iciti:ic ative: ical:ic ness: ful:")
const STEP_4: Suffix[] = suffixes(
  "ement: ance: ence: able: ible: ment: ant: ent: ism: ate: iti: ous: ive: ize: ion: al: er: ic:",
)

const VOWEL = /[aeiouy]/
const SHORT_END = /(?:^[aeiouy][^aeiouy]|[^aeiouy][aeiouy][^aeiouywxY]|^past)$/
const FIXED_R1 = /^(?:gener|commun|arsen|past|univers|later|emerg|organ|inter)/

type Suffix = readonly [ending: string, by: string]

function suffixes(text: string): Suffix[] {
  return text.split(" ").map((pair) => pair.split(":") as [string, string])
}

/** Y marks a consonant y. */
function porter(plain: string): string {
  const marked = plain.replace(/^y|(?<=[aeiouy])y/g, "Y")
  const r1 = FIXED_R1.exec(marked)?.[0].length ?? regionAfter(marked, 0)
  const r2 = regionAfter(marked, r1)
  let word = withoutPlural(marked)
  if (DONE_AFTER_PLURAL.has(word)) return word
  word = withoutPast(word, r1)
  if (/[^aeiouy][yY]$/.test(word) && word.length > 2) word = `${word.slice(0, -1)}i`
  word = step2(word, r1)
  word = step3(word, r1, r2)
  word = step4(word, r2)
  return step5(word, r1, r2).replaceAll("Y", "y")
}

function regionAfter(word: string, from: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(from))
  return found ? from + found.index + 2 : word.length
}

function withoutPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2)
  if (/ie[ds]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1)
  if (/(?:us|ss)$/.test(word) || !word.endsWith("s")) return word
  return VOWEL.test(word.slice(0, -2)) ? word.slice(0, -1) : word
}

function withoutPast(word: string, r1: number): string {
  const ending = /(?:eedly|eed|ingly|edly|ing|ed)$/.exec(word)?.[0]
  if (ending === undefined) return word
  const at = word.length - ending.length
  if (ending.startsWith("eed")) return at >= r1 ? word.slice(0, at + 2) : word
  const rest = word.slice(0, at)
  if (!VOWEL.test(rest)) return word
  if (ending === "ing" && /^[^aeiouy]y$/.test(rest)) return `${rest[0]}ie`
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) return /^[aeo]..$/.test(rest) ? rest : rest.slice(0, -1)
  return rest.length <= r1 && SHORT_END.test(rest) ? `${rest}e` : rest
}

/** The longest matching ending decides; `may` says whether it is replaced. */
function replaced(word: string, endings: readonly Suffix[], may: (ending: string, at: number) => boolean): string {
  const found = endings.find(([ending]) => word.endsWith(ending))
  if (!found) return word
  const at = word.length - found[0].length
  return may(found[0], at) ? word.slice(0, at) + found[1] : word
}

function step2(word: string, r1: number): string {
  return replaced(word, STEP_2, (ending, at) => {
    if (at < r1) return false
    if (ending === "li") return /[cdeghkmnrt]/.test(word[at - 1] ?? "")
    return ending !== "ogi" || word[at - 1] === "l"
  })
}

function step3(word: string, r1: number, r2: number): string {
  return replaced(word, STEP_3, (ending, at) => at >= (ending === "ative" ? r2 : r1))
}

function step4(word: string, r2: number): string {
  return replaced(word, STEP_4, (ending, at) => at >= r2 && (ending !== "ion" || /[st]/.test(word[at - 1] ?? "")))
}

function step5(word: string, r1: number, r2: number): string {
  const at = word.length - 1
  const rest = word.slice(0, -1)
  if (word.endsWith("e")) return at >= r2 || (at >= r1 && !SHORT_END.test(rest)) ? rest : word
  return word.endsWith("ll") && at >= r2 ? rest : word
}
