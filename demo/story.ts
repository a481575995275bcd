import { createHash } from "node:crypto"
import { DAY_MS, MINUTE_MS } from "../src/lib/time.ts"

/** One conversation of the sample history, agent aside. */
export interface Story {
  /** What other stories call it. */
  name: string
  agent: string
  project: string
  title: string
  startMs: number
  steps: StoryStep[]
  /** The story it is a copy of, up to so many steps. */
  fork?: { of: string; steps: number }
  /** The story that was cleared away for it. */
  clear?: string
  /** The story that started it as its sub-agent. */
  parent?: string
}

export type StepKind = "prompt" | "thinking" | "reply" | "call" | "result" | "error" | "summary"

export interface StoryStep {
  kind: StepKind
  text: string
  /** Of calls: run, read, edit or task. */
  tool?: string
  atMs: number
}

const MARKS: Record<string, StepKind> = {
  ">": "prompt",
  "~": "thinking",
  "<": "reply",
  $: "call",
  "|": "result",
  "!": "error",
  "^": "summary",
}

/**
 * Reads `## name | agent | project | 13d 09:12 | title | fork=other:4`, then lines that each begin with the mark of what
 * they are; equal marks in a row are one text. Times count back from now, so that the history is always fresh.
 */
export function readStories(text: string, nowMs: number): Story[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => readStory(part, nowMs))
}

function readStory(part: string, nowMs: number): Story {
  const [head = "", ...lines] = part.trimEnd().split("\n")
  const [name = "", agent = "", project = "", when = "", title = "", ...more] = head
    .split("|")
    .map((word) => word.trim())
  const startMs = startOf(when, nowMs)
  const steps = timed(name, blocksOf(lines), startMs)
  const of = Object.fromEntries(more.map((word) => word.split("=", 2))) as Record<string, string>
  const [forked, count] = of.fork?.split(":") ?? []
  return {
    ...{ name, agent, project, title, startMs, steps },
    ...(forked && { fork: { of: forked, steps: Number(count) } }),
    ...(of.clear && { clear: of.clear }),
    ...(of.parent && { parent: of.parent }),
  }
}

/** `13d 09:12` is a time of that day, `90m` and `45s` so long ago. */
function startOf(when: string, nowMs: number): number {
  const [, count, unit] = /^(\d+)([ms])$/.exec(when) ?? []
  if (count !== undefined) return nowMs - Number(count) * (unit === "m" ? MINUTE_MS : 1000)
  const [, days, hour, minute] = /^(\d+)d (\d\d):(\d\d)$/.exec(when) ?? []
  if (days === undefined) throw new TypeError(`not a time: ${JSON.stringify(when)}`)
  const day = new Date(nowMs - Number(days) * DAY_MS)
  return day.setHours(Number(hour), Number(minute), 0, 0)
}

function blocksOf(lines: string[]): Omit<StoryStep, "atMs">[] {
  const blocks: Omit<StoryStep, "atMs">[] = []
  let open = ""
  for (const line of lines) {
    const mark = line[0] ?? ""
    if (line.trim() === "") {
      open = ""
      continue
    }
    const kind = MARKS[mark]
    if (!kind) throw new TypeError(`not a line of a story: ${JSON.stringify(line)}`)
    const text = line.slice(2)
    const last = blocks.at(-1)
    if (mark === open && last) last.text += `\n${text}`
    else if (kind === "call") {
      const [, tool = "run", rest = ""] = /^(\w+) ?([\s\S]*)$/.exec(text) ?? []
      blocks.push({ kind, tool, text: rest })
    } else blocks.push({ kind, text })
    open = mark
  }
  return blocks
}

/** People take minutes, agents seconds; the same each time. */
function timed(name: string, blocks: Omit<StoryStep, "atMs">[], startMs: number): StoryStep[] {
  const dice = createHash("sha256").update(name).digest()
  let atMs = startMs
  return blocks.map((block, index) => {
    const die = dice[index % dice.length]!
    const isFirst = index === 0
    if (!isFirst) atMs += block.kind === "prompt" ? (90 + die * 2) * 1000 : 3_000 + die * 80 + block.text.length * 12
    return { ...block, atMs }
  })
}

/** The same word, the same id. */
export function idOf(...words: (string | number)[]): string {
  const hex = createHash("sha256").update(words.join(" ")).digest("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const hexOf = (length: number, ...words: (string | number)[]) =>
  idOf(...words)
    .replaceAll("-", "")
    .slice(0, length)
