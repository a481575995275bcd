import type { TurnKind } from "../../src/domain/turn.ts"
import { TOPICS } from "./lexicon.ts"
import { makeRandom, type Random } from "./random.ts"
import { DOCUMENTATION, OUTPUT_LINES, PROMPTS, REASONING, REPLIES, STATEMENTS, TASKS } from "./sentences.ts"
import { capital, makeSpeaker, PROJECTS, projectOf, type Speaker, type Template, template } from "./words.ts"

export const PER_SESSION = 200
const YEARS_MS = 2 * 365 * 86_400_000
/** The newest message lies just before this. */
export const UNTIL_MS = Date.UTC(2026, 7, 1)

export interface Message {
  nativeId: string
  kind: TurnKind
  text: string
  atMs: number
  toolName: string | null
}

export interface SessionPlan {
  index: number
  nativeId: string
  platform: string
  project: number
  root: string
  topic: string
  gitBranch: string
  startMs: number
}

/**
 * The same sessions each time, each known by its number alone, so that any can be made again without the others.
 * `sessions` of them lie evenly in two years; higher numbers come after that.
 */
export interface Messages {
  plan(session: number): SessionPlan
  of(session: number): Message[]
}

export interface MessagesOptions {
  sessions: number
  seed?: number
  /** Prompts and replies only, without what is done in between: many exchanges in few messages. */
  isTerse?: boolean
}

export function makeMessages({ sessions, seed = 1, isTerse = false }: MessagesOptions): Messages {
  const spanMs = YEARS_MS / sessions
  const begin = (index: number) => {
    const random = makeRandom(Math.imul(seed * 1_000_003 + index, 2_654_435_761))
    // A few projects have most of the sessions.
    const project = Math.floor(PROJECTS * random.next() ** 2)
    const topic = random.pick(TOPICS)
    const plan: SessionPlan = {
      index,
      nativeId: `s${seed}-${index}`,
      platform: random.pick(PLATFORMS),
      project,
      root: projectOf(project).root,
      topic: topic.name,
      gitBranch: random.chance(0.5) ? "main" : `feature/${random.pick(topic.nouns)}`,
      startMs: Math.round(UNTIL_MS - YEARS_MS + index * spanMs),
    }
    return { random, topic, plan }
  }
  return {
    plan: (index) => begin(index).plan,
    of(index) {
      const { random, topic, plan } = begin(index)
      const speakerOf = (line: () => string) => makeSpeaker(random, projectOf(plan.project), topic, line)
      const write = makeWriter(random, speakerOf, isTerse)
      const stepMs = Math.min(spanMs, 6 * 3_600_000) / PER_SESSION
      const messages: Message[] = []
      for (const { kind, text, toolName } of write()) {
        const number = messages.length
        messages.push({
          nativeId: `${plan.nativeId}-${number}`,
          kind,
          text,
          toolName,
          atMs: Math.round(plan.startMs + number * stepMs),
        })
        if (messages.length === PER_SESSION) break
      }
      return messages
    },
  }
}

type Said = Pick<Message, "kind" | "text" | "toolName">
const PLATFORMS = ["claude-code", "claude-code", "claude-code", "codex", "codex", "gemini-cli", "opencode", "cursor"]
const SPOKEN = {
  prompt: PROMPTS.map(template),
  reply: REPLIES.map(template),
  reasoning: REASONING.map(template),
  documentation: DOCUMENTATION.map(template),
  task: TASKS.map(template),
  statement: STATEMENTS.map(template),
  output: OUTPUT_LINES.map(template),
  bareStatement: STATEMENTS.filter(isBare).map(template),
  bareOutput: OUTPUT_LINES.filter(isBare).map(template),
}
/** Nothing in it that a person would say. */
function isBare(text: string): boolean {
  return !/\{(L|E)\}/.test(text) && !/ is /.test(text)
}
const LINES = [...SPOKEN.documentation, ...SPOKEN.task, ...SPOKEN.reply]
/** Pieces that turn up in many sessions with small changes: licences, notices, the same page read again. */
const SHARED_PIECES = 400

function makeWriter(
  random: Random,
  speakerOf: (line: () => string) => Speaker,
  isTerse: boolean,
): () => Generator<Said> {
  const speaker: Speaker = speakerOf(() => speaker.say(random.pick(LINES)))
  const earlier: string[] = []

  const sentences = (from: readonly Template[], median: number) => {
    let text = ""
    for (let left = Math.min(60, random.size(median, 0.7)); left > 0; left--) {
      text += capital(speaker.say(random.pick(from)))
      if (left > 1) text += random.chance(0.15) ? "\n\n" : " "
    }
    return text
  }
  const lines = (from: readonly Template[], median: number) => {
    let text = ""
    for (let left = Math.min(200, random.size(median, 0.8)); left > 0; left--)
      text += `${speaker.say(random.pick(from))}\n`
    return text
  }
  const code = (median: number) => lines(random.chance(0.25) ? SPOKEN.statement : SPOKEN.bareStatement, median)
  const output = (median: number) => lines(random.chance(0.4) ? SPOKEN.output : SPOKEN.bareOutput, median)
  const fence = () => `\n\n\`\`\`${random.pick(["ts", "ts", "py", "diff", ""])}\n${code(8)}\`\`\`\n`
  const bullets = () => {
    let text = "\n"
    for (let left = 2 + random.below(4); left > 0; left--) text += `- ${speaker.say(random.pick(SPOKEN.task))}\n`
    return text
  }

  const prompt = () => {
    let text = sentences(SPOKEN.prompt, 3)
    if (random.chance(0.2)) text += `\n\n${output(9)}`
    if (random.chance(0.1)) text += fence()
    return text
  }
  const reply = () => {
    let text = sentences(SPOKEN.reply, 6)
    if (random.chance(0.25)) text += bullets()
    if (random.chance(0.35)) text += fence() + sentences(SPOKEN.reply, 2)
    return text
  }
  const call = (): [string, string] => {
    const path = `/home/dev/${speaker.file()}`
    const dice = random.next()
    if (dice < 0.2) return ["Read", JSON.stringify({ file_path: path, offset: random.below(900) })]
    if (dice < 0.4) {
      const description = random.chance(0.4) ? line() : `${speaker.say(BRIEF)}`
      return ["Bash", JSON.stringify({ command: `rg -n ${speaker.say(GREP)}`, description })]
    }
    if (dice < 0.85) return ["Edit", JSON.stringify({ file_path: path, old_string: code(8), new_string: code(11) })]
    return ["Task", JSON.stringify({ description: line(), prompt: sentences(SPOKEN.prompt, 5) + bullets() })]
  }
  const line = () => speaker.say(random.pick(LINES))
  const result = () => {
    const dice = random.next()
    if (dice < 0.32) return `# ${capital(line())}\n\n${sentences(SPOKEN.documentation, 11)}${fence()}`
    return dice < 0.65 ? code(32) : output(18)
  }
  /** Something of before, with a sentence in it that is new. */
  const again = (text: string) => {
    const at = text.indexOf("\n", random.below(text.length))
    const added = speaker.say(random.pick(random.chance(0.5) ? LINES : SPOKEN.bareStatement))
    return at < 0 ? `${text}\n${added}` : `${text.slice(0, at)}\n${added}\n${text.slice(at + 1)}`
  }
  const said = (kind: TurnKind, text: string, toolName: string | null = null): Said => {
    if (text.length > 400 && text.length < 8_000 && earlier.length < 30) earlier.push(text)
    return { kind, text, toolName }
  }
  const steps = function* (): Generator<Said> {
    if (random.chance(0.5)) yield said("reasoning", sentences(SPOKEN.reasoning, 7))
    if (random.chance(0.25)) yield said("reply", sentences(SPOKEN.reply, 3))
    const [toolName, text] = call()
    yield said("tool_call", text, toolName)
    const dice = random.next()
    const isAgain = dice < 0.15 && earlier.length > 0
    const answer = isAgain ? again(random.pick(earlier)) : dice < 0.18 ? again(shared(random)) : result()
    yield said("tool_result", answer, toolName)
  }
  return function* () {
    for (;;) {
      speaker.refocus()
      yield said("prompt", prompt())
      if (!isTerse) for (let left = random.size(2.2, 0.6); left > 0; left--) yield* steps()
      yield said("reply", reply())
      if (!isTerse && random.chance(0.04)) yield said("summary", sentences(SPOKEN.reply, 24))
    }
  }
}

const BRIEF = template("{V} {A} {N} to {V} {I}")
const GREP = template('"{I}" {F}')

const sharedPieces: string[] = []
function shared(random: Random): string {
  const index = random.below(SHARED_PIECES)
  if (sharedPieces[index] === undefined) {
    const own = makeRandom(0xbeef + index)
    const speaker = makeSpeaker(own, projectOf(index % PROJECTS), own.pick(TOPICS), () => "")
    const text = Array.from({ length: 12 }, () => capital(speaker.say(own.pick(SPOKEN.documentation)))).join("\n")
    sharedPieces[index] = text
  }
  return sharedPieces[index]!
}
