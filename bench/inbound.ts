// Texts from afar for single sessions, and a daemon that is killed around every write: each is submitted once, in order.
import { tortureInbound } from "../test/fixtures/inbound-torture.ts"
import { type Row, report, round } from "./lib.ts"

const [texts, kills, sessions] = [300, 30, 6].map((usual, at) => Number(process.argv[at + 2] ?? usual)) as [
  number,
  number,
  number,
]

const result = await tortureInbound({
  sessions,
  texts,
  kills,
  batch: Math.ceil(texts / 3),
  maxMs: 30 * 60_000,
  onProgress: (submitted, seconds) => console.log(`${submitted} of ${texts} after ${round(seconds, 0)} s`),
})

const exactly = (what: string, value: number, bar: number): Row => ({
  what,
  value,
  bar: String(bar),
  holds: value === bar,
})
report(
  "inbound",
  [
    exactly("submitted", result.submitted, texts),
    exactly("distinct", result.distinct, texts),
    exactly("submitted twice", result.duplicates, 0),
    exactly("to another session", result.misplaced, 0),
    exactly("missing", result.missing, 0),
    exactly("out of order", result.outOfOrder, 0),
    exactly("daemon killed", result.kills, kills),
    exactly("done", result.states.done ?? 0, texts),
    { what: "pasted", value: result.pastes },
    { what: "seconds", value: round(result.seconds, 0) },
  ],
  { ...result, sessions, texts },
)
