import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { retiredNamesIn } from "./retired-names.ts"

const project = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string) => readFileSync(`${project}/${path}`, "utf8")

/** Retired words and phrases, with what to write instead. None may be in a text that people read. */
const RETIRED: readonly [pattern: RegExp, instead: string][] = [
  [/\b(?:go|goes|going|went|gone) on with\b/i, "continue, resume"],
  [/\b(?:made|making|make|makes|built|begun|began|said|started) anew\b/i, "rebuild, restart"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\bfor good\b/i, "permanently"],
  [/\bat the most\b/i, "at most"],
  [/\b(?:by itself|by themselves)\b/i, "automatically"],
  [/\bhand-?over\b|\b(?:hand|hands|handed|handing) (?:it )?over\b/i, "handoff, pass on, deliver"],
  [/\b(?:lies|lie|stands) in\b/i, "is in"],
  [/\b(?:take|takes|took|taken) back\b/i, "cancel, undo, rewind"],
  [/\b(?:is|are) (?:kept|looked at|looked for)\b|\btold apart\b/i, "stored, watched, distinguished"],
  [/\bwhat (?:waits|is kept|was said|is wrong|it is at|is told|is asked|is looked at)\b/i, "a noun"],
  [/\b(?:waits|wait) for you\b/i, "needs you"],
  [/\bsay it again\b|\bleave it\b/i, "resend, dismiss"],
  [/\bunder way\b/i, "in progress"],
  [/\bas far as is known\b|\bit is not known\b|\bis not known whether\b/i, "unknown, unconfirmed"],
  [/\bkeep(?:s|ing)? (?:it|them) up\b|\bkept up\b/i, "supervise"],
  [/\bmay talk to\b/i, "can message, has access to"],
  [/\bmade-up\b/i, "fictional"],
  [/\bstand-?ins?\b/i, "mock"],
  [/\bcouriers?\b/i, "dispatcher"],
  [/\bfollowers?\b/i, "consumer"],
  [/\bfoundlings?\b/i, "orphaned session"],
  [/\bsuccessors?\b/i, "handoff target"],
  [/\bgreetings?\b/i, "session-start context"],
  [/\bafterwords?\b/i, "turn-end notice"],
  [/\brungs?\b/, "route"],
  [/\bwaiters?\b/i, "long poll, background hook"],
  [/\bhalf of (?:the|them)\b|\bhalf within\b/i, "median"],
  [/\btokens? (?:read|written)\b/i, "input, output tokens"],
  [/\b(?:its|the|each|middle|one) rooms?\b/i, "module"],
]

/** Names and comments are still on their way: how many retired words each module has. Lower these, never raise them. */
const CEILINGS: Record<string, number> = {
  search: 2,
}

/** What a reader of the page sees, without code and link targets. */
function proseOf(markdown: string): string {
  return markdown
    .replaceAll(/^\s*```[\s\S]*?^\s*```/gm, (block) => block.replaceAll(/[^\n]/g, ""))
    .replaceAll(/`[^`\n]*`/g, "")
    .replaceAll(/\]\([^)\n]*\)/g, "]")
    .replaceAll(/<!--[\s\S]*?-->/g, "")
}

/** Literals that could be a sentence, and the text between tags; without comments, and without what is filled in. */
function textsOf(source: string): { line: number; text: string }[] {
  const code = source
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ""))
    .replaceAll(/(^|\s)\/\/.*$/gm, "$1")
    .replaceAll(/^import .*$/gm, "")
  return [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`|>([^<>{}]*[a-z] [^<>{}]*)</g)].flatMap(
    (match) => {
      const text = (match[1] ?? match[2] ?? match[3] ?? "").replaceAll(/\$\{[^}]*\}/g, "…")
      return /[a-z…] \S/i.test(text) ? [{ line: code.slice(0, match.index).split("\n").length, text }] : []
    },
  )
}

function retiredIn(path: string, lines: { line: number; text: string }[]): string[] {
  return lines.flatMap(({ line, text }) =>
    RETIRED.flatMap(([pattern, instead]) => {
      const found = pattern.exec(text)
      return found ? [`${path}:${line}: “${found[0]}”, write: ${instead}`] : []
    }),
  )
}

const inMarkdown = (path: string) =>
  retiredIn(
    path,
    proseOf(read(path))
      .split("\n")
      .map((text, at) => ({ line: at + 1, text })),
  )
const filesOf = async (patterns: string[]) =>
  (await Array.fromAsync(glob(patterns, { cwd: project }))).filter((file) => !/\.test\.tsx?$/.test(file)).sort()

describe("no text that people read has a retired word", () => {
  test("the README and the manual", async () => {
    const pages = await filesOf(["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/reference/*.md"])
    // Their rows quote other programs, and names that files had.
    const quoting = ["docs/compatibility.md", "docs/moved-files.md"]
    expect(pages.filter((page) => !quoting.includes(page)).flatMap(inMarkdown)).toEqual([])
  })

  test("the dashboard", async () => {
    const files = await filesOf(["web/src/**/*.{ts,tsx}"])
    expect(files.flatMap((file) => retiredIn(file, textsOf(read(file))))).toEqual([])
  })

  test("commands, tools, settings and errors", async () => {
    const files = await filesOf(["src/operations/*.ts", "src/surfaces/**/*.ts", "src/daemon/**/*.ts", "src/lib/*.ts"])
    expect(files.flatMap((file) => retiredIn(file, textsOf(read(file))))).toEqual([])
  })

  test("what finds them finds them", () => {
    const page = proseOf("Made anew `anew`\n```\nfor good\n```\n[by itself](for-good.md)")
    expect(retiredIn("page", [{ line: 1, text: page }])).toHaveLength(2)
    const code = '// for good\nconst a = "kept for good"\nconst b = `at the most`\n<p>It goes on with it</p>'
    expect(retiredIn("code", textsOf(code)).map((found) => found.split(":")[1])).toEqual(["2", "3", "4"])
  })
})

describe("names and comments", () => {
  test("have no more retired words than they had, module by module", async () => {
    const counts: Record<string, number> = {}
    // Their words are data: a list of seed words, and irregular forms.
    const data = ["src/capture/redact/seed-words.ts", "src/search/words/irregular.ts"]
    for (const file of await filesOf(["src/**/*.ts"])) {
      // A migration is never edited.
      if (data.includes(file) || file.startsWith("src/store/migrations/")) continue
      const module = file.split("/")[1]!
      counts[module] = (counts[module] ?? 0) + retiredNamesIn(read(file)).length
    }
    const over = Object.entries(counts).filter(([module, count]) => count > (CEILINGS[module] ?? 0))
    expect(Object.fromEntries(over), "more than the ceiling").toEqual({})
  })
})

describe("the glossary", () => {
  /** Concepts that the field has no better word for. */
  const OWN =
    "project session turn exchange thought brief capture source spool journal lane delivery evidence pane console driver pair roster operation surface failure promise"
  const rows = [...read("docs/glossary.md").matchAll(/^\| ([A-Z][\w -]*) \| (.+) \|$/gm)].slice(1)

  test("has our own concepts, each once, and nothing else", () => {
    expect(rows.map(([, word]) => word!.toLowerCase()).sort()).toEqual(OWN.split(" ").sort())
  })

  test("gives each one meaning, in sentences", () => {
    for (const [, word, meaning] of rows) expect(meaning, word).toMatch(/^[A-Z].+\.$/)
  })
})
