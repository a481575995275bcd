import type { TurnKind } from "../../src/domain/turn.ts"
import { SCENARIOS, type Scenario } from "./changes.ts"
import { makeRandom, type Random } from "./random.ts"
import { capital } from "./words.ts"

export interface MadeTurn {
  kind: TurnKind
  text: string
  toolName: string | null
}

/** A prompt and what came of it. With a subject, it made the change that was then committed under it. */
export interface MadeExchange {
  turns: MadeTurn[]
  subject?: string
}

export interface MadeProject {
  root: string
  sessions: { startMs: number; exchanges: MadeExchange[] }[]
}

const PROJECTS = 12
const TIMES_USED = 3
const START_MS = Date.UTC(2026, 0, 12)
const DAY_MS = 86_400_000
/** Some things are in several projects, as they are. */
const THINGS =
  "order invoice booking device ticket patient recipe shipment contract lesson vehicle sensor article camera member deposit vessel exam parcel tenant playlist meter permit survey auction voucher".split(
    " ",
  )

/** Every scenario in some of the projects, about another thing each time, among talk about the same files and names. */
export function makeProjects(seed = 7): MadeProject[] {
  const random = makeRandom(seed)
  const projects = Array.from({ length: PROJECTS }, (_, i) => ({
    root: `/coding/${THINGS[i * 2]}-${random.pick(["hub", "desk", "core", "cloud"])}`,
    things: [0, 1, 2, 3, 4, 5].map((n) => THINGS[(i * 2 + n) % THINGS.length]!),
    told: [] as MadeExchange[][],
  }))
  for (const [number, scenario] of SCENARIOS.entries()) {
    for (let use = 0; use < TIMES_USED; use++) {
      const project = projects[(number * 5 + use * 4) % PROJECTS]!
      project.told.push(...storiesOf(scenario, random.pick(project.things), random))
    }
  }
  return projects.map(({ root, told, things }) => {
    for (let i = 0; i < 16; i++) told.push([chatter(random, random.pick(things))])
    return { root, sessions: inSessions(shuffled(told, random), random) }
  })
}

/** Each list stays together and in order; the lists come anywhere. */
function storiesOf(template: Scenario, thing: string, random: Random): MadeExchange[][] {
  const scenario = about(template, thing)
  const change = withFix(changeOf(scenario, random), scenario, random)
  const follow: MadeExchange = {
    subject: scenario.follow.subject,
    turns: [
      turn("prompt", scenario.follow.prompt),
      ...work(scenario, random),
      turn("reply", scenario.follow.reply + closing(random)),
    ],
  }
  const ask: MadeExchange = {
    turns: [turn("prompt", scenario.ask), ...reading(scenario, random), turn("reply", scenario.answer)],
  }
  const side = () => aside(scenario, thing, random)
  const followed = random.chance(0.6)
  return [
    followed ? [...change, follow] : change,
    ...(followed ? [] : [[side(), follow]]),
    random.chance(0.5) ? [ask, side()] : [side(), ask],
    [side()],
  ]
}

function changeOf(scenario: Scenario, random: Random): MadeExchange {
  const { prompt, reply, code, files, subject } = scenario
  const shown = random.chance(0.5) ? `\n\n\`\`\`ts\n${code}\n\`\`\`` : ""
  const listed = random.chance(0.5) ? `\n\nChanged: ${files.join(", ")}` : ""
  return {
    subject,
    turns: [turn("prompt", prompt), ...work(scenario, random), turn("reply", reply + shown + listed + closing(random))],
  }
}

/** Sometimes the first attempt breaks something, and the next exchange fixes it. */
function withFix(change: MadeExchange, { symbol, files }: Scenario, random: Random): MadeExchange[] {
  if (!random.chance(0.25)) return [change]
  const error = `TypeError: ${symbol} is not a function\n    at ${files[0]}:${10 + random.below(200)}:7\n    at run (test/runner.ts:88:3)`
  const fix: MadeExchange = {
    turns: [
      turn("prompt", `now the tests fail:\n\n${error}`),
      turn("tool_call", JSON.stringify({ command: `grep -rn ${symbol} src` }), "Bash"),
      turn("tool_result", `${files[0]}:12:import { ${symbol} } from "./old.ts"`, "Bash"),
      turn("reply", `The import of \`${symbol}\` still pointed to the old file. Corrected; all tests pass.`),
    ],
  }
  return [change, fix]
}

function work(scenario: Scenario, random: Random): MadeTurn[] {
  const { files, code, symbol } = scenario
  return [
    ...reading(scenario, random),
    ...(random.chance(0.4) ? [turn("reasoning", `I should look at who calls ${symbol} before I change it.`)] : []),
    turn("tool_call", JSON.stringify({ file_path: files[0], old_string: "return", new_string: code }), "Edit"),
    turn("tool_result", `The file ${files[0]} has been updated.`, "Edit"),
    ...(random.chance(0.6) ? testing(scenario, random) : []),
  ]
}

function reading({ files, symbol }: Scenario, random: Random): MadeTurn[] {
  const file = random.pick(files)
  return [
    turn("tool_call", JSON.stringify({ file_path: file }), "Read"),
    turn("tool_result", listing(file, symbol, random), "Read"),
  ]
}

function testing({ files, symbol }: Scenario, random: Random): MadeTurn[] {
  const lines = Array.from({ length: 3 + random.below(8) }, () => ` ✓ ${random.pick(TEST_NAMES)} ${random.below(90)}ms`)
  return [
    turn("tool_call", JSON.stringify({ command: `npm test -- ${files[0]}`, description: "Run the tests" }), "Bash"),
    turn("tool_result", `> ${symbol}\n${lines.join("\n")}\nTests  ${lines.length} passed`, "Bash"),
  ]
}

function listing(file: string, symbol: string, random: Random): string {
  const lines = [`// ${file}`, `export async function ${symbol}(input, options) {`]
  for (let left = 5 + random.below(25); left > 0; left--) lines.push(random.pick(CODE_LINES))
  return lines.map((line, i) => `${String(i + 1).padStart(5)}→${line}`).join("\n")
}

/** Talk about the same file and name in which nothing is changed that was committed. */
function aside({ files, symbol }: Scenario, thing: string, random: Random): MadeExchange {
  const [prompt, reply] = random.pick(ASIDES)
  const fill = (text: string) =>
    about({ text }, thing).text.replaceAll("{file}", files[0]!).replaceAll("{symbol}", symbol)
  return {
    turns: [
      turn("prompt", fill(prompt)),
      ...(random.chance(0.5) ? reading({ files, symbol } as Scenario, random) : []),
      turn("reply", fill(reply)),
    ],
  }
}

function chatter(random: Random, thing: string): MadeExchange {
  const [prompt, reply] = random.pick(CHATTER)
  return { turns: [turn("prompt", about({ prompt }, thing).prompt), turn("reply", about({ reply }, thing).reply)] }
}

/** The texts of anything, with the thing in its places. */
function about<T extends object>(texts: T, thing: string): T {
  const plural = thing.endsWith("y") ? `${thing.slice(0, -1)}ies` : `${thing}s`
  return JSON.parse(
    JSON.stringify(texts).replaceAll("{ts}", plural).replaceAll("{t}", thing).replaceAll("{T}", capital(thing)),
  ) as T
}

function inSessions(told: MadeExchange[][], random: Random): MadeProject["sessions"] {
  const sessions: MadeProject["sessions"] = []
  let startMs = START_MS + random.below(10) * DAY_MS
  while (told.length > 0) {
    const exchanges = told.splice(0, 2 + random.below(5)).flat()
    sessions.push({ startMs, exchanges })
    startMs += random.size(2 * DAY_MS, 0.8)
  }
  return sessions
}

function turn(kind: TurnKind, text: string, toolName: string | null = null): MadeTurn {
  return { kind, text, toolName }
}

function closing(random: Random): string {
  return random.pick(["", "", "", "\n\nAll tests pass.", "\n\nTell me if you want it split up.", "\n\nNot pushed yet."])
}

function shuffled<T>(list: T[], random: Random): T[] {
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[list[i], list[j]] = [list[j]!, list[i]!]
  }
  return list
}

const ASIDES: [string, string][] = [
  ["What does {symbol} return when there is no {t}?", "`undefined`. Both callers check for it, one of them twice."],
  [
    "Explain {file} to me like I'm new here.",
    "It takes a {t} from the outside, checks it, hands it on, and logs how that went. `{symbol}` is where the work is done; the rest of the file is types.",
  ],
  ["Run the tests for {file}.", "They pass, all of them, in four seconds."],
  [
    "Who wrote {symbol} and when?",
    "It came with the first version and was changed six times since, mostly formatting.",
  ],
  [
    "Undo what you just did in {symbol}, I was on the wrong branch.",
    "{file} is as it was before. Nothing was committed.",
  ],
  [
    "Could {symbol} be slow with many {ts}?",
    "It is linear in their number, and there are never more than some hundred. I would leave it.",
  ],
  [
    "Review my changes in {file}, but don't touch anything.",
    "Two remarks: the name `data` says nothing, and the error in `{symbol}` is swallowed. The rest is fine.",
  ],
  ["Is there a test for {symbol}?", "Two. Neither covers a {t} that is missing or one that comes twice."],
  [
    "Add a comment to {symbol}, I always forget what the second argument is.",
    "Done: it is the limit in milliseconds, and 0 means none.",
  ],
  ["Why is {file} so long?", "Half of it is a table of constants for {ts}. It could move to a file of its own."],
  [
    "What would happen to {ts} if we removed {symbol}?",
    "Three places would not compile, and the nightly job for {ts} would stop silently, because it calls it by name.",
  ],
  ["Which version of node does {file} need?", "22, for the way it iterates over maps."],
]

const CHATTER: [string, string][] = [
  [
    "Good morning. Where were we with the {ts}?",
    "We had finished the list and wanted to look at the import next. Two tests were still red.",
  ],
  [
    "Summarise the {t} module in five bullet points.",
    "- it keeps {ts}\n- it checks them\n- it tells others when one changes\n- it has its own tables\n- it is older than the rest",
  ],
  ["Start the dev server.", "It runs on port 5173."],
  [
    "Think about how we would support several tenants for {ts}. No code yet.",
    "Three ways: a column, a schema or a database for each. With our numbers a column is enough, if every query goes through one place.",
  ],
  ["What's the difference between a {t} and its draft?", "A draft has no number yet and only its author sees it."],
  [
    "Write a message to the team about the {t} outage.",
    "This morning {ts} could not be opened for forty minutes. The cause is known, the remedy is in place, and nothing was lost.",
  ],
  ["Is our naming of {ts} consistent?", "Mostly. In three places they are called items."],
  [
    "Estimate the work for the new {t} screen.",
    "About three days: one for the data, one for the page, one for what we forgot.",
  ],
]

const TEST_NAMES = [
  "accepts what is right",
  "refuses what is empty",
  "does nothing the second time",
  "keeps the order",
  "tells who did it",
  "works without a network",
  "handles many at once",
]

const CODE_LINES = [
  "  const started = clock.nowMs()",
  "  if (input === undefined) return undefined",
  "  for (const item of input.items) {",
  "    result.push(await handle(item, options))",
  "  }",
  "  log.debug({ count: result.length }, 'done')",
  "  // The caller checks the rest.",
  "  const { limit = 100, signal } = options",
  "  signal?.throwIfAborted()",
  "  return result",
  "}",
  "",
  "  try {",
  "  } catch (error) {",
  "    throw new Failure('unexpected', 'could not be read', {}, { cause: error })",
]
