import type { Random } from "./random.ts"

/** What people, models and tools write, cut from pools that are made once: text must come faster than it is read. */
export interface Texts {
  prose(length: number): string
  code(length: number): string
  output(length: number): string
  path(): string
  title(): string
}

const POOL_CHARS = 2_000_000
const WORDS = 20_000

export function makeTexts(random: Random): Texts {
  const word = zipf(random, vocabulary(random))
  const name = () => `${word()}${capital(word())}`
  const path = () => `src/${word()}/${word()}-${word()}.${random.pick(["ts", "tsx", "rs", "py", "go", "md", "json"])}`
  const sentence = () => {
    const words = Array.from({ length: 4 + random.below(14) }, () => (random.chance(0.03) ? `\`${name()}\`` : word()))
    return `${capital(words.join(" "))}${random.pick([".", ".", ".", ":", "?"])}${random.chance(0.2) ? "\n" : " "}`
  }
  const foreign = () => `${random.pick(FOREIGN)} ${sentence()}`
  const statement = () => {
    const indent = "  ".repeat(random.below(4))
    return `${indent}${random.pick([
      `const ${name()} = await ${name()}(${word()}, { ${word()}: ${random.below(1000)} })`,
      `if (${name()}.${word()} !== undefined) return ${name()}`,
      `export function ${name()}(${word()}: string): ${capital(word())}[] {`,
      `// ${sentence().trim()}`,
      `import { ${name()} } from "./${word()}.ts"`,
      `this.#${word()}.set("${word()}", token.${word()})`,
      "}",
    ])}\n`
  }
  const line = () =>
    random.pick([
      () => `${path()}:${1 + random.below(900)}:${1 + random.below(80)}: ${sentence().trim()}\n`,
      () =>
        `-rw-r--r-- 1 user user ${random.below(1e6)} Aug ${1 + random.below(28)} 10:${10 + random.below(49)} ${path()}\n`,
      () => `${String(random.below(2000)).padStart(6)}→${statement()}`,
      () => `\u001b[32m✓\u001b[39m ${sentence().trim()} ${random.below(900)}ms\n`,
      () => `[${random.hex(8)}] INFO ${name()}: ${sentence().trim()}\n`,
      () => `    at ${name()} (${path()}:${random.below(400)}:${random.below(60)})\n`,
    ])()
  const pools = {
    prose: pool(sentence),
    // In a pool of its own: one character beyond Latin doubles the memory of the string around it.
    foreign: pool(foreign),
    code: pool(statement),
    output: pool(line),
  }
  const cut = (from: string, length: number) => {
    let text = ""
    while (text.length < length) {
      const at = random.below(Math.max(1, from.length - length))
      text += from.slice(at, at + length - text.length)
    }
    return text
  }
  return {
    prose: (length) => cut(random.chance(0.1) ? pools.foreign : pools.prose, length),
    code: (length) => cut(pools.code, length),
    output: (length) => cut(pools.output, length),
    path,
    title: () => sentence().trim(),
  }
}

const FOREIGN = ["Schöne Grüße,", "ça marche à côté;", "設定を読み込む", "не найден файл", "naïve façade –", "🚀 done"]
const COMMON =
  "the to of a and in is it that for file on this with test not be as function from error at token you return we value line call type key new password user name string secret session read write".split(
    " ",
  )
const SYLLABLES =
  "ba re ti mo ne lo ca si du pa ver con ter al in or en is sta pro le ra ni to me com der ge la res tic ful ment er sol vin qua".split(
    " ",
  )

function vocabulary(random: Random): string[] {
  const words = new Set(COMMON)
  while (words.size < WORDS) {
    words.add(Array.from({ length: 2 + random.below(3) }, () => random.pick(SYLLABLES)).join(""))
  }
  return [...words]
}

/** The nth word comes about 1/n as often as the first. */
function zipf(random: Random, words: string[]): () => string {
  const scale = Math.log(words.length + 1)
  return () => words[Math.floor(Math.exp(random.next() * scale)) - 1]!
}

function pool(piece: () => string): string {
  const pieces: string[] = []
  for (let length = 0; length < POOL_CHARS; length += pieces.at(-1)!.length) pieces.push(piece())
  return pieces.join("")
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
