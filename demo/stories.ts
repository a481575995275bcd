import { readdirSync, readFileSync } from "node:fs"
import { readStories, type Story } from "./story.ts"

/** Beside the source, and beside the built program: both are one folder below where `demo` lies. */
const FOLDER = new URL("../demo/stories/", import.meta.url)
const ANSWERS = "answers.txt"

export function allStories(nowMs: number): Story[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".txt") && name !== ANSWERS)
  return names.sort().flatMap((name) => readStories(readFileSync(new URL(name, FOLDER), "utf8"), nowMs))
}

export interface Prepared {
  /** What it wants to run before it answers. */
  command?: string
  text: string
}

const UNPREPARED =
  "I am the demo's mock agent: no model runs here, and I have only a few prepared answers. Ask payments about refunds of gift cards, storefront about the weight of gift wrap, or infra about Redis."

/** The prepared answer that shares most words with the question. */
export function answerOf(team: string, question: string): Prepared {
  const asked = question.toLowerCase()
  const known = readFileSync(new URL(ANSWERS, FOLDER), "utf8").split(/^## /m).slice(1)
  const scored = known.map((part) => {
    const [head = "", ...lines] = part.trim().split("\n")
    const [whose, words = ""] = head.split("|").map((word) => word.trim())
    const score = whose === team ? words.split(" ").filter((word) => asked.includes(word)).length : 0
    return { score, lines }
  })
  const best = scored.toSorted((a, b) => b.score - a.score)[0]
  if (!best || best.score === 0) return { text: UNPREPARED }
  const marked = (mark: string) => best.lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2))
  const command = marked("$ ")[0]?.replace(/^run /, "")
  return { text: marked("< ").join("\n"), ...(command !== undefined && { command }) }
}
