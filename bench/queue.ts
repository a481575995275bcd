// Messages for agents under bad conditions: agents busy, away and back, messages sent again, the daemon killed.
import { tortureQueue } from "../test/fixtures/queue-torture.ts"
import { type Row, report, round } from "./lib.ts"

const [targets, messages, kills] = [10, 1_000, 10].map((usual, at) => Number(process.argv[at + 2] ?? usual)) as [
  number,
  number,
  number,
]
const total = targets * messages

const result = await tortureQueue({
  targets,
  messages,
  kills,
  absences: targets,
  maxMs: 60 * 60_000,
  onProgress: (delivered, seconds) =>
    console.log(`${delivered} of ${total} after ${round(seconds, 0)} s (${round(delivered / seconds, 1)}/s)`),
})

const none = (what: string, value: number): Row => ({ what, value, bar: "0", holds: value === 0 })
const perSecond = round(total / result.seconds, 1)
report(
  "queue",
  [
    { what: "delivered", value: result.delivered, bar: String(total), holds: result.delivered === total },
    none("delivered twice", result.duplicates),
    none("to another target", result.misplaced),
    none("missing", result.missing),
    none("out of order", result.outOfOrder),
    {
      what: "sent again and refused",
      value: `${result.resentRefused} of ${result.resent}`,
      bar: "all",
      holds: result.resentRefused === result.resent,
    },
    { what: "daemon killed", value: result.kills, bar: String(kills), holds: result.kills === kills },
    { what: "messages per second", value: perSecond },
  ],
  { ...result, targets, messages },
)
