import { ADJECTIVES, ADVERBS, NOUNS, TOPICS, type Topic, VERBS } from "./lexicon.ts"
import { makeRandom, type Random } from "./random.ts"
import { ERRORS } from "./sentences.ts"

/** The words that one session is about: its project's, its topic's and its own. */
export interface Speaker {
  /** Chooses what the next exchange is about. */
  refocus(): void
  /** A sentence with every place filled. */
  say(template: Template): string
  file(): string
}

/** A sentence cut at its places. */
export interface Template {
  literals: string[]
  slots: string[]
}

export function template(text: string): Template {
  const parts = text.split(/\{([A-Z]{1,2})\}/)
  return { literals: parts.filter((_, i) => i % 2 === 0), slots: parts.filter((_, i) => i % 2 === 1) }
}

export interface Project {
  root: string
  modules: string[]
  rare: string[]
  identifiers: string[]
  files: string[]
}

export const PROJECTS = 60
const SEED = 20_260_801

export function projectOf(index: number): Project {
  const made = madeProjects.get(index)
  if (made) return made
  const random = makeRandom(SEED + index * 7919)
  const modules = many(20, () => invented(random))
  const project: Project = {
    root: `/home/dev/${invented(random)}-${modules[0]}`,
    modules,
    rare: many(300, () => rareWord(random)),
    identifiers: many(200, () => identifier(random, random.pick(TOPICS))),
    files: many(150, () => filePath(random, modules, random.pick(TOPICS))),
  }
  madeProjects.set(index, project)
  return project
}
const madeProjects = new Map<number, Project>()

export function makeSpeaker(random: Random, project: Project, topic: Topic, line: () => string): Speaker {
  const names = many(12, () => identifier(random, topic))
  const files = many(8, () => filePath(random, project.modules, topic))
  let about = { rare: [""], names: [""], files: [""], nouns: [""] }
  const speaker: Speaker = {
    refocus() {
      about = {
        rare: many(4, () => (random.chance(0.5) ? random.pick(project.rare) : rareWord(random))),
        names: many(3, () => (random.chance(0.6) ? random.pick(names) : identifier(random, topic))),
        files: many(2, () => random.pick(files)),
        nouns: many(5, () => (random.chance(0.6) ? random.pick(topic.nouns) : common(random, NOUNS))),
      }
    },
    say({ literals, slots }) {
      let text = literals[0]!
      for (let i = 0; i < slots.length; i++) text += fill(slots[i]!) + literals[i + 1]!
      return text
    },
    file: () =>
      random.chance(0.6) ? random.pick(about.files) : random.pick(random.chance(0.7) ? files : project.files),
  }
  const noun = () => {
    const dice = random.next()
    if (dice < 0.3) return random.pick(about.nouns)
    return dice < 0.45 ? random.pick(topic.nouns) : common(random, NOUNS)
  }
  const verb = () => (random.chance(0.25) ? random.pick(topic.verbs) : common(random, VERBS))
  const name = () => {
    const dice = random.next()
    if (dice < 0.55) return random.pick(about.names)
    if (dice < 0.8) return random.pick(names)
    return dice < 0.94 ? random.pick(project.identifiers) : identifier(random, topic)
  }
  const rare = () => {
    const dice = random.next()
    if (dice < 0.5) return random.pick(about.rare)
    return dice < 0.75 ? random.pick(project.rare) : rareWord(random)
  }
  const fill = (slot: string): string => {
    switch (slot) {
      case "N":
        return noun()
      case "NS":
        return plural(noun())
      case "V":
        return verb()
      case "VG":
        return forms(verb())[0]
      case "VD":
        return forms(verb())[1]
      case "VS":
        return forms(verb())[2]
      case "A":
        return common(random, ADJECTIVES)
      case "R":
        return common(random, ADVERBS)
      case "I":
        return name()
      case "U":
        return name().replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      case "C":
        return capital(name())
      case "F":
        return speaker.file()
      case "T":
        return random.pick(topic.terms)
      case "M":
        return random.pick(project.modules)
      case "X":
        return rare()
      case "W":
        return random.chance(0.6) ? noun() : random.pick(SHORT)
      case "D":
        return String(random.below(random.chance(0.7) ? 100 : 20_000))
      case "K":
        return String(1 + random.below(9))
      case "H":
        return random.hex(8)
      case "P":
        return random.pick(PEOPLE)
      case "E":
        return speaker.say(random.pick(ERROR_TEMPLATES))
      case "L":
        return line()
      default:
        throw new Error(`no slot ${slot}`)
    }
  }
  speaker.refocus()
  return speaker
}

const ERROR_TEMPLATES = ERRORS.map(template)
const SHORT = "i id it res req ctx err out tmp acc next prev item rows data opts args node self".split(" ")
const PEOPLE = "Maren Tobias Ingrid Yusuf Aiko Priya Lars Noor Diego Hana Pavel Chloe Kofi Elif Bram Suki".split(" ")
const PREFIXES = "re un pre sub over inter multi non auto co de out post mis under cross semi anti micro meta".split(
  " ",
)
const SUFFIXES = "er able ment ness less ing ation ive ity wise like ship ward ful ish hood".split(" ")
const SYLLABLES =
  "ba re ti mo ne lo ca si du pa ver con ter al in or en sta pro le ra ni to me com der ge la res tic vin qua zu fo hel kra mar nod oss pli".split(
    " ",
  )

/** Frequent words first, falling off as words of a trade do: more evenly at the head than all words together. */
function common(random: Random, words: readonly string[]): string {
  let table = zipfTables.get(words)
  if (!table) {
    const [size, shift] = [1 << 14, 25]
    const scale = Math.log((words.length + shift) / shift)
    table = Array.from(
      { length: size },
      (_, i) => words[Math.floor(shift * (Math.exp(((i + 0.5) / size) * scale) - 1))]!,
    )
    zipfTables.set(words, table)
  }
  return random.pick(table)
}
const zipfTables = new Map<readonly string[], string[]>()

/** One of some hundred thousand words that are made of others, as most words are: unindexable, precachewise. */
function rareWord(random: Random): string {
  const stem = random.pick(random.chance(0.6) ? NOUNS : VERBS)
  const dice = random.next()
  if (dice < 0.1) return invented(random)
  if (dice < 0.35) return `${random.pick(PREFIXES)}${stem}`
  if (dice < 0.6) return `${stem}${random.pick(SUFFIXES)}`
  return `${random.pick(PREFIXES)}${stem}${random.pick(SUFFIXES)}`
}

function invented(random: Random): string {
  let word = ""
  for (let left = 2 + random.below(3); left > 0; left--) word += random.pick(SYLLABLES)
  return word
}

function identifier(random: Random, topic: Topic): string {
  const noun = () => capital(random.chance(0.5) ? random.pick(topic.nouns) : common(random, NOUNS))
  const verb = (random.chance(0.3) ? random.pick(topic.verbs) : common(random, VERBS)).replaceAll("-", "")
  return `${verb}${noun()}${random.chance(0.6) ? noun() : ""}`
}

function filePath(random: Random, modules: readonly string[], topic: Topic): string {
  const ending = random.pick(["ts", "ts", "tsx", "py", "rs", "go", "md", "json", "test.ts"])
  const noun = () => (random.chance(0.4) ? random.pick(topic.nouns) : common(random, NOUNS))
  return `${random.pick(["src", "packages", "lib", "apps"])}/${random.pick(modules)}/${noun()}-${noun()}.${ending}`
}

function plural(noun: string): string {
  if (/(s|x|ch|sh)$/.test(noun)) return `${noun}es`
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
}

/** -ing, -ed, -s. */
function forms(verb: string): [string, string, string] {
  const known = verbForms.get(verb)
  if (known) return known
  const stem = verb.replace(/e$/, "")
  const doubled = /^[^aeiou]*[aeiou][bdgklmnprt]$/.test(verb) ? `${verb}${verb.at(-1)}` : stem
  const made: [string, string, string] = [
    `${doubled}ing`,
    IRREGULAR[verb] ?? (/[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${doubled}ed`),
    plural(verb),
  ]
  verbForms.set(verb, made)
  return made
}
const verbForms = new Map<string, [string, string, string]>()
const IRREGULAR: Record<string, string> = {
  make: "made",
  build: "built",
  run: "run",
  read: "read",
  write: "written",
  keep: "kept",
  send: "sent",
  show: "shown",
  hide: "hidden",
  throw: "thrown",
  catch: "caught",
  split: "split",
  bind: "bound",
  find: "found",
  rewrite: "rewritten",
  rebuild: "rebuilt",
  reset: "reset",
  freeze: "frozen",
  wake: "woken",
  steal: "stolen",
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function many<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}
