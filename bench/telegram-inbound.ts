// Texts from a phone to several topics while the daemon is killed where it hurts, and update ids that restart lower.
import { torturePhone } from "../test/fixtures/phone-torture.ts"
import { type Row, report, round } from "./lib.ts"

const [texts, kills, topics] = [300, 30, 6].map((usual, at) => Number(process.argv[at + 2] ?? usual)) as [
  number,
  number,
  number,
]
const result = await torturePhone({
  texts,
  topics,
  kills,
  batch: 100,
  maxMs: 20 * 60_000,
  onProgress: (got, killed, seconds) =>
    console.log(`${got} of ${texts}, killed ${killed} times, ${round(seconds, 0)} s`),
})

const none = (what: string, value: number): Row => ({ what, value, bar: "0", holds: value === 0 })
const all = (what: string, value: number, of: number): Row => ({ what, value, bar: String(of), holds: value === of })
const killed = Object.values(result.kills).reduce((sum, count) => sum + count, 0)
const calm = result.calmMs.toSorted((a, b) => a - b)
const p95 = round(calm[Math.ceil(calm.length * 0.95) - 1]!, 0)
report(
  "telegram-inbound",
  [
    all("submitted", result.submitted, texts),
    all("distinct", result.distinct, texts),
    none("missing", result.missing),
    none("submitted twice", result.twice),
    none("topics out of order", result.outOfOrder),
    all("daemon killed", killed, kills),
    { what: "from the phone to the prompt, p95 ms", value: p95, bar: "1500", holds: p95 <= 1_500 },
  ],
  { ...result },
)
