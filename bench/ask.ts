// What the way through Throughline adds to an agent's own time, many pairs at once, and the daemon's memory over many questions.
import { readFileSync } from "node:fs"
import { type AskAnswer, makeAskingHome } from "../test/fixtures/asking.ts"
import { type Row, report, round, summarize, timed } from "./lib.ts"

const WARM = 200
const PAIRS = 10
const EACH = 20
const MANY = Number(process.argv[2] ?? 1_000)
const THREADS = 10
const MAX_ADDED_MS = 50
const MAX_GROWTH_MB = 12

const b = await makeAskingHome({ web: {}, api: {} }, { settings: { maxProcesses: PAIRS + 2 } })
const rows: Row[] = []
const details: Record<string, unknown> = {}
try {
  await warm()
  await manyPairs()
  await memory()
} finally {
  await b.dispose()
}
report("ask", rows, details)

async function warm(): Promise<void> {
  const { messageId } = await asked("api", "first", "main")
  const added: number[] = []
  const looked: number[] = []
  for (let i = 0; i < WARM; i++) {
    let answer: AskAnswer | undefined
    const wholeMs = await timed(async () => {
      answer = await asked("api", `w${i}`, "main")
    })
    added.push(wholeMs - answer!.durationMs)
    // What a call costs here and now that only reads: the rest is what asking adds.
    looked.push(await timed(() => b.message(messageId)))
  }
  const [{ p50, p95, max }, look] = [summarize(added), summarize(looked)]
  const bar = `at most ${MAX_ADDED_MS} ms`
  rows.push({ what: "a warm ask adds, p50", value: `${round(p50, 1)} ms` })
  rows.push({ what: "a warm ask adds, p95", value: `${round(p95, 1)} ms`, bar, holds: p95 <= MAX_ADDED_MS })
  rows.push({ what: "a call that only reads, p50 and p95", value: `${round(look.p50, 1)}, ${round(look.p95, 1)} ms` })
  details.warm = { p50, p95, max, look }
}

async function manyPairs(): Promise<void> {
  const threads = Array.from({ length: PAIRS }, (_, index) => `pair${index}`)
  await Promise.all(threads.map((thread) => asked("api", "begin", thread)))
  const ms = await timed(() =>
    Promise.all(
      threads.flatMap((thread) =>
        Array.from({ length: EACH }, (_, index) => asked("api", `${thread}-${index}`, thread)),
      ),
    ),
  )
  const { processes } = await b.status()
  const running = processes.filter(({ to }) => to === "api").length
  rows.push({ what: `${PAIRS} pairs, ${EACH} questions each`, value: `${round(ms, 0)} ms` })
  rows.push({ what: "their processes", value: running, bar: "one for each", holds: running === PAIRS + 1 })
}

async function memory(): Promise<void> {
  const samples: number[] = []
  for (let i = 0; i < MANY; i++) {
    await asked("web", `m${i}`, `memory${i % THREADS}`)
    if (i % (MANY / 20) === 0) samples.push(rssMb())
  }
  samples.push(rssMb())
  // The first quarter fills caches and lets the compilers settle.
  const settled = samples.slice(samples.length / 4)
  const third = Math.floor(settled.length / 3)
  const growth = median(settled.slice(-third)) - median(settled.slice(0, third))
  const bar = `at most ${MAX_GROWTH_MB} MB`
  rows.push({
    what: `the daemon's memory grows over ${MANY} questions`,
    value: `${round(growth, 1)} MB`,
    bar,
    holds: growth <= MAX_GROWTH_MB,
  })
  details.rssMb = samples
}

async function asked(team: string, word: string, threadId: string): Promise<AskAnswer> {
  const answer = await b.ask(team, `<<SAY ${word}>>`, { threadId, timeout: 60_000 })
  if (answer.answer !== word) throw new Error(`${word} was answered with ${JSON.stringify(answer)}`)
  return answer
}

function rssMb(): number {
  const status = readFileSync(`/proc/${b.home.registration().pid}/status`, "utf8")
  return round(Number(/^VmRSS:\s*(\d+) kB/m.exec(status)![1]) / 1024, 1)
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
